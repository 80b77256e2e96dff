//! What a person gets when the engine panics: the scenario to copy, and the page at its last good step.

use anyhow::{Result, ensure};
use page_tests::{Page, View, drive};
use serde_json::{Value, json};

/// Makes a real panic and gives back where the page was. The page may be playing, so both are one task; the panic is
/// in a microtask of it, for the protocol's own call must not be what reports it.
const PANIC: &str = "(() => {
    queueMicrotask(() => highwater.bindings.panic_on_purpose());
    return JSON.parse(sessionStorage['highwater.resume']);
})()";

fn panic_once(page: &Page) -> Result<Value> {
    page.expect_error("unreachable");
    page.expect_error("panicked at");
    page.wait_until(
        "the page has taken a step",
        "Boolean(sessionStorage['highwater.resume'])",
    )?;
    let kept = page.eval(PANIC)?;
    page.wait_until(
        "the page was loaded again",
        "Boolean(window.highwater && highwater.crashed)",
    )?;
    page.wait_until_running()?;
    Ok(kept)
}

#[test]
fn a_panic_is_shown_and_the_page_goes_on() -> Result<()> {
    drive("crash", View::WIDE, "", |page| {
        let kept = panic_once(page)?;
        let notice = page.text("#notice")?;
        ensure!(notice.contains("The engine stopped, and was started again"), "{notice}");
        ensure!(
            notice.contains(&format!("You are back at step {}", kept["step"])),
            "{notice}"
        );
        ensure!(
            notice.contains("panicked at"),
            "the panic's own words are missing: {notice}"
        );
        let scenario = page
            .find("textbox", "The scenario that leads here, for a report:")?
            .value()?;
        ensure!(kept["scenario"] == json!(scenario), "{kept}");
        page.screenshot("crash")?;
        page.click("button", "Copy scenario")?;
        page.click("button", "Close")?;
        page.wait_until("the notice is gone", "document.getElementById('notice').hidden")
    })
}

#[test]
fn an_engine_that_panics_while_it_starts_again_is_not_started_for_ever() -> Result<()> {
    drive("crash-twice", View::PHONE, "", |page| {
        panic_once(page)?;
        // The page has not come as far as its last good step: the mark of the first crash still stands.
        page.eval(&format!(
            "sessionStorage['highwater.resume'] = JSON.stringify(highwater.crashed.resume); {PANIC}"
        ))?;
        page.wait_for_text("could not go on from the last good step")?;
        page.screenshot("crash-twice")?;
        page.click("button", "Begin from the start")?;
        page.wait_until(
            "the page begins anew",
            "Boolean(window.highwater && !highwater.crashed)",
        )?;
        page.wait_until_running()?;
        ensure!(page.eval("document.getElementById('notice').hidden")? == json!(true));
        Ok(())
    })
}

#[test]
fn a_stored_position_that_is_damaged_is_as_good_as_none() -> Result<()> {
    for damage in ["{", "7", "null", r#""text""#, r#"{"crashed": 5}"#] {
        drive("damaged", View::WIDE, "", |page| {
            page.eval(&format!(
                "sessionStorage.setItem('highwater.resume', {}); location.reload()",
                json!(damage)
            ))?;
            page.wait_until(
                "the page was loaded again",
                "performance.getEntriesByType('navigation')[0].type === 'reload'",
            )?;
            page.wait_until_running()?;
            ensure!(page.eval("highwater.crashed")?.is_null());
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn a_run_that_cannot_be_replayed_after_a_crash_is_no_second_crash() -> Result<()> {
    for scenario in ["nonsense", "", "brokers 3\n", "brokers 3\ntopic t\nkill 1\nkill 1\n"] {
        drive("not-replayed", View::WIDE, "", |page| {
            let kept = json!({ "scenario": scenario, "step": 7, "position": 7, "crashed": "on purpose" });
            page.eval(&format!(
                "sessionStorage['highwater.resume'] = JSON.stringify({kept}); location.reload()"
            ))?;
            page.wait_until(
                "the page was loaded again",
                "Boolean(window.highwater && highwater.crashed)",
            )?;
            page.wait_until_running()?;
            ensure!(
                page.eval("document.getElementById('app').hidden")? == json!(false),
                "the page is gone"
            );
            Ok(())
        })?;
    }
    Ok(())
}
