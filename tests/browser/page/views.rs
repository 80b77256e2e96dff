//! Everything that the page can show, each thing with the way to it.

use anyhow::{Context, Result, ensure};
use page_tests::Page;
use serde_json::json;

/// Something that the page can show.
pub struct Shown {
    /// What it is, for errors and pictures.
    pub name: &'static str,
    /// Leads there from anywhere.
    pub begin: fn(&Page) -> Result<()>,
}

/// All of them.
pub const VIEWS: [Shown; 35] = [
    shown("landing", landing),
    shown("landing-lost", landing_lost),
    shown("landing-kept", landing_kept),
    shown("lessons", lessons),
    shown("lesson", |page| lesson(page, "02-the-log", 0)),
    shown("partitions", |page| lesson(page, "02-the-log", 3)),
    shown("records-asked", |page| lesson(page, "06-the-high-watermark", 1)),
    shown("option-asked", |page| lesson(page, "08-crash-and-recovery", 3)),
    shown("stores", |page| lesson(page, "01-log-first", 2)),
    shown("stores-crashed", stores_crashed),
    shown("puzzle", |page| lesson(page, "07-what-acks-is-worth", 5)),
    shown("design", |page| lesson(page, "18-design-a-topic", 12)),
    shown("design-tried", design_tried),
    shown("help", |page| pressed(page, "button", "Help: keys", "dialog[open]")),
    shown("settings", |page| {
        pressed(page, "button", "Settings of the page", "dialog[open]")
    }),
    shown("faults", |page| {
        pressed(page, "button", "Break broker 1: what can happen to it", MENU)
    }),
    shown("faults-of-one-that-is-down", down),
    shown("path", |page| pressed(page, "button", PATH, "[data-testid=link-menu]")),
    shown("zombie", |page| {
        lesson(page, "11-the-zombie-leader", 2)?;
        there(page, "[data-testid=belief-1]")
    }),
    shown("groups", |page| {
        lesson(page, "17-groups", 2)?;
        page.click("tab", "Clients")?;
        there(page, "[data-testid=clients]")
    }),
    shown("clients", |page| {
        pressed(page, "tab", "Clients", "[data-testid=clients]")
    }),
    shown("controller", |page| {
        pressed(page, "tab", "Controller", "[data-testid=known]")
    }),
    shown("events", |page| pressed(page, "tab", "Events", "[data-testid=events]")),
    shown("table", |page| {
        pressed(page, "tab", "Table", "[data-testid=cluster-table]")
    }),
    shown("playground", playground),
    shown("metrics", |page| {
        pressed(page, "tab", "Metrics", "[data-testid=metrics]")
    }),
    shown("files", files),
    shown("file-looked-up", looked_up),
    shown("file-index", index),
    shown("real-file", real_segment),
    shown("real-file-beside", beside),
    shown("real-file-damaged", |page| {
        real(page, "damaged/00000000000000000000.log")?;
        page.wait_for_text("a torn tail")
    }),
    shown("past-changed", past_changed),
    shown("lesson-with-mistakes", with_mistakes),
    shown("after-a-crash", after_a_crash),
];

const fn shown(name: &'static str, begin: fn(&Page) -> Result<()>) -> Shown {
    Shown { name, begin }
}

/// The landing, at rest after a while, with a record in the inspector.
fn landing(page: &Page) -> Result<()> {
    page.open_paused()?;
    page.eval("document.querySelector('[aria-label=\"20 steps a second\"]').click()")?;
    let begins = step_number(page)?;
    ensure!(
        begins <= STANDS_AT,
        "the landing begins with step {begins}: let it stand later"
    );
    while step_number(page)? < STANDS_AT {
        step(page)?;
    }
    page.eval("document.querySelector('[data-cell^=\"1/\"]').click()")?;
    page.wait_until(
        "a record is inspected",
        "Boolean(document.querySelector('[data-testid=inspected]'))",
    )
}

