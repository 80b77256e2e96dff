//! What axe-core says of everything that the page shows. The names begin with `audit_`, so that they can be left out
//! where it is missing.

use anyhow::{Context, Result};
use page_tests::{View, drive};

use crate::views::VIEWS;

fn audit(view: View) -> Result<()> {
    drive("audit", view, "", |page| {
        for shown in VIEWS {
            (shown.begin)(page).context(shown.name)?;
            page.audit().context(shown.name)?;
        }
        Ok(())
    })
}

#[test]
fn audit_light() -> Result<()> {
    audit(View::WIDE)
}

#[test]
fn audit_dark() -> Result<()> {
    audit(View::MEDIUM.dark())
}

#[test]
fn audit_on_a_phone() -> Result<()> {
    audit(View::PHONE)
}

#[test]
fn audit_on_a_phone_in_the_dark() -> Result<()> {
    audit(View::NARROWEST.dark())
}

#[test]
fn audit_in_the_systems_own_colours() -> Result<()> {
    audit(View::WIDE.forced())
}
