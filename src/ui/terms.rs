//! Words of which some are terms: pressing one opens its definition below the words, pressing it again closes it.

use yew::prelude::*;

use crate::lesson::glossary::{self, Part, Term};

/// Properties of words.
#[derive(Properties, PartialEq)]
pub struct WordsProps {
    /// The words.
    pub text: AttrValue,
    /// Terms that are left alone, since the same place has them already.
    #[prop_or_default]
    pub known: Vec<&'static str>,
}

/// A text with the terms in it.
#[component]
pub fn Words(props: &WordsProps) -> Html {
    let open = use_state(|| None::<&'static Term>);
    let parts = glossary::parts(&props.text, &mut props.known.clone());
    let shown = open.filter(|term| {
        parts
            .iter()
            .any(|part| matches!(part, Part::Term(_, other) if other == term))
    });
    let toggle = |term: &'static Term| {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set((shown != Some(term)).then_some(term)))
    };
    html! {
        <>
            { for parts.iter().map(|part| match part {
                Part::Plain(words) => html! { (*words).to_string() },
                Part::Term(words, term) => html! {
                    <button class="term" aria-expanded={(shown == Some(*term)).to_string()} title={term.sentence} onclick={toggle(term)}>{ (*words).to_string() }</button>
                },
            }) }
            if let Some(term) = shown { <span class="rule"><span><b>{ term.name }</b>{ ": " }{ term.sentence }</span></span> }
        </>
    }
}
