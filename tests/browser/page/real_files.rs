//! Files of a real broker in the page: a folder, a segment beside a replica, a broken one, and one that is none.

use anyhow::{Result, ensure};
use page_tests::{Page, View, drive};
use serde_json::json;

use crate::views::{files, lay_beside, real, real_folder};

/// The names in the tree, with their sizes.
const TREE: &str = "[...document.querySelectorAll('.tree .file')].map((one) => one.title)";

/// Opens a file of the tree and waits for what must then be said of it.
fn open(page: &Page, name: &str, said: &str) -> Result<()> {
    page.eval(&format!(
        "[...document.querySelectorAll('.tree .file')].find((one) => one.title.startsWith({})).click()",
        json!(format!("{name}: "))
    ))?;
    page.wait_for_text(said)
}

#[test]
fn a_folder_of_a_real_broker_is_opened_and_laid_beside_a_replica() -> Result<()> {
    drive("real-folder", View::WIDE, "", |page| {
        real_folder(page, "broker-1")?;
        let tree = page.eval(TREE)?;
        ensure!(
            tree == json!([
                "meta.properties: 20 B",
                "my.orders-1/00000000000000000000.log: 393 B",
                "payments-0: 429 B"
            ]),
            "{tree}"
        );
        open(page, "payments-0", "4 → 105")?;
        open(page, "payments-0/00000000000000000000.timeindex", "1700000000010 → 4")?;
        open(page, "payments-0/00000000000000000000.log", "0–3")?;
        lay_beside(page)?;
        page.wait_for_text("Broker 1's offsets 0 to ")?;
        let line = page.text(".beside tbody tr")?;
        ensure!(
            line.contains("differ: value") && line.contains("early payment 0"),
            "{line}"
        );
        page.click("button", "Back to the simulated replica")?;
        page.wait_for_text("broker 1 · leader")
    })
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() -> Result<()> {
    drive("damaged-files", View::WIDE, "", |page| {
        real_folder(page, "damaged")?;
        open(
            page,
            "00000000000000000000.log",
            "position 105: the checksum of the batch at offset 4 is d87e9475, its bytes give a56fa93a",
        )?;
        page.wait_for_text("position 321: no batch begins here: the file ends before the batch does, a torn tail or a wrong length: by its length field it takes 72 bytes, and 29 are left")?;
        open(page, "00000000000000000005.log", "position 0: no batch begins here")?;
        open(page, "holiday.jpg", "holiday.jpg is no file of a Kafka log by its name")?;
        // One file alone, without the others around it.
        real(page, "damaged/holiday.jpg")?;
        page.wait_for_text("is no file of a Kafka log by its name")?;
        files(page)
    })
}

/// Holds back what is read of files: each piece comes when `held[n]()` is called, in whatever order.
const HOLD: &str = "(() => {
    const read = Blob.prototype.arrayBuffer;
    window.held = [];
    Blob.prototype.arrayBuffer = function () {
        return new Promise((done) => held.push(() => read.call(this).then(done)));
    };
})()";

#[test]
fn a_slice_that_comes_late_takes_nothings_place() -> Result<()> {
    drive("late-slices", View::WIDE, "", |page| {
        real_folder(page, "broker-1")?;
        open(page, "payments-0", "4 → 105")?;
        open(page, "payments-0/00000000000000000000.log", "0–3")?;
        let bytes = |page: &Page| page.text(".bytes .hex");
        let pick = |number: u32| {
            page.eval(&format!(
                "document.querySelectorAll('.strip button.b')[{number}].click()"
            ))
        };
        let are_there = "document.querySelector('.bytes .hex').innerText.length > 100";
        pick(0)?;
        page.wait_until("the first batch's bytes are there", are_there)?;
        let first = bytes(page)?;
        pick(1)?;
        let are_others = format!(
            "{are_there} && document.querySelector('.bytes .hex').innerText !== {}",
            json!(first)
        );
        page.wait_until("the second's are", &are_others)?;
        let whole = bytes(page)?;
        page.eval(HOLD)?;
        pick(0)?;
        page.wait_until("the first is asked for", "held.length === 1")?;
        pick(1)?;
        page.wait_until("the second is asked for", "held.length === 2")?;
        page.eval("held[1]()")?;
        page.wait_until(
            "it is shown",
            &format!("document.querySelector('.bytes .hex').innerText === {}", json!(whole)),
        )?;
        page.eval("held[0]().then(() => new Promise((done) => setTimeout(done, 100)))")?;
        ensure!(bytes(page)? == whole, "the first came late: {}", bytes(page)?);
        Ok(())
    })
}

#[test]
fn a_file_that_is_gone_is_told() -> Result<()> {
    drive("gone", View::WIDE, "", |page| {
        real_folder(page, "broker-1")?;
        open(page, "payments-0", "4 → 105")?;
        open(page, "payments-0/00000000000000000000.log", "0–3")?;
        page.eval("Blob.prototype.arrayBuffer = () => Promise.reject(new Error('gone'))")?;
        page.eval("document.querySelectorAll('.strip button.b')[0].click()")?;
        page.wait_for_text("this file cannot be read any more; open it again")
    })
}
