//! The records of a real segment beside a simulated replica's, in two columns aligned by offset.

use std::ops::Range;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::real::slice;
use crate::ui::view::files::{self as data, Compared, Folder, Line, MOST_IN_MEMORY, Opened, Wanted};

/// Lines that are shown at once.
const SHOWN: usize = 20;

#[derive(Properties, PartialEq)]
pub struct BesideProps {
    /// The file.
    pub file: File,
    /// What is in it.
    pub opened: Rc<Opened>,
    /// The simulated replicas' folders.
    pub folder: Rc<Folder>,
    /// The offsets that the segment may hold.
    pub span: Range<i64>,
}

/// The comparison, on demand.
#[component]
pub fn Beside(props: &BesideProps) -> Html {
    let broker = use_state(|| None::<u16>);
    let made = use_state(|| None::<Rc<data::Beside>>);
    let first = use_state(|| 0);
    let turn = use_mut_ref(|| 0_u32);
    {
        let (made, turn) = (made.clone(), turn.clone());
        let (file, opened, folder, span) = (
            props.file.clone(),
            props.opened.clone(),
            props.folder.clone(),
            props.span.clone(),
        );
        use_effect_with(
            (*broker, props.folder.clone(), props.opened.clone()),
            move |(broker, ..)| {
                *turn.borrow_mut() += 1;
                let mine = *turn.borrow();
                let replica = broker.and_then(|broker| folder.replica(Some(broker)));
                let Some(mut beside) = replica.map(|replica| data::Beside::new(&replica.files, span)) else {
                    return;
                };
                spawn_local(async move {
                    for part in beside.wanted(&opened.own) {
                        let wanted = Wanted {
                            position: part.position,
                            length: part.length.min(MOST_IN_MEMORY),
                        };
                        let bytes = slice(&file, wanted).await.unwrap_or_default();
                        if *turn.borrow() != mine {
                            return;
                        }
                        beside.take(&part, &bytes);
                    }
                    beside.end();
                    made.set(Some(Rc::new(beside)));
                });
            },
        );
    }
    let brokers = props.folder.replicas.iter().map(|replica| {
        let (broker, made, first) = (broker.clone(), made.clone(), first.clone());
        let (id, on) = (replica.broker, *broker == Some(replica.broker));
        let onclick = Callback::from(move |_: MouseEvent| {
            broker.set((!on).then_some(id));
            made.set(None);
            first.set(0);
        });
        html! { <button class="btn small" aria-pressed={on.to_string()} {onclick}>{ format!("broker {id}") }</button> }
    });
    html! {
        <section aria-label="Beside a simulated replica" data-testid="beside">
            <div class="row"><span>{ "Lay its records beside those of" }</span>{ for brokers }</div>
            if let (Some(broker), Some(made)) = (*broker, &*made) { { table(broker, made, props, &first) } }
        </section>
    }
}

fn table(broker: u16, made: &data::Beside, props: &BesideProps, first: &UseStateHandle<usize>) -> Html {
    let all = made.lines.len();
    let from = (**first).min(all.saturating_sub(1));
    let until = (from + SHOWN).min(all);
    let page = |to: Option<usize>, words: &'static str| {
        let first = first.clone();
        html! { <button class="btn small" disabled={to.is_none()} onclick={Callback::from(move |_: MouseEvent| if let Some(to) = to { first.set(to) })}>{ words }</button> }
    };
    let line = |line: &Line| {
        let (class, words) = match &line.is {
            Compared::Equal => ("", "equal".to_owned()),
            Compared::Differ(fields) => ("bad", format!("differ: {fields}")),
            Compared::File => ("one", "only in the file".to_owned()),
            Compared::Replica => ("one", format!("only on broker {broker}")),
            Compared::Closed(why) => ("one", format!("the batch {why}")),
        };
        html! { <tr {class}><th scope="row">{ line.offset }</th><td>{ line.file.clone() }</td><td>{ words }</td><td>{ line.replica.clone() }</td></tr> }
    };
    html! {
        <>
            <p role="status">{ made.summary(broker, &props.opened.own) }</p>
            if all > 0 {
                <table class="plain beside">
                    <thead><tr><th scope="col">{ "Offset" }</th><th scope="col">{ "In the file" }</th><th scope="col">{ "Compared" }</th><th scope="col">{ format!("Broker {broker}") }</th></tr></thead>
                    <tbody>{ for made.lines[from..until].iter().map(line) }</tbody>
                </table>
                <div class="row">
                    { page((from > 0).then(|| from.saturating_sub(SHOWN)), "Earlier") }
                    { page((until < all).then_some(until), "Later") }
                    { page(made.difference(from + 1), "Next difference") }
                    <span class="faint">{ format!("{} to {until} of {all}", from + 1) }</span>
                </div>
            }
        </>
    }
}
