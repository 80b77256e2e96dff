//! What a person gets when they open the page, and when they cannot.

use anyhow::{Result, ensure};
use page_tests::{FIRST_LOAD_BYTES, FIRST_LOAD_REQUESTS, Page, View, drive};

#[test]
fn the_page_loads_without_a_word_on_the_console() -> Result<()> {
    for (name, view) in [
        ("loads-wide", View::WIDE),
        ("loads-wide-dark", View::WIDE.dark()),
        ("loads-medium", View::MEDIUM.still()),
        ("loads-phone", View::PHONE),
        ("loads-narrowest", View::NARROWEST),
    ] {
        drive(name, view, "", |page| {
            ensure!(
                page.eval("document.title")?
                    .as_str()
                    .is_some_and(|title| title.starts_with("Highwater"))
            );
            page.wait_until(
                "the page has taken the place of the loading state",
                "!document.getElementById('loading')",
            )?;
            let overflow = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            page.wait_until("nothing reaches past the window's side", overflow)?;
            page.screenshot(name)?;
            Ok(())
        })?;
    }
    Ok(())
}

/// The other tests rest on this one.
#[test]
fn a_complaint_on_the_console_is_heard() -> Result<()> {
    drive("complaint", View::WIDE, "", |page| {
        for complaint in ["console.error('ouch')", "setTimeout(() => { throw new Error('ouch') })"] {
            page.eval(complaint)?;
            page.eval("new Promise((later) => setTimeout(later))")?;
            let heard = page.check_console().map_err(|error| error.to_string());
            ensure!(
                heard.is_err_and(|error| error.contains("ouch")),
                "{complaint} is not heard"
            );
        }
        Ok(())
    })
}

/// Trunk compresses nothing, so there is nothing to weigh in its build.
#[test]
fn the_first_load_stays_within_its_budget() -> Result<()> {
    drive("first-load", View::WIDE, "", |page| {
        let loaded = page.loaded()?;
        ensure!(
            loaded.len() as u64 <= FIRST_LOAD_REQUESTS,
            "{} requests: {loaded:#?}",
            loaded.len()
        );
        if loaded.iter().any(|file| file.compressed) {
            let bytes: u64 = loaded.iter().map(|file| file.bytes).sum();
            ensure!(
                bytes <= FIRST_LOAD_BYTES,
                "{bytes} bytes of {FIRST_LOAD_BYTES}: {loaded:#?}"
            );
        }
        Ok(())
    })
}

#[test]
fn an_engine_that_does_not_arrive_is_said_and_can_be_tried_again() -> Result<()> {
    let page = Page::blank(View::PHONE)?;
    // The engine is cut off for the first document of this tab, and arrives for the second.
    page.before_each_document(
        "if (!sessionStorage.cut) {
             sessionStorage.cut = 'once';
             WebAssembly.instantiateStreaming = WebAssembly.instantiate = () => Promise.reject(new Error('cut off'));
         }",
    )?;
    page.expect_error("cut off");
    page.begin_loading("")?;
    page.wait_for_text("The engine did not load")?;
    page.wait_for_text("A part of the page could not be fetched or started (cut off).")?;
    page.screenshot("did-not-load")?;
    page.click("button", "Try again")?;
    page.wait_until_running()?;
    ensure!(page.names("button")?.iter().all(|name| name != "Try again"));
    page.check_console()
}

/// What becomes of the modules of each document: a JavaScript expression of how many were asked for (`calls`) and of how
/// one comes (`real(...given)`).
fn modules(page: &Page, fate: &str) -> Result<()> {
    page.before_each_document(&format!(
        "{{
             const real = WebAssembly.instantiateStreaming.bind(WebAssembly);
             let calls = 0;
             WebAssembly.instantiateStreaming = (...given) => {{
                 calls += 1;
                 return {fate};
             }};
         }}"
    ))
}

/// Trunk builds the page in one piece, which comes whole or not at all.
#[test]
fn a_part_that_does_not_come_is_said_and_can_be_tried_again() -> Result<()> {
    let page = Page::blank(View::WIDE)?;
    modules(
        &page,
        "calls === 2 ? Promise.reject(new Error('cut off')) : real(...given)",
    )?;
    page.expect_error("cut off");
    page.open("")?;
    page.click("tab", "Events")?;
    page.wait_until(
        "the drawer holds something",
        "Boolean(document.querySelector('[data-testid=events], [data-testid=not-come]'))",
    )?;
    if page.eval("Boolean(document.querySelector('[data-testid=not-come]'))")? == true {
        page.wait_for_text("This part of the page did not come: the server could not be reached.")?;
        page.screenshot("part-did-not-come")?;
        page.click("button", "Try again")?;
        page.wait_until(
            "the events are shown",
            "Boolean(document.querySelector('[data-testid=events]'))",
        )?;
    }
    page.check_console()
}

/// The whole story of the landing, with the part of the page that is fetched later on its way for ever.
#[test]
fn the_landing_needs_only_what_comes_first() -> Result<()> {
    let page = Page::blank(View::WIDE)?;
    modules(&page, "calls === 1 ? real(...given) : new Promise(() => {})")?;
    page.open("")?;
    page.click("button", "Kill the leader")?;
    page.wait_for_text("leads now")?;
    page.wait_until(
        "the story is told",
        "Boolean(document.querySelector('[data-testid=lost]'))",
    )?;
    page.click("button", "all")?;
    page.wait_until(
        "a payment was acknowledged",
        "document.querySelector('.say')?.innerText.match(/to [1-9]/) !== null",
    )?;
    page.click("button", "Kill the leader")?;
    page.wait_for_text("leads now")?;
    page.wait_for_text("Nothing was lost")?;
    page.check_console()
}
