//! What axe-core says of each view. The names begin with `audit_`, so that they can be left out where it is missing.

use anyhow::Result;
use page_tests::{View, drive};

#[test]
fn audit_of_the_landing_scene() -> Result<()> {
    for view in [View::WIDE, View::WIDE.dark(), View::PHONE, View::PHONE.dark()] {
        drive("audit-landing", view, "", |page| page.audit())?;
    }
    Ok(())
}
