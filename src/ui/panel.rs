//! The left pane of a lesson: its present part.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::lesson::glossary;
use crate::lesson::ladder::{self, Column, Ladder, Rung};
use crate::lesson::markdown;
use crate::lesson::model::About;
use crate::lesson::{Answered, Block, Kind, Prediction, Puzzle, Span};
use crate::scenario::ast::ReplicationRules;
use crate::ui::act::Act;
use crate::ui::design::view::DesignPanel;
use crate::ui::icons::icon;
use crate::ui::line::{begin_line, use_line};
use crate::ui::page::{Page, lesson_address};
use crate::ui::reading::{Given, Outcome, Reading, Run, said};
use crate::ui::terms::Words;

/// A pane's heading.
pub(in crate::ui) fn heading(eyebrow: &str, title: &str) -> Html {
    html! { <div class="intro"><p class="eyebrow">{ eyebrow.to_string() }</p><h1>{ title.to_string() }</h1></div> }
}

/// The lesson's pane.
pub fn lesson(page: &Page, reading: &Reading, session: &dyn Run, act: &Callback<Act>) -> Html {
    let front = &reading.lesson.front;
    let open = reading.open_prediction(session);
    let next = reading.next(session);
    let on = onwards(&reading.slug);
    let prose = reading.prose(session);
    let ladder = reading.ladder(session);
    let (before, behind) = prose.split_at(
        ladder
            .as_ref()
            .map_or(prose.len(), |(before, ..)| *before)
            .min(prose.len()),
    );
    // Where nothing was done since the stop, there is nothing to do again.
    let untouched = reading.stands_at_stop(session) && session.acts() == 0 && reading.given_here(session).is_none();
    html! {
        <>
            { heading(&format!("Lesson {} · {} min", front.number, front.minutes), &front.title) }
            <>{ for reading.outcomes_here(session).into_iter().map(|(name, outcome)| html! { <OutcomePanel key={name.to_string()} outcome={outcome.clone()}/> }) }</>
            { paragraphs(before) }
            if let Some((_, ladder, rungs)) = ladder { { self::ladder(ladder, &rungs) } }
            { paragraphs(behind) }
            if let Some(prediction) = open {
                <Ask key={prediction.name.clone()} prediction={Rc::new(prediction.clone())} picked={Rc::new(page.picked.clone())} act={act.clone()}/>
            } else if let Some((prediction, given)) = reading.given_here(session) {
                <div class="panel"><p class="q">{ prediction.ask.clone() }</p><p class="under">{ waiting(prediction, given) }</p></div>
            }
            if let Some(puzzle) = reading.puzzle(session) {
                <PuzzlePanel puzzle={Rc::new(puzzle.clone())} open={puzzle.open_goals(session.moment()).into_iter().map(str::to_string).collect::<Vec<_>>()}
                    acts={reading.puzzle_acts(session)} solved={reading.is_solved(session)} lines_done={page.lines_done} act={act.clone()}/>
            }
            if let Some(task) = reading.design(session) { <DesignPanel task={task.clone()} act={act.clone()}/> }
            if let Some(real) = reading.real(session) {
                <section class="panel keep prose" aria-label="In a real cluster"><p class="q">{ "In a real cluster also…" }</p>{ self::prose(real) }</section>
            }
            <div class="actions">
                if let Some(next) = next {
                    <button class="btn primary full" disabled={open.is_some()} onclick={act.reform(|_| Act::Next)} data-testid="next">
                        { match (open.is_some(), reading.changes_world(next)) {
                            (false, _) if page.playing => "Go there at once",
                            (true, _) => "Answer first, or skip",
                            (false, true) if reading.lesson.stores(reading.world()).is_some() => "Next: begin anew",
                            (false, true) => "Next: a new cluster",
                            (false, false) => "Next",
                        } }
                    </button>
                    <p class="under">{ place_in(reading, session) }</p>
                } else {
                    <a class="btn primary full" href={on.0}>{ on.1 }</a>
                }
                <button class="btn" disabled={untouched} onclick={act.reform(|_| Act::Restart)}>{ icon("undo") }{ "This part again" }</button>
            </div>
        </>
    }
}

fn paragraphs(parts: &[&[Block]]) -> Html {
    match parts.is_empty() {
        true => html! {},
        false => html! { <div class="prose">{ prose(parts.iter().copied().flatten()) }</div> },
    }
}