/// Where a run stands decides which controls there are, so it is always the same step: a few behind the one that the landing
/// begins with.
const STANDS_AT: u64 = 40;

const STEP_NUMBER: &str = "Number(document.querySelector('.caption .n').innerText)";

fn step_number(page: &Page) -> Result<u64> {
    page.eval(STEP_NUMBER)?.as_u64().context("the caption has a number")
}

fn step(page: &Page) -> Result<()> {
    let at = step_number(page)?;
    page.eval("document.querySelector('[aria-label=\"One step\"]').click()")?;
    page.wait_until("a step was taken", &format!("{STEP_NUMBER} > {at}"))
}

fn landing_lost(page: &Page) -> Result<()> {
    landing(page)?;
    page.eval("document.querySelector('[data-testid=kill-leader]').click()")?;
    page.wait_until(
        "the story is told",
        "Boolean(document.querySelector('[data-testid=lost]'))",
    )
}

fn landing_kept(page: &Page) -> Result<()> {
    const KILL: &str = "[data-testid=kill-leader]";
    landing_lost(page)?;
    // It begins anew and plays: slowly, so that it is held at the same step each time.
    page.eval("document.querySelector('[aria-label=\"1 step a second\"]').click()")?;
    page.eval("document.querySelector('[data-testid=again-all]').click()")?;
    there(page, KILL)?;
    page.hold_still()?;
    page.eval("document.querySelector('[aria-label=\"20 steps a second\"]').click()")?;
    while page.eval("document.querySelector('.say').innerText.includes('to 0 of')")? == true {
        step(page)?;
    }
    page.eval(&format!("document.querySelector('{KILL}').click()"))?;
    page.wait_for_text("Nothing was lost")
}

fn lessons(page: &Page) -> Result<()> {
    page.open_after("#/lessons", &progress("02-the-log", 2), "")?;
    there(page, "#lesson-file")
}

/// A lesson at one of its stops.
pub fn lesson(page: &Page, slug: &str, stop: u32) -> Result<()> {
    page.open_after(&format!("#/lesson/{slug}"), &progress(slug, stop), "")?;
    page.wait_until(
        "the lesson is shown",
        "Boolean(document.querySelector('aside[aria-label=Lesson] h1'))",
    )
}

/// A design that was tried against any one fault, and does not stand all.
fn design_tried(page: &Page) -> Result<()> {
    lesson(page, "18-design-a-topic", 12)?;
    there(page, "#design-faults")?;
    page.eval(
        "(() => {
            const faults = document.getElementById('design-faults');
            faults.value = '1';
            faults.dispatchEvent(new Event('input', { bubbles: true }));
        })()",
    )?;
    page.click("button", "Try every fault")?;
    page.wait_for_text("It breaks under")
}

/// What is stored of somebody who has come so far in a lesson.
pub fn progress(slug: &str, stop: u32) -> String {
    json!({ "version": 1, "lessons": { slug: { "stop": stop } } }).to_string()
}

/// The landing with something pressed, once what it opens is there.
fn pressed(page: &Page, role: &str, name: &str, shown: &str) -> Result<()> {
    landing(page)?;
    page.click(role, name)?;
    there(page, shown)
}

const PATH: &str = "Path between broker 1 and broker 2, whole: what can happen to it";

const MENU: &str = "[data-testid=fault-menu]";

/// Waits for what may have to be fetched first.
fn there(page: &Page, selector: &str) -> Result<()> {
    let there = format!("Boolean(document.querySelector('{selector}'))");
    page.wait_until(&format!("{selector} is there"), &there)
}

/// The folder of a simulated replica, its newest segment open.
pub fn files(page: &Page) -> Result<()> {
    pressed(page, "tab", "Files", ".tree select")?;
    page.wait_until(
        "the folder is shown",
        "Boolean(document.querySelector('.tree select') && document.querySelector('.strip .b'))",
    )
}

