//! The promise of the landing scene: with the keyboard alone a person loses a record, and can say why.

use anyhow::{Result, ensure};
use page_tests::{Page, View, drive};

fn kill_the_leader(page: &Page) -> Result<()> {
    page.tab_to("button \"Kill the leader\"")?;
    page.press("Enter")?;
    page.wait_until(
        "its broker is gone",
        "Boolean(document.querySelector('.lane.broker.down'))",
    )
}

#[test]
fn a_record_is_lost_by_keyboard_and_the_page_says_why() -> Result<()> {
    drive("promise", View::WIDE, "", |page| {
        kill_the_leader(page)?;
        page.wait_until(
            "the story is told",
            "Boolean(document.querySelector('[data-testid=lost]'))",
        )?;
        let story = page.text("aside.left")?;
        ensure!(story.contains("confirmed payment"), "{story}");
        ensure!(
            story.contains("acks=1"),
            "the setting that did it is not named: {story}"
        );
        // The inspector holds a lost record and tells what became of each copy.
        page.press("i")?;
        ensure!(page.eval("document.activeElement.id")? == "inspector");
        let inspected = page.text("[data-testid=inspected]")?;
        ensure!(inspected.to_lowercase().contains("lost"), "{inspected}");
        page.screenshot("promise")?;

        page.tab_to("button \"all\"")?;
        page.press("Enter")?;
        page.wait_until(
            "a payment was acknowledged",
            "document.querySelector('.say')?.innerText.match(/to [1-9]/) !== null",
        )?;
        kill_the_leader(page)?;
        page.wait_for_text("Nothing was lost")
    })
}

/// Each key that the help names does what it says.
#[test]
fn the_keys_do_what_the_help_says() -> Result<()> {
    drive("keys", View::WIDE, "", |page| {
        let step = |page: &Page| -> Result<f64> {
            Ok(page
                .eval("Number(document.querySelector('.caption .n').innerText)")?
                .as_f64()
                .unwrap_or(-1.0))
        };
        page.wait_until(
            "some steps were taken",
            "Number(document.querySelector('.caption .n').innerText) > 12",
        )?;
        page.press(" ")?;
        page.wait_until(
            "it is paused",
            "Boolean(document.querySelector('[data-testid=play][aria-label=Play]'))",
        )?;
        // What a key does is there with the next drawing.
        let stands = |page: &Page, what: &str, where_: &str| {
            page.wait_until(
                what,
                &format!("Number(document.querySelector('.caption .n').innerText) {where_}"),
            )
        };
        let stood = step(page)?;
        page.press("ArrowRight")?;
        stands(page, "→ is one step", &format!("=== {}", stood + 1.0))?;
        page.press("ArrowLeft")?;
        page.press("ArrowLeft")?;
        stands(page, "← is one step back", &format!("=== {}", stood - 1.0))?;
        page.press("Shift+ArrowLeft")?;
        stands(
            page,
            "Shift and ← is the marked moment before",
            &format!("< {}", stood - 1.0),
        )?;
        page.press("Home")?;
        stands(page, "Home is the start", "=== 0")?;
        page.press("Shift+ArrowRight")?;
        stands(page, "Shift and → is the next marked moment", "> 0")?;
        page.press("End")?;
        stands(page, "End is the end", &format!(">= {stood}"))?;
        let end = step(page)?;
        page.press("PageDown")?;
        stands(
            page,
            "Page Down is one step where there is no lesson",
            &format!("=== {}", end + 1.0),
        )?;
        page.press("PageUp")?;
        stands(page, "Page Up is one step back", &format!("=== {end}"))?;
        page.press(".")?;
        page.wait_until(
            "the full stop plays",
            "Boolean(document.querySelector('[data-testid=play][aria-label=Pause]'))",
        )?;
        page.press(".")?;
        page.press("x")?;
        page.press("2")?;
        page.wait_until(
            "X and 2 show the faults of broker 2",
            "document.querySelector('[data-testid=fault-menu]')?.ariaLabel === 'What can happen to broker 2'",
        )?;
        page.press("Escape")?;
        page.wait_until(
            "Escape closes them",
            "!document.querySelector('[data-testid=fault-menu]')",
        )?;
        ensure!(
            page.focused()?.starts_with("button \"Break broker 2"),
            "the focus is lost: {}",
            page.focused()?
        );
        page.press("t")?;
        page.wait_until(
            "T is the transcript",
            "Boolean(document.querySelector('[data-testid=events]'))",
        )?;
        page.press("l")?;
        page.wait_until(
            "L copies the scene",
            "document.querySelector('[data-testid=notice]')?.innerText.includes('copied as text')",
        )?;
        page.press("?")?;
        page.wait_until("? is the help", "Boolean(document.querySelector('dialog[open] .keys'))")?;
        page.press("Escape")?;
        page.wait_until("Escape closes it", "!document.querySelector('dialog[open]')")?;
        page.press("End")?;
        let pills = "[...document.querySelectorAll('[data-testid=producer-shop] .pill')].map((pill) => pill.innerText.slice(1))";
        page.eval(&format!("window.sent = {pills}"))?;
        page.press("p")?;
        page.wait_until(
            "P sends a record",
            &format!("{pills}.some((name) => !sent.includes(name))"),
        )
    })
}
