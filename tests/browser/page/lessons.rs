//! Every lesson from its first stop to its last by keyboard alone: questions answered, the puzzle solved.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use page_tests::{Page, View, drive};
use serde_json::json;

/// More steps than any lesson has between opening and end, each a press of a key or two.
const MOST_PRESSES: usize = 400;

const SOLVED: &str = "Boolean(document.querySelector('[data-testid=puzzle].good'))";

/// The lessons are shared out among as many tests, which can run at once.
const SHARES: usize = 2;

#[test]
fn every_lesson_is_read_to_its_end_by_keyboard() -> Result<()> {
    read_share("lessons", 0)
}

#[test]
fn every_lesson_is_read_to_its_end_by_keyboard_in_a_second_share() -> Result<()> {
    read_share("lessons-second", 1)
}

fn read_share(name: &str, share: usize) -> Result<()> {
    let mut slugs = Vec::new();
    drive(name, View::WIDE, "#/lessons", |page| {
        page.wait_for_text("A lesson of your own")?;
        let links = page.eval("[...document.querySelectorAll('main ol a')].map((link) => link.hash)")?;
        let links = links.as_array().into_iter().flatten().filter_map(|link| link.as_str());
        slugs.extend(links.filter_map(|link| Some(link.strip_prefix("#/lesson/")?.to_owned())));
        Ok(())
    })?;
    let course = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../static/lessons"))?;
    let is_lesson = |name: &str| name.starts_with(|c: char| c.is_ascii_digit()) && name.ends_with(".md");
    let all = course
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_lesson(name))
        .count();
    ensure!(slugs.len() == all, "{all} lessons, of which the list has {slugs:?}");
    for slug in slugs.into_iter().skip(share).step_by(SHARES) {
        drive(&format!("lesson-{slug}"), View::WIDE, "", |page| read(page, &slug))?;
    }
    Ok(())
}

/// Reads one lesson: from the landing through the list to *done*.
fn read(page: &Page, slug: &str) -> Result<()> {
    page.tab_to("link \"Lessons\"")?;
    page.press("Enter")?;
    page.wait_for_text("Each is one idea")?;
    while page.eval("document.activeElement.hash")? != json!(format!("#/lesson/{slug}")) {
        page.tab_to("link ")?;
    }
    page.press("Enter")?;
    page.wait_until(
        "the lesson is open",
        "Boolean(document.querySelector('[data-testid=next]'))",
    )?;
    page.tab_to("button \"20 steps a second\"")?;
    page.press("Enter")?;

    let (mut asked, mut told) = (0, 0);
    for _ in 0..MOST_PRESSES {
        match now(page)?.as_str() {
            "asks" => {
                asked += 1;
                answer(page)?;
            }
            "puzzles" => solve(page, slug)?,
            "designs" => design(page, slug)?,
            "plays" => page.wait_until(
                "it stands",
                "!document.querySelector('[data-testid=play][aria-label=Pause]')",
            )?,
            "waits" => {
                page.press("PageDown")?;
                page.wait_until(
                    "it stands",
                    "!document.querySelector('[data-testid=play][aria-label=Pause]')",
                )?;
            }
            "ends" => {
                return finished(page, slug, asked, told);
            }
            other => bail!("the page is in no state that a reader knows: {other}"),
        }
        told = told.max(outcomes(page)?);
    }
    bail!("{MOST_PRESSES} presses do not lead to the end")
}

/// What a reader has before them.
fn now(page: &Page) -> Result<String> {
    let state = page.eval(
        "(() => {
            const has = (what) => Boolean(document.querySelector(what));
            if (has('[data-testid=play][aria-label=Pause]')) return 'plays';
            if (has('[data-testid=prediction]')) return 'asks';
            if (has('[data-testid=puzzle]:not(.good)')) return 'puzzles';
            if (has('[data-testid=design]:not(.good)')) return 'designs';
            return has('[data-testid=next]') ? 'waits' : 'ends';
        })()",
    )?;
    Ok(state.as_str().unwrap_or_default().to_owned())
}

