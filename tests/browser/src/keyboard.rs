//! What a key press is to a browser: a name, a place on the keyboard, a number, and what it types.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Keys that do not type their name: name, place, number, text.
const NAMED: [(&str, &str, u32, &str); 15] = [
    (" ", "Space", 32, " "),
    ("Enter", "Enter", 13, "\r"),
    ("Tab", "Tab", 9, ""),
    ("Escape", "Escape", 27, ""),
    ("Backspace", "Backspace", 8, ""),
    ("Delete", "Delete", 46, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("Home", "Home", 36, ""),
    ("End", "End", 35, ""),
    ("PageUp", "PageUp", 33, ""),
    ("PageDown", "PageDown", 34, ""),
    (".", "Period", 190, "."),
];

/// The parameters of `Input.dispatchKeyEvent` for pressing and for releasing a key, such as `"p"`, `"ArrowRight"`,
/// `" "` or `"Shift+Tab"`.
pub fn press(keys: &str) -> Result<[Value; 2]> {
    let (modifiers, key) = match keys.rsplit_once('+') {
        Some((modifiers, key)) if !key.is_empty() => (modifiers, key),
        _ => ("", keys),
    };
    let mut mask = 0;
    for modifier in modifiers.split('+').filter(|modifier| !modifier.is_empty()) {
        mask |= match modifier {
            "Alt" => 1,
            "Control" => 2,
            "Meta" => 4,
            "Shift" => 8,
            other => bail!("{other} is no modifier: Alt, Control, Meta, Shift"),
        };
    }
    let named = NAMED.iter().find(|(name, ..)| *name == key);
    let (code, number, text) = match named {
        Some(&(_, code, number, text)) => (code.to_owned(), number, text.to_owned()),
        None => typed(key)?,
    };
    let event = |kind: &str, text: &str| json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": mask, "text": text });
    let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
    Ok([event(down, &text), event("keyUp", "")])
}

/// A key that types its own name: a letter, a digit, a sign.
fn typed(key: &str) -> Result<(String, u32, String)> {
    let mut characters = key.chars();
    let character = characters.next().context("no key is named")?;
    if characters.next().is_some() {
        bail!("there is no key named {key}");
    }
    let upper = character.to_ascii_uppercase();
    Ok(match character {
        'a'..='z' | 'A'..='Z' => (format!("Key{upper}"), upper.into(), key.to_owned()),
        '0'..='9' => (format!("Digit{character}"), character.into(), key.to_owned()),
        '?' => ("Slash".to_owned(), 191, key.to_owned()),
        _ => (String::new(), 0, key.to_owned()),
    })
}
