//! A broker's menu: what can happen to it, and for each what survives, said before it is done.

use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::pop::Pop;
use crate::ui::view::panels::{Fault, FaultOption};

/// Properties of the menu.
#[derive(Properties, PartialEq)]
pub struct FaultMenuProps {
    /// Whose menu it is.
    pub broker: u16,
    /// What can be done.
    pub options: Vec<FaultOption>,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The menu, beside the button that opened it.
#[component]
pub fn FaultMenu(props: &FaultMenuProps) -> Html {
    let broker = props.broker;
    let kept = use_state(|| None::<i64>);
    html! {
        <Pop anchor={format!("faults-{broker}")} label={format!("What can happen to broker {broker}")} name="fault-menu" act={props.act.clone()}>
                <h2>{ format!("Broker {broker}: what would survive?") }</h2>
                { for props.options.iter().map(|option| {
                    let chosen = option.power_loss.as_ref().zip(*kept);
                    let chosen = chosen.filter(|(loss, offset)| *offset > loss.flushed);
                    let (fault, (survives, dies)) = match chosen {
                        Some((loss, offset)) => (Fault::PowerOffKeeping(offset), loss.told(offset)),
                        None => (option.fault, (option.survives.to_string(), option.dies.to_string())),
                    };
                    html! {
                        <div key={option.title}>
                            <button class="item" onclick={props.act.reform(move |_| Act::Fault(broker, fault))}>
                                { icon(glyph(fault)) }<b>{ option.title }</b>
                                <small>{ survives }{ " " }<span class="dies">{ dies }</span></small>
                            </button>
                            if let Some(loss) = &option.power_loss { { handle((loss.flushed, loss.end), &kept) } }
                        </div>
                    }
                }) }
        </Pop>
    }
}

/// How much had reached the disk before the power went: the operating system may have written more than was flushed.
fn handle((flushed, end): (i64, i64), kept: &UseStateHandle<Option<i64>>) -> Html {
    let at = kept.unwrap_or(flushed).clamp(flushed, end);
    let said = match at - flushed {
        0 => "Nothing more than was flushed had reached the disk".to_string(),
        1 => format!("Offset {flushed} had reached the disk as well"),
        _ => format!("Offsets {flushed}–{} had reached the disk as well", at - 1),
    };
    let set = kept.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let input = event.target_dyn_into::<web_sys::HtmlInputElement>();
        set.set(input.and_then(|input| input.value().parse().ok()));
    });
    html! {
        <label class="keep">{ said.clone() }
            <input type="range" min={flushed.to_string()} max={end.to_string()} value={at.to_string()} aria-valuetext={said} {oninput}/>
        </label>
    }
}

fn glyph(fault: Fault) -> &'static str {
    match fault {
        Fault::Kill => "bolt",
        Fault::PowerOff | Fault::PowerOffKeeping(_) => "power",
        Fault::Tear | Fault::Flip => "bolt",
        Fault::RemoveIndex => "cross",
        Fault::Stop => "stop",
        Fault::Pause => "pause",
        Fault::Resume | Fault::Start | Fault::Hasten => "play",
        Fault::Slow => "dots",
        Fault::Wipe => "cross",
        Fault::Cut => "cut",
        Fault::Heal => "heal",
    }
}