fn outcomes(page: &Page) -> Result<usize> {
    // Those of earlier stops are gone from the page, so they are counted by their questions.
    let count = page.eval(
        "(window.questions ??= new Set(),
          document.querySelectorAll('[data-testid=outcome]').forEach((one) => questions.add(one.innerText)),
          questions.size)",
    )?;
    Ok(count.as_u64().unwrap_or_default() as usize)
}

/// Answers a question with its first option, or with something in the picture.
fn answer(page: &Page) -> Result<()> {
    let options = page.eval("document.querySelectorAll('[data-testid=prediction] input[type=radio]').length")?;
    if options.as_u64() > Some(0) {
        page.tab_to("radio ")?;
        page.press(" ")?;
    } else {
        let pickable = "document.activeElement.matches('[data-cell], .writes button')";
        while page.eval(pickable)? == json!(false) {
            page.tab_to("button ")?;
        }
        if page.eval("Boolean(document.activeElement.dataset.cell)")? == json!(true) {
            page.press("ArrowRight")?;
        }
        page.press("Enter")?;
        page.wait_until(
            "a record is picked",
            "!document.querySelector('[data-testid=prediction]').innerText.includes('none yet')",
        )?;
    }
    page.tab_to("button \"That is my answer\"")?;
    page.press("Enter")?;
    page.wait_for_text("The run will tell.")
}

/// Types the solution that the lesson's file gives.
fn solve(page: &Page, slug: &str) -> Result<()> {
    for line in solution(slug)? {
        if page.eval(SOLVED)? == json!(true) {
            break;
        }
        page.tab_to("textbox \"An act, as in a scenario\"")?;
        page.insert(&line)?;
        page.press("Enter")?;
        page.wait_until(
            &format!("'{line}' is done"),
            "['', undefined].includes(document.getElementById('do')?.value)",
        )?;
        let refused = page.eval("document.querySelector('.notice.error')?.innerText ?? null")?;
        ensure!(refused.is_null(), "'{line}' is refused: {refused}");
    }
    page.wait_until("the puzzle is solved", SOLVED)
}

/// Types the design that the lesson's file gives, and has it tried.
fn design(page: &Page, slug: &str) -> Result<()> {
    let text = file(slug)?;
    let (_, solution) = text.split_once("\nsolution: ").context("the design has no solution")?;
    let solution = solution.lines().next().unwrap_or_default();
    let fields = ["Partitions", "Replication factor", "min.insync.replicas"];
    for (field, word) in fields.iter().zip(solution.split(' ')) {
        let (_, number) = word.split_once('=').context("the solution has no number")?;
        page.tab_to(&format!("spinbutton \"{field}\""))?;
        page.press("Control+a")?;
        page.insert(number)?;
    }
    page.press("Enter")?;
    page.wait_until(
        "the design stands everything",
        "Boolean(document.querySelector('[data-testid=design].good'))",
    )
}

/// The text of a lesson.
fn file(slug: &str) -> Result<String> {
    let path = format!("{}/../../static/lessons/{slug}.md", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}

fn solution(slug: &str) -> Result<Vec<String>> {
    let text = file(slug)?;
    let (_, solution) = text.split_once("\nsolution:\n").context("the puzzle has no solution")?;
    let lines = solution.lines().take_while(|line| !line.starts_with("```"));
    Ok(lines.map(str::to_owned).collect())
}

/// At the end all that was asked was told, and the list says so.
fn finished(page: &Page, slug: &str, asked: usize, told: usize) -> Result<()> {
    ensure!(
        asked > 0 && asked == told,
        "{asked} questions, {told} answers by the run"
    );
    page.wait_for_text("In a real cluster also…")?;
    page.tab_to("link \"Lessons\"")?;
    page.press("Enter")?;
    page.wait_for_text("Each is one idea")?;
    let entry = page.text(&format!("main ol a[href='#/lesson/{slug}']"))?;
    let text = file(slug)?;
    let asks = ["```puzzle", "```design"].iter().any(|fence| text.contains(fence));
    let done = if asks { "✓ done, puzzle in" } else { "✓ done" };
    ensure!(entry.contains(done), "{entry}");
    Ok(())
}
