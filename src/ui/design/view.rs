//! The form of a design: five numbers, a button, and what came of it. A trial goes on for a part of each frame, so that
//! the page is never blocked, and ends when a number is changed.

use std::cell::RefCell;

use gloo_render::request_animation_frame;
use web_sys::{HtmlInputElement, js_sys};
use yew::prelude::*;

use super::{attack, broken, combinations, cost, count, followers, kind, outcome, verdict};
use crate::lesson::design::{Demand, Design, Going, MOST, MOST_FAULTS, Outcome, Task, Trial, scenario};
use crate::ui::act::Act;
use crate::ui::reading::Given;
use crate::ui::terms::Words;

/// How much of a frame a trial takes, milliseconds: the rest is the reader's.
const SLICE: f64 = 9.0;

/// Steps between two looks at the clock.
const STEPS: usize = 40;

/// The numbers of the form, as they are typed.
#[derive(Clone, PartialEq)]
struct Form {
    consumers: String,
    faults: String,
    partitions: String,
    replicas: String,
    min_insync: String,
}

impl Form {
    fn of(task: &Task) -> Form {
        Form {
            consumers: task.demand.consumers.to_string(),
            faults: task.demand.faults.to_string(),
            partitions: task.start.partitions.to_string(),
            replicas: task.start.replicas.to_string(),
            min_insync: task.start.min_insync.to_string(),
        }
    }

    /// The design; what is no number is 0, which is refused with the range.
    fn design(&self) -> Design {
        Design {
            partitions: self.partitions.trim().parse().unwrap_or(0),
            replicas: self.replicas.trim().parse().unwrap_or(0),
            min_insync: self.min_insync.trim().parse().unwrap_or(0),
        }
    }

    fn demand(&self, task: &Task) -> Demand {
        Demand {
            consumers: self.consumers.trim().parse().unwrap_or(u32::MAX),
            faults: self.faults.trim().parse().unwrap_or(u32::MAX),
            ..task.demand.clone()
        }
    }
}

/// A design that was left to see on the playground what breaks it.
struct Left {
    /// The task's words.
    ask: String,
    form: Form,
    trial: Option<Trial>,
}

thread_local! {
    /// The design that was left last, for whoever comes back to it.
    static LEFT: RefCell<Option<Left>> = const { RefCell::new(None) };
}

