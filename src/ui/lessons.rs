//! The list of lessons, and the place where a teacher's own file is opened.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::lesson::Block;
use crate::lesson::library::LIBRARY;
use crate::lesson::markdown::plain;
use crate::lesson::{Fault, Progress, Source};
use crate::ui::act::Act;
use crate::ui::browser;
use crate::ui::page::lesson_address;
use crate::ui::panel::block;
use crate::ui::view::names;

#[derive(Properties, PartialEq)]
pub struct LessonsProps {
    pub progress: Progress,
    pub act: Callback<Act>,
}

/// All lessons with how far one has come in each.
#[component]
pub fn Lessons(props: &LessonsProps) -> Html {
    html! {
        <main class="wide" id="main" tabindex="-1">
            <div class="lessons">
                <div class="intro"><p class="eyebrow">{ "Course" }</p><h1>{ "Lessons" }</h1></div>
                <p class="soft">{ "Each is one idea, shown by one run of the engine and asked before it is told. The first five are the core, in half an hour." }</p>
                <ol>{ for LIBRARY.iter().map(|source| html! { <li key={source.slug}>{ entry(source, &props.progress) }</li> }) }</ol>
                <p class="soft"><a href="#/fidelity">{ "What is modelled, simplified, and left out" }</a></p>
                <OpenFile act={props.act.clone()}/>
            </div>
        </main>
    }
}

/// What is modelled, simplified and left out, as its file says.
pub fn fidelity(blocks: &[Block]) -> Html {
    let (title, rest) = match blocks.split_first() {
        Some((Block::Heading(_, spans), rest)) => (plain(spans), rest),
        _ => ("Fidelity".to_string(), blocks),
    };
    let mut known = Vec::new();
    html! {
        <main class="wide" id="main" tabindex="-1">
            <div class="lessons document prose"><h1>{ title }</h1>{ for rest.iter().map(|one| block(one, &mut known)) }</div>
        </main>
    }
}

fn entry(source: &Source, progress: &Progress) -> Html {
    let kept = progress.lesson(source.slug);
    let href = lesson_address(source.slug);
    let chip = match (kept.finished, kept.stop, kept.puzzle) {
        (true, _, Some(acts)) => Some(("chip ok", format!("✓ done, puzzle in {acts}"))),
        (true, _, None) => Some(("chip ok", "✓ done".to_string())),
        (false, 1.., _) => Some(("chip no", format!("at stop {} of {}", kept.stop + 1, source.stops))),
        _ => None,
    };
    html! {
        <a {href}>
            <span class="num">{ source.number }</span><b>{ source.title }</b>
            <small>{ format!("{} minutes", source.minutes) }</small>
            if let Some((class, words)) = chip { <span {class}>{ words }</span> }
        </a>
    }
}

#[derive(Properties, PartialEq)]
struct OpenFileProps {
    act: Callback<Act>,
}

/// Opens a lesson file from this machine; nothing of it leaves the page.
#[component]
fn OpenFile(props: &OpenFileProps) -> Html {
    let act = props.act.clone();
    let onchange = Callback::from(move |event: Event| {
        let Some(input) = event.target_dyn_into::<HtmlInputElement>() else {
            return;
        };
        let Some(file) = input.files().and_then(|files| files.get(0)) else {
            return;
        };
        let (act, name) = (act.clone(), file.name());
        browser::read_text(&file, "a lesson in Markdown", move |text| {
            act.emit(text.map_or_else(Act::Unread, |text| Act::OpenLesson(name, text)));
        });
    });
    html! {
        <div class="panel">
            <label class="q" for="lesson-file">{ "A lesson of your own" }</label>
            <p class="under">{ "A Markdown file with scenes in the scenario language. It is read here and sent nowhere; what is wrong with it is named, line by line." }</p>
            <input id="lesson-file" type="file" accept=".md,.markdown,text/markdown,text/plain" {onchange}/>
        </div>
    }
}

/// A lesson that cannot be read: every mistake with its line and its remedy.
pub fn broken(slug: &str, faults: &[Fault]) -> Html {
    html! {
        <main class="wide" id="main" tabindex="-1">
            <div class="lessons">
                <div class="intro"><p class="eyebrow">{ "Lesson" }</p><h1>{ slug.to_string() }</h1></div>
                <div class="notice error" role="alert"><p>{ "This lesson's file has mistakes, so it cannot be played. The other lessons are not concerned." }</p></div>
                <ul class="truths" data-testid="lesson-faults">
                    { for faults.iter().map(|fault| html! { <li><p>
                        if fault.line > 0 { <b>{ format!("Line {}: ", fault.line) }</b> }
                        { names::sentence(&fault.wrong, |_| false) }{ ". " }<span class="soft">{ names::sentence(&fault.remedy, |_| false) }{ "." }</span>
                    </p></li> }) }
                </ul>
                <p><a href="#/lessons">{ "To the list of lessons" }</a></p>
            </div>
        </main>
    }
}
