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

/// Dragged over several steps within one frame, the slider is drawn once, where it is by then, and keeps the focus.
#[test]
fn a_dragged_slider_is_drawn_once_a_frame() -> Result<()> {
    drive("dragged", View::WIDE, "", |page| {
        page.open_paused()?;
        page.select(".timeline input")?.focus()?;
        let drawn = page.eval(DRAGGED)?;
        ensure!(drawn == "1 step 12", "drawn {drawn}");
        ensure!(page.eval("document.activeElement.matches('.timeline input')")? == true);
        Ok(())
    })
}

/// Moves the slider three times at once; tells how often the step's number was drawn, and which is there.
const DRAGGED: &str = "(async () => {
    const slider = document.querySelector('.timeline input');
    const number = document.querySelector('[data-testid=time]').firstChild;
    let drawn = 0;
    const watch = new MutationObserver((changes) => { drawn += changes.length; });
    watch.observe(number, { characterData: true });
    for (const step of [3, 7, 12]) {
        slider.value = step;
        slider.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    watch.disconnect();
    return `${drawn} ${number.data}`;
})()";