/// The rules side by side: a row for each, from the oldest to today's, and a numbered column for each accident.
fn ladder(ladder: &Ladder, rungs: &[Vec<Rung>]) -> Html {
    let cell = |rung: &Rung| {
        let (tone, glyph) = if rung.holds { ("ok", "✓") } else { ("bad", "✕") };
        html! { <td><span class={classes!("chip", tone)} role="img" aria-label={rung.found.clone()} title={rung.found.clone()}>{ glyph }</span></td> }
    };
    let row = |(rules, rungs): (&ReplicationRules, &Vec<Rung>)| html! { <tr><th scope="row">{ rules.word() }</th>{ for rungs.iter().map(cell) }</tr> };
    let number =
        |(number, column): (usize, &Column)| html! { <th scope="col" title={column.heading.clone()}>{ number }</th> };
    html! {
        <section class="panel" aria-label="The rules side by side" data-testid="ladder">
            <table class="custody ladder">
                <thead><tr><th scope="col">{ "Rule" }</th>{ for (1..).zip(&ladder.columns).map(number) }</tr></thead>
                <tbody>{ for ladder::RULES.iter().zip(rungs).map(row) }</tbody>
            </table>
            <ol class="under">{ for ladder.columns.iter().map(|column| html! { <li>{ column.heading.clone() }</li> }) }</ol>
        </section>
    }
}

/// How far a lesson has come.
fn place_in(reading: &Reading, session: &dyn Run) -> String {
    let stops = reading.lesson.stops.len();
    match reading.stop(session) {
        Some(stop) => format!("Stop {} of {stops}", stop + 1),
        None => format!("{stops} stops"),
    }
}

/// Where one goes from a lesson's end, and what that is called.
fn onwards(slug: &str) -> (String, String) {
    let library = crate::lesson::library::LIBRARY;
    let at = library.iter().position(|source| source.slug == slug);
    match at.and_then(|at| library.get(at + 1)) {
        Some(next) => (lesson_address(next.slug), format!("Next lesson: {}", next.title)),
        None => ("#/lessons".to_string(), "To the list of lessons".to_string()),
    }
}

/// What was answered, as long as it is not settled.
fn waiting(prediction: &Prediction, given: &Given) -> String {
    match said(prediction, given) {
        Some(said) => format!("You say: {}. The run will tell.", said.trim_end_matches('.')),
        None => "Skipped. The run will tell.".to_string(),
    }
}

#[derive(Properties, PartialEq)]
struct OutcomeProps {
    outcome: Outcome,
}

