//! How far somebody has come outlives the document; what is damaged of it is said and harms nothing else.

use anyhow::{Result, ensure};
use page_tests::{View, drive};

use crate::views::progress;

const CHIPS: &str = "[...document.querySelectorAll('main ol .chip')].map((chip) => chip.innerText).join('; ')";

#[test]
fn progress_survives_a_reload() -> Result<()> {
    drive("progress", View::WIDE, "#/lesson/02-the-log", |page| {
        page.wait_until(
            "it begins at its first stop",
            "document.body.innerText.includes('Stop 1 of')",
        )?;
        page.click("button", "20 steps a second")?;
        page.hold_still()?;
        page.click("button", "Next")?;
        page.wait_until(
            "a question is asked",
            "Boolean(document.querySelector('[data-testid=prediction]'))",
        )?;
        let heading = page.text("aside.left .actions .under")?;
        page.reload()?;
        page.wait_until(
            "the question is asked again",
            "Boolean(document.querySelector('[data-testid=prediction]'))",
        )?;
        ensure!(
            page.text("aside.left .actions .under")? == heading,
            "another stop than {heading}"
        );
        page.click("link", "Lessons")?;
        page.wait_until("the list says where one is", &format!("{CHIPS}.startsWith('at stop')"))
    })
}

#[test]
fn damaged_progress_is_said_and_the_rest_stays() -> Result<()> {
    let one_damaged = r#"{"version":1,"lessons":{"02-the-log":{"stop":2},"06-the-high-watermark":{"stop":"two"}}}"#;
    for (stored, said, chips) in [
        ("{", "the stored progress cannot be read; it begins anew", ""),
        (
            "\u{0}\u{1}binary",
            "the stored progress cannot be read; it begins anew",
            "",
        ),
        ("[]", "the stored progress cannot be read; it begins anew", ""),
        (r#"{"version":99}"#, "the stored progress has version 99", ""),
        (
            one_damaged,
            "the progress of lesson '06-the-high-watermark' is damaged",
            "at stop 3 of",
        ),
        (
            &progress("02-the-log", 4_000_000_000),
            "the progress of lesson '02-the-log' is at stop 4000000001",
            "",
        ),
        (&progress("no-such-lesson", 3), "", ""),
    ] {
        drive("damaged-progress", View::WIDE, "", |page| {
            page.open_after("#/lessons", stored, "")?;
            page.wait_for_text("Each is one idea")?;
            let notice = page.eval("document.querySelector('[data-testid=notice]')?.innerText.toLowerCase() ?? ''")?;
            let notice = notice.as_str().unwrap_or_default();
            ensure!(
                notice.contains(&said.to_lowercase()) && said.is_empty() == notice.is_empty(),
                "{stored}: {notice:?}"
            );
            let found = page.eval(CHIPS)?;
            ensure!(
                found.as_str().is_some_and(|found| found.contains(chips)),
                "{stored}: {found}"
            );
            page.eval("location.hash = '#/lesson/02-the-log'")?;
            page.wait_until(
                "the lesson can be read",
                "Boolean(document.querySelector('[data-testid=scene]'))",
            )
        })?;
    }
    Ok(())
}

/// A browser may forbid a page to keep anything.
#[test]
fn a_page_that_may_keep_nothing_works_all_the_same() -> Result<()> {
    drive("no-storage", View::WIDE, "", |page| {
        page.before_each_document(
            "for (const name of ['localStorage', 'sessionStorage'])
                 Object.defineProperty(window, name, { get() { throw new DOMException('forbidden', 'SecurityError') } });",
        )?;
        page.reload()?;
        page.wait_until(
            "it plays",
            "Number(document.querySelector('.caption .n')?.innerText) > 3",
        )
    })
}
