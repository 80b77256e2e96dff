//! What stands still costs nothing: no callback of a frame, no timer, no work.

use anyhow::{Context, Result, ensure};
use page_tests::{COUNTERS, Page, View, drive};

use crate::views::lesson;

/// Callbacks in a second, after whatever was moving has arrived.
fn callbacks(page: &Page) -> Result<u64> {
    page.eval("new Promise((later) => counted.timeout(later, 1000))")?;
    page.eval("counted.callbacks = 0; new Promise((later) => counted.timeout(later, 1000))")?;
    page.eval("counted.callbacks")?.as_u64().context("nothing was counted")
}

#[test]
fn a_paused_page_does_nothing() -> Result<()> {
    let page = Page::blank(View::WIDE)?;
    page.before_each_document(COUNTERS)?;
    page.open("")?;
    page.wait_until(
        "it plays",
        "Number(document.querySelector('.caption .n')?.innerText) > 3",
    )?;
    ensure!(callbacks(&page)? > 0, "while it plays, nothing is counted");
    page.press(" ")?;
    ensure!(callbacks(&page)? == 0, "the paused landing is at work");
    page.press("ArrowRight")?;
    page.press("ArrowLeft")?;
    ensure!(callbacks(&page)? == 0, "after a step and back it is at work");
    page.eval("location.hash = '#/lessons'")?;
    ensure!(callbacks(&page)? == 0, "the list of lessons is at work");
    page.check_console()
}

#[test]
fn a_lesson_that_waits_for_its_reader_does_nothing() -> Result<()> {
    drive("lesson-waits", View::WIDE, "", |page| {
        page.before_each_document(COUNTERS)?;
        lesson(page, "06-the-high-watermark", 1)?;
        ensure!(callbacks(page)? == 0);
        Ok(())
    })
}

/// Nobody looks at a hidden page, so it does not play.
#[test]
fn a_hidden_page_pauses() -> Result<()> {
    drive("hidden", View::WIDE, "", |page| {
        page.wait_until(
            "it plays",
            "Boolean(document.querySelector('[data-testid=play][aria-label=Pause]'))",
        )?;
        page.eval(
            "Object.defineProperty(document, 'hidden', { value: true });
             document.dispatchEvent(new Event('visibilitychange'))",
        )?;
        page.wait_until(
            "it is paused",
            "Boolean(document.querySelector('[data-testid=play][aria-label=Play]'))",
        )
    })
}