/// How a prediction came out: never 'wrong', but the run and the name of the belief.
#[component]
fn OutcomePanel(props: &OutcomeProps) -> Html {
    let Outcome {
        answered,
        said,
        right,
        belief,
        ask,
    } = &props.outcome;
    let said = said.as_ref().filter(|_| *answered == Answered::Otherwise);
    let (class, headline) = match answered {
        Answered::Right => ("panel good", "As you said."),
        Answered::Otherwise => ("panel warn", "It came out otherwise."),
        Answered::Skipped => ("panel", "So it came out."),
    };
    html! {
        <div {class} role="status" data-testid="outcome">
            <p class="q">{ headline }</p>
            <p class="under">{ ask.clone() }{ " " }<strong>{ right.clone() }</strong></p>
            if let Some(said) = said { <p class="under" data-testid="said">{ "You said: " }{ said.clone() }</p> }
            if let Some(belief) = belief {
                <p class="under">{ format!("Often believed ({}): “{}” ", belief.id(), belief.belief()) }{ belief.truth() }</p>
            }
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct AskProps {
    prediction: Rc<Prediction>,
    picked: Rc<crate::sorted::SortedSet<i64>>,
    act: Callback<Act>,
}

/// A question, answered by choice, on the picture, or with a slider; always skippable.
#[component]
fn Ask(props: &AskProps) -> Html {
    let AskProps {
        prediction,
        picked,
        act,
    } = props;
    let chosen = use_state(|| None::<usize>);
    let start = match &prediction.kind {
        Kind::Slider { from, to, .. } => i64::midpoint(*from, *to),
        _ => 0,
    };
    let amount = use_state(|| start);
    let (body, given) = match &prediction.kind {
        Kind::Options(choices) => (
            html! {
                <div class="options">
                    { for choices.iter().enumerate().map(|(at, choice)| {
                        let choose = { let chosen = chosen.clone(); Callback::from(move |_: Event| chosen.set(Some(at))) };
                        html! { <label key={at}><input type="radio" name={prediction.name.clone()} checked={*chosen == Some(at)} onchange={choose}/><span>{ choice.text.clone() }</span></label> }
                    }) }
                </div>
            },
            chosen.map(Given::Choice),
        ),
        Kind::Click(about) => {
            let what = match about {
                About::Cluster(_) => "Click the records in the picture. Picked: offset ",
                About::Stores(_) => "Click the moments beside the writes. Picked: ",
            };
            let words: Vec<String> = picked.iter().map(i64::to_string).collect();
            let words = if words.is_empty() {
                "none yet".to_string()
            } else {
                words.join(", ")
            };
            (
                html! { <p class="under" role="status">{ what }<strong>{ words }</strong></p> },
                Some(Given::Records((**picked).clone())),
            )
        }
        Kind::Slider { unit, from, to, .. } => {
            let slide = {
                let amount = amount.clone();
                Callback::from(move |event: InputEvent| {
                    if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                        amount.set(input.value_as_number() as i64);
                    }
                })
            };
            (
                html! { <label class="slide"><input type="range" min={from.to_string()} max={to.to_string()} value={amount.to_string()} oninput={slide}/><span>{ format!("{} {unit}", *amount) }</span></label> },
                Some(Given::Amount(*amount)),
            )
        }
    };
    let ready = given.is_some();
    let answer = act.reform(move |_: MouseEvent| Act::Answer(given.clone().unwrap_or(Given::Skipped)));
    html! {
        <fieldset class="panel" data-testid="prediction">
            <legend class="sr">{ "Prediction" }</legend>
            <p class="q">{ prediction.ask.clone() }</p>
            { body }
            <div class="row">
                <button class="btn" disabled={!ready} onclick={answer}>{ "That is my answer" }</button>
                <button class="btn quiet" onclick={act.reform(|_| Act::Answer(Given::Skipped))}>{ "Skip" }</button>
            </div>
        </fieldset>
    }
}

#[derive(Properties, PartialEq)]
struct PuzzleProps {
    puzzle: Rc<Puzzle>,
    open: Vec<String>,
    acts: usize,
    solved: bool,
    lines_done: u32,
    act: Callback<Act>,
}

/// The closing puzzle: its goals, the acts that are allowed, and a line to do any of them.
#[component]
fn PuzzlePanel(props: &PuzzleProps) -> Html {
    let PuzzleProps {
        puzzle,
        open,
        acts,
        solved,
        lines_done,
        act,
    } = props;
    let (line, submit) = use_line(*lines_done, act);
    let fill = |text: &str| {
        let (line, text) = (line.clone(), format!("{text} "));
        Callback::from(move |_: MouseEvent| begin_line(&line, &text))
    };
    html! {
        <section class={if *solved { "panel good" } else { "panel" }} aria-label="Puzzle" data-testid="puzzle">
            <p class="q">{ if *solved { "Solved." } else { "Puzzle" } }</p>
            if let Some(ask) = &puzzle.ask { <p><Words text={ask.clone()}/></p> }
            <ul class="goals">
                { for puzzle.goals.iter().map(|(text, _)| {
                    let done = !open.contains(text);
                    html! { <li key={text.clone()} class={done.then_some("done")}><span aria-hidden="true">{ if done { "✓" } else { "○" } }</span><code>{ text.clone() }</code><span class="sr">{ if done { "holds" } else { "does not hold yet" } }</span></li> }
                }) }
            </ul>
            <p class="under" role="status">{ format!("{acts} act{} so far; par is {}.", if *acts == 1 { "" } else { "s" }, puzzle.par) }</p>
            if !*solved {
                <form class="doing" onsubmit={submit}>
                    <label class="sr" for="do">{ "An act, as in a scenario" }</label>
                    <input class="field wide" id="do" ref={line.clone()} type="text" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder={puzzle.allow.first().cloned().unwrap_or_default()}/>
                    <button class="btn" type="submit">{ "Do it" }</button>
                </form>
                <p class="allowed under">{ "Allowed: " }{ for puzzle.allow.iter().map(|allowed| html! { <button key={allowed.clone()} class="btn small" onclick={fill(allowed)}><code>{ allowed.clone() }</code></button> }) }</p>
            }
        </section>
    }
}

/// Prose, in which terms that were defined before can be pressed: each once, and none that is defined right here.
pub fn prose<'a>(blocks: impl IntoIterator<Item = &'a Block> + Clone) -> Html {
    let mut known = Vec::new();
    for words in blocks.clone().into_iter().flat_map(strong_words) {
        glossary::parts(&words, &mut known);
    }
    html! { <>{ for blocks.into_iter().map(|block| self::block(block, &mut known)) }</> }
}

