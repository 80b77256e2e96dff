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
            { for parts.iter().enumerate().map(|(at, part)| match part {
                Part::Plain(words) if at == 0 => html! { (*words).to_string() },
                Part::Plain(words) => html! { word_end(words).1.to_string() },
                Part::Term(words, term) => html! {
                    <span class="kept">
                        <button class="term" aria-expanded={(shown == Some(*term)).to_string()} title={term.sentence} onclick={toggle(term)}>{ (*words).to_string() }</button>
                        if let Some(Part::Plain(behind)) = parts.get(at + 1) { { word_end(behind).0.to_string() } }
                    </span>
                },
            }) }
            if let Some(term) = shown { <span class="rule"><span><b>{ term.name }</b>{ ": " }{ term.sentence }</span></span> }
        </>
    }
}

/// What goes on with the word before, such as a comma, and what comes behind it: a line may end between them only.
fn word_end(words: &str) -> (&str, &str) {
    words.split_at(words.find(' ').unwrap_or(words.len()))
}
