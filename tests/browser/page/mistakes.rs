//! What somebody gives the page that it cannot use: it is named, with its place, and everything else stays.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use page_tests::{Page, View, drive};

use crate::views::{lesson, open_file};

#[test]
fn a_lesson_with_mistakes_names_each_with_its_line() -> Result<()> {
    drive("mistakes", View::WIDE, "", |page| {
        open_file(page, "mistakes.md")?;
        page.wait_for_text("This lesson's file has mistakes")?;
        let faults = page.text("[data-testid=lesson-faults]")?;
        for said in ["Line 14", "kil", "kill", "Line 18", "31 words"] {
            ensure!(faults.contains(said), "{said} is not named: {faults}");
        }
        page.screenshot("mistakes")?;
        page.click("link", "To the list of lessons")?;
        page.wait_for_text("Each is one idea")?;
        page.eval("document.querySelector(\"main ol a[href='#/lesson/02-the-log']\").click()")?;
        page.wait_until(
            "another lesson can be read",
            "Boolean(document.querySelector('[data-testid=scene]'))",
        )
    })
}

/// A file of these bytes, as somebody might choose it by mistake.
fn file(name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("highwater-{}-{name}", std::process::id()));
    fs::write(&path, bytes)?;
    Ok(path)
}

fn choose(page: &Page, name: &str, bytes: &[u8]) -> Result<()> {
    page.open_after("#/lessons", "", "")?;
    page.wait_for_text("A lesson of your own")?;
    let path = file(name, bytes)?;
    page.select("#lesson-file")?.choose_file(&path.display().to_string())?;
    page.wait_until("the file was read", "!document.querySelector('main ol')")?;
    fs::remove_file(path)?;
    Ok(())
}

#[test]
fn files_that_are_no_lessons_are_told() -> Result<()> {
    let long: String = (0..100_000)
        .map(|n| format!("send shop payments value={n}\n"))
        .collect();
    let binary: Vec<u8> = (0..=255_u8).cycle().take(100_000).collect();
    drive("no-lessons", View::WIDE, "", |page| {
        for (name, bytes) in [("empty.md", &b""[..]), ("long.md", long.as_bytes())] {
            choose(page, name, bytes)?;
            page.wait_for_text("This lesson's file has mistakes")?;
            let faults = page.text("[data-testid=lesson-faults]")?;
            ensure!(faults.contains("Line "), "{name}: {faults}");
            ensure!(
                faults.len() < 20_000,
                "{name}: nobody reads {} characters",
                faults.len()
            );
        }
        page.open_after("#/lessons", "", "")?;
        page.wait_for_text("A lesson of your own")?;
        let path = file("binary.md", &binary)?;
        page.select("#lesson-file")?.choose_file(&path.display().to_string())?;
        page.wait_for_text("is no text in UTF-8; open a lesson in Markdown")?;
        fs::remove_file(path)?;
        Ok(())
    })
}

/// A good lesson whose lines end as on Windows, and one whose scene is very long.
#[test]
fn unusual_lessons_are_played() -> Result<()> {
    let front = "---\ntitle: Of my own\nnumber: 90\nminutes: 5\nneeds: none\nmisconceptions: none\n---\n# Of my own\n\nA word.\n\n";
    let scene = "```scene first\nbrokers 3\ntopic payments replicas=3\nproducer shop\nsend shop payments\nrun until acked\n```\n";
    let sends = "send shop payments\n".repeat(100_000);
    let long = format!("```scene first\nbrokers 3\ntopic payments replicas=3\nproducer shop\n{sends}```\n");
    drive("unusual-lessons", View::WIDE, "", |page| {
        for (name, text) in [
            ("windows.md", format!("{front}{scene}").replace('\n', "\r\n")),
            ("long-scene.md", format!("{front}{long}")),
        ] {
            choose(page, name, text.as_bytes())?;
            page.wait_until(
                &format!("{name} is shown"),
                "Boolean(document.querySelector('[data-testid=scene]'))",
            )?;
            ensure!(page.text("aside.left h1")?.contains("Of my own"));
            page.press("PageDown")?;
            page.wait_until(
                &format!("{name} goes on"),
                "Number(document.querySelector('.caption .n').innerText) > 0",
            )?;
        }
        Ok(())
    })
}

/// What is typed into a puzzle and cannot be done is refused with the nearest valid word, and nothing has happened.
#[test]
fn a_line_that_cannot_be_done_is_refused() -> Result<()> {
    drive("refused-lines", View::WIDE, "", |page| {
        lesson(page, "07-what-acks-is-worth", 5)?;
        let time = page.text("[data-testid=time]")?;
        for (line, said) in [
            ("sned shop payments", "send"),
            ("kill 1", "is not in this puzzle"),
            ("stop 9", "9"),
            ("send shop paymants", "payments"),
            ("stop 1\u{7}", "expected a broker"),
            ("köpfe 🤷", "expected"),
        ] {
            let field = page.select("#do")?;
            field.focus()?;
            field.select()?;
            page.insert(line)?;
            page.press("Enter")?;
            page.wait_until(
                &format!("'{line}' is refused"),
                "Boolean(document.querySelector('.notice.error'))",
            )?;
            let notice = page.text(".notice.error")?;
            ensure!(notice.contains(said), "{line}: {notice}");
            ensure!(page.text("[data-testid=time]")? == time, "{line} has changed the run");
            ensure!(!field.value()?.is_empty(), "{line} does not stay, to be mended");
            page.click("button", "Dismiss")?;
        }
        Ok(())
    })
}

#[test]
fn a_value_out_of_range_is_refused_with_its_range() -> Result<()> {
    drive("refused-values", View::WIDE, "", |page| {
        page.hold_still()?;
        for (value, said) in [
            ("0", "out of range"),
            ("99999999999", "out of range"),
            ("two", "expected a size"),
            ("", "expected"),
        ] {
            let field = page.select("#knob-segment\\.bytes-field")?;
            field.focus()?;
            field.select()?;
            page.press("Delete")?;
            page.insert(value)?;
            page.press("Enter")?;
            page.wait_until(
                &format!("'{value}' is refused"),
                &format!("Boolean(document.querySelector('.knob .wrong')?.innerText.includes('{said}'))"),
            )?;
            let wrong = page.text(".knob .wrong")?;
            ensure!(wrong.contains(value), "{value}: {wrong}");
            page.press("Escape")?;
        }
        Ok(())
    })
}