/// The words that stand in bold, which is where terms are defined.
fn strong_words(block: &Block) -> Vec<String> {
    fn of(spans: &[Span]) -> Vec<String> {
        let words = spans.iter().flat_map(|span| match span {
            Span::Strong(inner) => vec![markdown::plain(inner)],
            Span::Emphasis(inner) | Span::Link(_, inner) => of(inner),
            _ => Vec::new(),
        });
        words.collect()
    }
    match block {
        Block::Paragraph(spans) => of(spans),
        Block::Bullets(items) | Block::Numbered(_, items) => items.iter().flatten().flat_map(strong_words).collect(),
        Block::Quote(blocks) => blocks.iter().flat_map(strong_words).collect(),
        _ => Vec::new(),
    }
}

/// A lesson's caption, as it is said and as it is drawn.
pub fn caption(text: &str) -> (String, Html) {
    let spans = markdown::inline(text, 0, &mut Vec::new());
    (markdown::plain(&spans), spans_of(&spans, &mut Vec::new()))
}

/// A block of prose.
pub(super) fn block(block: &Block, known: &mut Vec<&'static str>) -> Html {
    match block {
        Block::Heading(level, spans) if *level <= 2 => html! { <h2>{ markdown::plain(spans) }</h2> },
        Block::Heading(_, spans) => html! { <h3>{ markdown::plain(spans) }</h3> },
        Block::Paragraph(spans) => html! { <p>{ spans_of(spans, known) }</p> },
        Block::Bullets(items) => html! { <ul>{ items_of(items, known) }</ul> },
        Block::Numbered(first, items) => html! { <ol start={first.to_string()}>{ items_of(items, known) }</ol> },
        Block::Quote(blocks) => {
            html! { <blockquote>{ for blocks.iter().map(|block| self::block(block, known)) }</blockquote> }
        }
        Block::Code(_, text) => html! { <pre><code>{ text.clone() }</code></pre> },
        Block::Table(head, rows) => html! {
            <table class="plain">
                <thead><tr>{ for head.iter().map(|cell| html! { <th scope="col">{ spans_of(cell, known) }</th> }) }</tr></thead>
                <tbody>{ for rows.iter().map(|row| html! { <tr>{ for row.iter().map(|cell| html! { <td>{ spans_of(cell, known) }</td> }) }</tr> }) }</tbody>
            </table>
        },
        Block::Rule => html! { <hr/> },
    }
}

fn items_of(items: &[Vec<Block>], known: &mut Vec<&'static str>) -> Html {
    html! { <>{ for items.iter().map(|item| html! { <li>{ for item.iter().map(|block| self::block(block, known)) }</li> }) }</> }
}

fn spans_of(spans: &[Span], known: &mut Vec<&'static str>) -> Html {
    html! { <>{ for spans.iter().map(|span| self::span(span, known)) }</> }
}

fn span(span: &Span, known: &mut Vec<&'static str>) -> Html {
    match span {
        Span::Text(text) => {
            let before = known.clone();
            glossary::parts(text, known);
            html! { <Words text={text.clone()} known={before}/> }
        }
        Span::Strong(spans) => html! { <strong>{ spans_of(spans, known) }</strong> },
        Span::Emphasis(spans) => html! { <em>{ spans_of(spans, known) }</em> },
        Span::Code(text) => html! { <code>{ text.clone() }</code> },
        Span::Link(target, spans) => link(target, spans),
        Span::Break => html! { <br/> },
    }
}

/// A link to a rule shows the rule, one to a lesson leads there; any other leads out of the page.
fn link(target: &str, spans: &[Span]) -> Html {
    if let Some(rule) = target.strip_prefix("rule:").and_then(crate::cluster::Rule::from_id) {
        let row = rule.row();
        return html! { <RuleLink words={markdown::plain(spans)} id={row.id} sentence={row.sentence} source={row.source}/> };
    }
    match target.strip_prefix("lesson:") {
        Some(slug) => html! { <a href={lesson_address(slug)}>{ markdown::plain(spans) }</a> },
        None => html! { <a href={target.to_string()} rel="noreferrer">{ markdown::plain(spans) }</a> },
    }
}

#[derive(Properties, PartialEq)]
struct RuleLinkProps {
    words: String,
    id: &'static str,
    sentence: &'static str,
    source: &'static str,
}

/// Words that open the rule they speak of.
#[component]
fn RuleLink(props: &RuleLinkProps) -> Html {
    let open = use_state(|| false);
    let toggle = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    html! {
        <>
            <button class="link inline" aria-expanded={open.to_string()} onclick={toggle}>{ props.words.clone() }</button>
            if *open { <span class="rule">{ props.sentence }<small class="mono">{ format!("{} · {}", props.id, props.source) }</small></span> }
        </>
    }
}
