//! The playground as somebody on call uses it: reproduce, read why, share it as a text.

use anyhow::{Result, ensure};
use page_tests::{Page, View, drive};

/// Does a line. What somebody does is written down as it was said.
fn do_line(page: &Page, line: &str) -> Result<()> {
    let before = page.select("#scenario")?.value()?;
    page.tab_to("textbox \"Do something\"")?;
    page.select("#line")?.select()?;
    page.insert(line)?;
    page.press("Enter")?;
    let written = format!(
        "document.querySelector('#scenario').value !== {}",
        serde_json::json!(before)
    );
    page.wait_until(&format!("{line} is written down"), &written)
}

fn on_playground(page: &Page, fragment: &str) -> Result<()> {
    page.open(fragment)?;
    page.wait_until(
        "the playground is shown",
        "Boolean(document.querySelector('#scenario'))",
    )
}

#[test]
fn an_offline_partition_is_reproduced_by_keyboard_and_read_again_from_its_text() -> Result<()> {
    drive("playground", View::WIDE, "", |page| {
        on_playground(page, "#/playground")?;
        for line in [
            "send shop payments count=3",
            "run until acked",
            "kill 3",
            "run for 20s",
            "kill 2",
            "run for 20s",
            "kill 1",
            "run for 20s",
        ] {
            do_line(page, line)?;
        }
        page.click("tab", "Metrics")?;
        page.wait_for_text("OfflinePartitionsCount")?;
        let offline = "[...document.querySelectorAll('[data-testid=metrics] tr')]
            .find((row) => row.innerText.includes('OfflinePartitionsCount')).cells[2].innerText";
        ensure!(page.eval(offline)? == "1", "the partition is offline");
        page.screenshot("playground-offline")?;
        let written = page.select("#scenario")?.value()?;
        page.open("#/lessons")?;
        on_playground(page, "#/playground")?;
        page.select("#scenario")?.select()?;
        page.insert(&written)?;
        page.click("button", "Play it")?;
        page.wait_until(
            "it is played from its beginning",
            "!document.querySelector('[data-testid=play-text]')",
        )?;
        ensure!(page.names("alert")?.is_empty(), "nothing is wrong with it");
        Ok(())
    })
}

#[test]
fn a_story_has_an_address_and_its_title_is_shown() -> Result<()> {
    drive("playground-story", View::WIDE, "", |page| {
        on_playground(page, "#/playground/v01a-kip-101-keeps-the-record")?;
        page.wait_for_text("A restarted follower cuts nothing by itself")?;
        page.open("#/playground/no-such-story")?;
        page.expect_error("404");
        page.wait_for_text("This story did not come: the server answered 404.")
    })
}

#[test]
fn a_story_is_opened_once_it_is_chosen_and_the_list_keeps_the_focus() -> Result<()> {
    drive("playground-choose", View::WIDE, "", |page| {
        on_playground(page, "#/playground")?;
        do_line(page, "kill 1")?;
        page.tab_to("combobox \"Begin with\"")?;
        for times in 1..=2 {
            let before = page.eval("location.hash")?;
            page.press("ArrowDown")?;
            ensure!(page.eval("location.hash")? == before, "it is only chosen");
            page.press("Enter")?;
            let moved = format!("location.hash !== {before} && document.activeElement.id === 'story'");
            page.wait_until(&format!("story {times} is there, and the list has the focus"), &moved)?;
            page.wait_for_text("What you had on the playground before is set aside.")?;
        }
        Ok(())
    })
}

#[test]
fn a_text_with_mistakes_is_told_and_nothing_is_lost() -> Result<()> {
    drive("playground-mistakes", View::PHONE, "", |page| {
        on_playground(page, "#/playground")?;
        do_line(page, "kill 1")?;
        page.select("#scenario")?.select()?;
        page.insert("brokers three\nnonsense\n")?;
        page.click("button", "Play it")?;
        page.wait_for_text("That scenario cannot be played; the run before it is still there.")?;
        page.screenshot("playground-mistakes")?;
        ensure!(
            page.select("#scenario")?.value()? == "brokers three\nnonsense\n",
            "it can be mended"
        );
        page.click("button", "Discard")?;
        ensure!(page.select("#scenario")?.value()?.ends_with("kill 1\n"));
        Ok(())
    })
}

const INCIDENT: &str = "\
# Seen on a Tuesday.
brokers 3
topic payments replicas=3
producer shop
send shop payments count=3
run until acked
kill 1
run until leader payments-0 = 2
";

fn play(page: &Page, text: &str) -> Result<()> {
    page.select("#scenario")?.select()?;
    page.insert(text)?;
    page.click("button", "Play it")?;
    page.wait_until("it is played", "!document.querySelector('[data-testid=play-text]')")
}

#[test]
fn the_whole_text_stays_with_a_mark_at_the_present() -> Result<()> {
    drive("playground-whole", View::WIDE, "", |page| {
        on_playground(page, "#/playground")?;
        play(page, INCIDENT)?;
        ensure!(page.select("#scenario")?.value()? == INCIDENT);
        ensure!(page.text("#scenario-present")? == "Played to line 4 of 8.");
        page.screenshot("playground-to-come")?;
        page.click("button", "To the end")?;
        page.wait_for_text("All of it is played.")?;
        page.click("button", "Begin anew")?;
        page.wait_for_text("Played to line 4 of 8.")?;
        ensure!(page.select("#scenario")?.value()? == INCIDENT);
        Ok(())
    })
}

