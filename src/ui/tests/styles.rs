//! The style sheets: every class is used somewhere, and what recurs has a name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Both sheets, without comments: the tokens come first.
const SHEETS: [&str; 2] = [
    include_str!("../../../static/app.css"),
    include_str!("../../../static/stage.css"),
];

fn without_comments(sheet: &str) -> String {
    let mut parts = sheet.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    let others = parts.map(|part| part.split_once("*/").map_or("", |(_, rest)| rest));
    first + &others.collect::<String>()
}

/// What stands before each `{`, a list of selectors or a condition.
fn preludes(sheet: &str) -> Vec<String> {
    let sheet = without_comments(sheet);
    let opened = sheet
        .split('{')
        .map(|part| part.rsplit(['}', ';']).next().unwrap_or(part).trim());
    let mut preludes: Vec<String> = opened.map(str::to_owned).collect();
    preludes.pop();
    preludes
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// The classes that a selector speaks of.
fn classes(selector: &str) -> impl Iterator<Item = &str> {
    let names = selector.split('.').skip(1);
    let names = names.map(|rest| rest.split(|c| !is_of_a_word(c)).next().unwrap_or_default());
    names.filter(|name| name.starts_with(char::is_alphabetic))
}

/// All words of the files below a folder.
fn words_below(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let is_read = path.extension().is_some_and(|end| end == "rs" || end == "js");
        if path.is_dir() {
            words_below(&path, words);
        } else if is_read && !path.ends_with("tests/styles.rs") {
            take_words(&fs::read_to_string(&path).expect("it is text"), words);
        }
    }
}

fn take_words(text: &str, words: &mut BTreeSet<String>) {
    let found = text.split(|c| !is_of_a_word(c)).filter(|word| !word.is_empty());
    words.extend(found.map(str::to_owned));
}

#[test]
fn every_class_is_used_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut words = BTreeSet::new();
    words_below(&root.join("src"), &mut words);
    words_below(&root.join("static"), &mut words);
    take_words(include_str!("../../../index.html"), &mut words);
    let selectors: Vec<String> = SHEETS.iter().flat_map(|sheet| preludes(sheet)).collect();
    let named: BTreeSet<&str> = selectors.iter().flat_map(|selector| classes(selector)).collect();
    assert!(named.contains("scene") && named.contains("btn"), "{named:?}");
    let unused: Vec<&&str> = named.iter().filter(|name| !words.contains(**name)).collect();
    assert!(unused.is_empty(), "nothing has the classes {unused:?}");
}

/// The declarations of a sheet behind the tokens.
fn declarations(sheet: &str) -> Vec<(String, String)> {
    let sheet = without_comments(sheet);
    let behind = match sheet.split_once(":root {") {
        Some((_, rest)) => rest.split_once('}').map_or("", |(_, behind)| behind),
        None => &sheet,
    };
    let all = behind.split(['{', '}', ';']).filter_map(|one| one.split_once(": "));
    all.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[test]
fn what_recurs_is_a_token() {
    for (name, value) in SHEETS.iter().flat_map(|sheet| declarations(sheet)) {
        let said = format!("{name}: {value}");
        let mut parts = value.split([' ', '/']);
        assert!(
            !value.contains('#') && !value.contains("rgb("),
            "a colour of its own: {said}"
        );
        match &*name {
            "font-size" => assert!(
                value.starts_with("var(--f-") || value == "0" || value == "inherit",
                "{said}"
            ),
            "border-radius" => assert!(
                parts.all(|part| part.starts_with("var(--r") || matches!(part, "0" | "50%" | "inherit")),
                "{said}"
            ),
            "font" => assert!(parts.all(|part| !part.ends_with("rem")), "{said}"),
            name if ["gap", "padding", "margin"].iter().any(|space| name.starts_with(space)) => assert!(
                parts.all(|part| ![
                    "2px", "3px", "4px", "6px", "8px", "10px", "12px", "16px", "24px", "32px"
                ]
                .contains(&part)),
                "a space that has a name: {said}"
            ),
            _ => {}
        }
    }
}