/// Properties of the form.
#[derive(Properties, PartialEq)]
pub struct DesignProps {
    /// What is asked for.
    pub task: Task,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The form, and what came of what was tried.
#[component]
pub fn DesignPanel(props: &DesignProps) -> Html {
    let DesignProps { task, act } = props;
    let left = use_mut_ref(|| LEFT.take().filter(|left| left.ask == task.ask));
    let form = use_state(|| {
        left.borrow()
            .as_ref()
            .map_or_else(|| Form::of(task), |left| left.form.clone())
    });
    let trial = use_mut_ref(|| left.take().and_then(|left| left.trial));
    let going = use_state(|| trial.borrow().as_ref().is_some_and(|trial| !trial.is_done()));
    let frames = use_state(|| 0_u32);
    let wrong = use_state(|| None::<String>);
    {
        let (trial, going, frames, wrong) = (trial.clone(), going.clone(), frames.clone(), wrong.clone());
        let (act, task) = (act.clone(), task.clone());
        use_effect_with((*going, *frames), move |(on, frame)| {
            let frame = *frame;
            let handle = on.then(|| {
                request_animation_frame(move |_| {
                    // Setting a state draws at once, and drawing looks at the trial.
                    let outcome = trial.borrow_mut().as_mut().map_or(Ok(Going::Done), slice);
                    match outcome {
                        Ok(Going::On) => {}
                        Ok(Going::Done) => going.set(false),
                        Err(why) => {
                            wrong.set(Some(why));
                            going.set(false);
                        }
                    }
                    let met = trial
                        .borrow()
                        .as_ref()
                        .filter(|trial| trial.is_met())
                        .map(|trial| (trial.design(), trial.demand() == &task.demand));
                    if let Some((design, true)) = met {
                        act.emit(Act::Answer(Given::Design(design.cost())));
                    }
                    frames.set(frame.wrapping_add(1));
                })
            });
            move || drop(handle)
        });
    }
    let change = {
        let (form, trial, going, wrong) = (form.clone(), trial.clone(), going.clone(), wrong.clone());
        Callback::from(move |changed: Form| {
            trial.replace(None);
            going.set(false);
            wrong.set(None);
            form.set(changed);
        })
    };
    let play = {
        let (form, trial, act, ask) = (form.clone(), trial.clone(), act.clone(), task.ask.clone());
        Callback::from(move |text: String| {
            LEFT.replace(Some(Left {
                ask: ask.clone(),
                form: (*form).clone(),
                trial: trial.take(),
            }));
            act.emit(Act::Scenario(text));
        })
    };
    let (design, demand) = (form.design(), form.demand(task));
    let kinds: Vec<&str> = task.demand.kinds.iter().copied().map(kind).collect();
    let faults = format!("Faults: {}", kinds.join(", "));
    let submit = {
        let (trial, going, wrong, demand) = (trial.clone(), going.clone(), wrong.clone(), demand.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let begun = Trial::new(design, demand.clone());
            let (fault, goes) = (begun.as_ref().err().cloned(), begun.is_ok());
            trial.replace(begun.ok());
            wrong.set(fault);
            going.set(goes);
        })
    };
    let held = trial.borrow();
    let met = held
        .as_ref()
        .is_some_and(|trial| trial.is_met() && trial.demand() == &task.demand);
    let status = match (&*wrong, held.as_ref()) {
        (Some(why), _) => why.clone(),
        (None, None) => "Not tried yet.".to_string(),
        (None, Some(trial)) if trial.is_done() => verdict(trial, task),
        (None, Some(trial)) => format!("Trying {} of faults…", combinations(trial)),
    };
    let field = |id: &'static str, label: &str, value: &str, range: (u32, u32), put: fn(&mut Form, String)| {
        let (form, change) = (form.clone(), change.clone());
        let typed = Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                let mut changed = (*form).clone();
                put(&mut changed, input.value());
                change.emit(changed);
            }
        });
        let fits = value
            .trim()
            .parse::<u32>()
            .is_ok_and(|number| (range.0..=range.1).contains(&number));
        html! {
            <div class="row apart">
                <label for={id}>{ label.to_string() }</label>
                <input class="field" {id} type="number" inputmode="numeric" min={range.0.to_string()} max={range.1.to_string()} aria-invalid={(!fits).then_some("true")} value={value.to_string()} oninput={typed}/>
            </div>
        }
    };
    html! {
        <section class={if met { "panel good design" } else { "panel design" }} aria-label="Design a topic" data-testid="design">
            <p class="q">{ if met { "Solved." } else { "Puzzle" } }</p>
            <p><Words text={task.ask.clone()}/></p>
            <form onsubmit={submit}>
                <fieldset>
                    <legend>{ format!("What it must stand, on {}", count(task.demand.brokers, "broker")) }</legend>
                    { field("design-consumers", "Consumers of one group", &form.consumers, (0, MOST), |form, text| form.consumers = text) }
                    { field("design-faults", &faults, &form.faults, (0, MOST_FAULTS), |form, text| form.faults = text) }
                    <p class="under">{ followers(task.demand.followers) }</p>
                </fieldset>
                <fieldset>
                    <legend>{ "The topic" }</legend>
                    { field("design-partitions", "Partitions", &form.partitions, (1, MOST), |form, text| form.partitions = text) }
                    { field("design-replicas", "Replication factor", &form.replicas, (1, task.demand.brokers), |form, text| form.replicas = text) }
                    { field("design-min", "min.insync.replicas", &form.min_insync, (1, task.demand.brokers), |form, text| form.min_insync = text) }
                </fieldset>
                <p class="under">{ cost(design, task.par) }</p>
                <button class="btn primary full" type="submit" data-testid="try">{ "Try every fault" }</button>
            </form>
            <p role="status" data-testid="design-status">{ status }</p>
            if let Some(trial) = held.as_ref() {
                if *going { <progress aria-label="Combinations tried" max={trial.len().to_string()} value={trial.outcomes().len().to_string()}/> }
                { breaks(trial, &play) }
            }
        </section>
    }
}

/// A trial goes on for its part of a frame.
fn slice(trial: &mut Trial) -> Result<Going, String> {
    let begun = js_sys::Date::now();
    loop {
        let going = trial.advance(STEPS)?;
        if going == Going::Done || js_sys::Date::now() - begun >= SLICE {
            return Ok(going);
        }
    }
}

/// What breaks the design, the worst first.
fn breaks(trial: &Trial, play: &Callback<String>) -> Html {
    let (shown, more) = broken(trial);
    if shown.is_empty() {
        return Html::default();
    }
    let row = |one: &Outcome| {
        let text = scenario(trial.design(), trial.demand(), &one.attack);
        let faults = attack(&one.attack);
        html! {
            <tr key={faults.clone()}>
                <th scope="row">{ faults.clone() }</th>
                <td>{ outcome(one) }{ " " }<button type="button" class="link inline" aria-label={format!("Play it on the playground: {faults}")} onclick={play.reform(move |_| text.clone())}>{ "Play it" }</button></td>
            </tr>
        }
    };
    html! {
        <>
            <table class="plain">
                <caption class="sr">{ "What breaks this design" }</caption>
                <thead><tr><th scope="col">{ "Faults" }</th><th scope="col">{ "What comes of it" }</th></tr></thead>
                <tbody>{ for shown.into_iter().map(row) }</tbody>
            </table>
            if more > 0 { <p class="under">{ format!("And {more} more.") }</p> }
        </>
    }
}