/// A look-up in it, told to its second step.
fn looked_up(page: &Page) -> Result<()> {
    files(page)?;
    page.select("#look-up")?.select()?;
    page.insert("3")?;
    page.press("Enter")?;
    page.click("button", "Next step")?;
    page.wait_until("it is told", "document.querySelectorAll('.steps li').length === 2")
}

/// An index beside its log.
fn index(page: &Page) -> Result<()> {
    files(page)?;
    page.eval("document.querySelector('.tree .file[title*=\".timeindex:\"]').click()")?;
    page.wait_for_text("The log beside it")
}

/// A file of this folder, opened as one of this machine.
pub fn real(page: &Page, path: &str) -> Result<()> {
    files(page)?;
    choose(page, "#real-files", path)
}

/// The same with a whole folder.
pub fn real_folder(page: &Page, path: &str) -> Result<()> {
    files(page)?;
    choose(page, "#real-folder", path)
}

/// A sound folder, its newest segment read: until then, what the simulated one holds is still shown.
fn real_segment(page: &Page) -> Result<()> {
    real_folder(page, "broker-1")?;
    segment_is_read(page)
}

fn segment_is_read(page: &Page) -> Result<()> {
    there(page, "[data-testid=beside] button")
}

fn choose(page: &Page, input: &str, path: &str) -> Result<()> {
    let path = format!("{}/page/files/{path}", env!("CARGO_MANIFEST_DIR"));
    page.select(input)?.choose_file(&path)?;
    page.wait_for_text("Files of this machine")
}

fn beside(page: &Page) -> Result<()> {
    real_folder(page, "broker-1")?;
    lay_beside(page)
}

/// The segment that is open beside the first broker's replica, once it is read.
pub fn lay_beside(page: &Page) -> Result<()> {
    segment_is_read(page)?;
    page.eval("document.querySelector('[data-testid=beside] button').click()")?;
    page.wait_until(
        "they are compared",
        "Boolean(document.querySelector('.beside tbody tr'))",
    )
}

fn playground(page: &Page) -> Result<()> {
    page.open_after("#/playground", "", "")?;
    there(page, "#scenario")
}

fn stores_crashed(page: &Page) -> Result<()> {
    lesson(page, "01-log-first", 2)?;
    page.eval("document.querySelector('[data-testid=crash]').click()")?;
    page.wait_until(
        "the power is gone",
        "document.querySelector('[data-testid=crash]').disabled",
    )
}

fn down(page: &Page) -> Result<()> {
    lesson(page, "08-crash-and-recovery", 2)?;
    page.click("button", "Start broker 1: what can happen to it")?;
    there(page, MENU)
}

fn past_changed(page: &Page) -> Result<()> {
    landing(page)?;
    page.press("Home")?;
    page.press("p")?;
    page.wait_for_text("You changed the past")
}

/// Opens a lesson file of this folder.
pub fn open_file(page: &Page, name: &str) -> Result<()> {
    page.open_after("#/lessons", "", "")?;
    page.wait_for_text("A lesson of your own")?;
    let path = format!("{}/page/files/{name}", env!("CARGO_MANIFEST_DIR"));
    page.select("#lesson-file")?.choose_file(&path)
}

fn with_mistakes(page: &Page) -> Result<()> {
    open_file(page, "mistakes.md")?;
    page.wait_for_text("This lesson's file has mistakes")
}

fn after_a_crash(page: &Page) -> Result<()> {
    let scenario =
        "brokers 3\ntopic payments replicas=3\nproducer shop\nsend shop payments count=5 every=50ms\nrun for 1s\n";
    let run = json!({ "scenario": scenario, "step": 3, "position": 5, "crashed": "panicked on purpose" });
    page.open_after("", "", &run.to_string())?;
    page.wait_for_text("The engine stopped, and was started again")?;
    page.wait_until(
        "the run is back at its step",
        "document.querySelector('.caption .n')?.innerText === '3'",
    )
}
