//! The two dialogs: the keys, and the settings.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

use crate::ui::browser::{Keys, Motion, Settings, Theme};
use crate::ui::icons::icon;
use crate::ui::keys::HELP;

/// Which dialog is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// The keys.
    Help,
    /// The settings.
    Settings,
}

/// A dialog; where the settings are kept; what closes it.
pub fn dialog(which: Dialog, settings: &UseStateHandle<Settings>, close: Callback<()>) -> Html {
    match which {
        Dialog::Help => html! { <Sheet title="Keys" close={close.clone()}>{ help(close) }</Sheet> },
        Dialog::Settings => {
            let set = {
                let settings = settings.clone();
                Callback::from(move |value| settings.set(value))
            };
            html! { <Sheet title="Settings" {close}><SettingsForm settings={**settings} {set}/></Sheet> }
        }
    }
}

#[derive(Properties, PartialEq)]
struct SheetProps {
    pub title: &'static str,
    pub close: Callback<()>,
    pub children: Html,
}

/// A dialog over the page; Escape closes it, and the focus returns to where it was.
#[component]
fn Sheet(props: &SheetProps) -> Html {
    let dialog = use_node_ref();
    {
        let dialog = dialog.clone();
        use_effect_with((), move |()| {
            if let Some(element) = dialog.cast::<HtmlDialogElement>() {
                let _ = element.show_modal();
            }
        });
    }
    let close = props.close.clone();
    html! {
        <dialog class="sheet" ref={dialog} aria-label={props.title} onclose={close.reform(|_: Event| ())}>
            <div class="sheet-body">
                <div class="row apart">
                    <h2>{ props.title }</h2>
                    <button class="btn quiet square" aria-label="Close" onclick={close.reform(|_: MouseEvent| ())}>{ icon("cross") }</button>
                </div>
                { props.children.clone() }
            </div>
        </dialog>
    }
}

/// The keys and what they do, and the way to what is modelled.
fn help(close: Callback<()>) -> Html {
    html! {
        <>
            <dl class="keys">
                { for HELP.iter().map(|(keys, what)| html! { <><dt>{ for keys.iter().map(|key| html! { <kbd>{ *key }</kbd> }) }</dt><dd>{ *what }</dd></> }) }
            </dl>
            <p class="under">{ "In the picture the arrow keys move between records once you have reached it with Tab. Keys never act while you type." }</p>
            <p class="under"><a href="#/fidelity" onclick={close.reform(|_: MouseEvent| ())}>{ "What is modelled, simplified, and left out" }</a></p>
        </>
    }
}

#[derive(Properties, PartialEq)]
pub struct SettingsProps {
    pub settings: Settings,
    pub set: Callback<Settings>,
}

/// Theme, motion, single keys.
#[component]
fn SettingsForm(props: &SettingsProps) -> Html {
    let SettingsProps { settings, set } = props;
    let now = *settings;
    html! {
        <>
            { choice("Theme", "Light, dark, or as your system has it.", &[("System", Theme::System), ("Light", Theme::Light), ("Dark", Theme::Dark)], now.theme, set.reform(move |theme| Settings { theme, ..now })) }
            { choice("Motion", "Messages fly from row to row, or stand on their way as arrows.", &[("System", Motion::System), ("Full", Motion::Full), ("None", Motion::Reduced)], now.motion, set.reform(move |motion| Settings { motion, ..now })) }
            { choice("Single keys", "P, X, C, I, T, L, ? and the full stop. Arrows, Space and Page keys act in any case.", &[("On", Keys::On), ("Off", Keys::Off)], now.keys, set.reform(move |keys| Settings { keys, ..now })) }
        </>
    }
}

fn choice<T: Copy + PartialEq + 'static>(
    name: &'static str,
    about: &'static str,
    options: &[(&'static str, T)],
    now: T,
    set: Callback<T>,
) -> Html {
    html! {
        <div class="choice">
            <span id={name}>{ name }</span>
            <span class="seg" role="radiogroup" aria-labelledby={name}>
                { for options.iter().map(|&(label, value)| html! {
                    <label key={label}><input type="radio" name={name} checked={value == now} onchange={set.reform(move |_: Event| value)}/>{ label }</label>
                }) }
            </span>
            <small>{ about }</small>
        </div>
    }
}
