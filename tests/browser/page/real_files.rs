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