#[test]
fn the_playground_is_there_again_after_the_page_was_loaded_again() -> Result<()> {
    drive("playground-reload", View::WIDE, "", |page| {
        let story = "#/playground/v01a-kip-101-keeps-the-record";
        on_playground(page, story)?;
        do_line(page, "kill 1")?;
        let written = page.select("#scenario")?.value()?;
        page.reload()?;
        page.wait_until("it is shown", "Boolean(document.querySelector('#scenario'))")?;
        ensure!(page.select("#scenario")?.value()? == written);
        page.click("button", "Begin anew")?;
        page.wait_for_text("What you had on the playground before is set aside.")?;
        ensure!(page.eval("location.hash")? == story, "it is still that story");
        ensure!(!page.select("#scenario")?.value()?.contains("kill 1\n"));
        page.click("button", "Undo")?;
        page.wait_until(
            "it is brought back",
            &format!(
                "document.querySelector('#scenario').value === {}",
                serde_json::json!(written)
            ),
        )
    })
}

#[test]
fn a_file_may_be_dropped_anywhere() -> Result<()> {
    drive("playground-drop", View::WIDE, "", |page| {
        on_playground(page, "#/playground/v01a-kip-101-keeps-the-record")?;
        let drop = format!(
            "(() => {{
                const data = new DataTransfer();
                data.items.add(new File([{}], 'incident.txt', {{ type: 'text/plain' }}));
                const at = document.querySelector('main');
                const events = ['dragover', 'drop'].map((name) =>
                    new DragEvent(name, {{ bubbles: true, cancelable: true, dataTransfer: data }}));
                events.forEach((event) => at.dispatchEvent(event));
                return events.every((event) => event.defaultPrevented);
            }})()",
            serde_json::json!(INCIDENT)
        );
        ensure!(page.eval(&drop)? == true, "the browser would open the file");
        page.wait_until(
            "it is played",
            &format!(
                "document.querySelector('#scenario').value === {}",
                serde_json::json!(INCIDENT)
            ),
        )?;
        ensure!(
            page.eval("location.hash")? == "#/playground",
            "it is no longer the story"
        );
        Ok(())
    })
}

/// What a browser's clipboard may be, and what is then said of copying.
const CLIPBOARDS: [(&str, &str, &str); 3] = [
    (
        "undefined",
        "copied: this browser lets a page copy only over https or on localhost;",
        "Copy",
    ),
    (
        "{ writeText: () => Promise.reject(new Error('Write permission denied.')) }",
        "copied: Write permission denied;",
        "Copy",
    ),
    ("{ writeText: async (text) => { window.copied = text } }", "", "Copied"),
];

fn give_clipboard(page: &Page, clipboard: &str) -> Result<()> {
    let given = format!("Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard}, configurable: true }})");
    page.eval(&format!("void {given}")).map(drop)
}

#[test]
fn what_came_of_copying_is_said() -> Result<()> {
    drive("copying", View::WIDE, "", |page| {
        on_playground(page, "#/playground")?;
        for (clipboard, said, label) in CLIPBOARDS {
            give_clipboard(page, clipboard)?;
            page.click("button", "Copy")?;
            let is_named =
                format!("[...document.querySelectorAll('.chips button')].some((one) => one.innerText === '{label}')");
            page.wait_until("it is said on the button", &is_named)?;
            match said {
                "" => page.wait_until(
                    "it is copied",
                    "window.copied === document.querySelector('#scenario').value && !document.querySelector('.under.warn')",
                )?,
                said => page.wait_for_text(&format!("The scenario is not {said} select its text and copy it by hand."))?,
            }
        }
        page.open("#/")?;
        page.open_paused()?;
        for (clipboard, said, _) in CLIPBOARDS {
            give_clipboard(page, clipboard)?;
            page.press("l")?;
            match said {
                "" => page.wait_for_text("This scene is copied as text up to this step.")?,
                said => page.wait_for_text(&format!("This scene is not {said} only the playground"))?,
            }
        }
        Ok(())
    })
}

#[test]
fn a_file_that_cannot_be_read_is_told() -> Result<()> {
    drive("playground-unread", View::WIDE, "", |page| {
        on_playground(page, "#/playground")?;
        let before = page.select("#scenario")?.value()?;
        page.eval("void (Blob.prototype.arrayBuffer = () => Promise.reject(new Error('It was moved.')))")?;
        let drop = "(() => {
            const data = new DataTransfer();
            data.items.add(new File(['brokers 3'], 'incident.txt', { type: 'text/plain' }));
            const drop = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data });
            document.querySelector('main').dispatchEvent(drop);
        })()";
        page.eval(drop)?;
        page.wait_for_text("incident.txt cannot be read (It was moved); open it again")?;
        ensure!(page.select("#scenario")?.value()? == before);
        page.open("#/lessons")?;
        page.wait_for_text("A lesson of your own")?;
        page.eval("void (Blob.prototype.arrayBuffer = () => Promise.reject(new Error('It was moved.')))")?;
        let path = format!("{}/page/files/mistakes.md", env!("CARGO_MANIFEST_DIR"));
        page.select("#lesson-file")?.choose_file(&path)?;
        page.wait_for_text("mistakes.md cannot be read (It was moved); open it again")
    })
}
