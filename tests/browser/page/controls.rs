//! Every control that can be seen does something, in everything that the page shows.

use anyhow::{Context, Result, ensure};
use page_tests::{View, drive};

use crate::views::VIEWS;

/// The views are shared out among as many tests, which can run at once.
const SHARES: usize = 3;

#[test]
fn every_visible_control_does_something() -> Result<()> {
    use_share("controls", 0)
}

#[test]
fn every_visible_control_does_something_in_a_second_share_of_the_views() -> Result<()> {
    use_share("controls-second", 1)
}

#[test]
fn every_visible_control_does_something_in_a_third_share_of_the_views() -> Result<()> {
    use_share("controls-third", 2)
}

fn use_share(name: &str, share: usize) -> Result<()> {
    drive(name, View::WIDE, "", |page| {
        for shown in VIEWS.iter().skip(share).step_by(SHARES) {
            let used = page.use_every_control(shown.begin).context(shown.name)?;
            eprintln!("{}: {used} controls", shown.name);
            ensure!(page.eval("highwater.crashed === null")? == true || shown.name == "after-a-crash");
        }
        Ok(())
    })
}

/// A phone shows the same in another order, and not always the same.
#[test]
fn every_visible_control_does_something_on_a_phone() -> Result<()> {
    drive("controls-phone", View::PHONE, "", |page| {
        for shown in VIEWS
            .iter()
            .filter(|shown| ["landing", "puzzle", "records-asked"].contains(&shown.name))
        {
            page.use_every_control(shown.begin).context(shown.name)?;
        }
        Ok(())
    })
}

/// The other tests rest on this one.
#[test]
fn a_dead_control_is_found() -> Result<()> {
    drive("dead-control", View::WIDE, "#/lessons", |page| {
        page.wait_for_text("A lesson of your own")?;
        page.eval("document.querySelector('main').insertAdjacentHTML('afterbegin', '<button>Does nothing</button>')")?;
        let dead = page
            .controls()?
            .into_iter()
            .find(|one| one.key.contains("Does nothing"));
        let dead = dead.context("the dead control is not seen")?;
        let said = page.use_control(&dead).map_err(|error| format!("{error:#}"));
        ensure!(
            said.as_ref().is_err_and(|said| said.contains("does nothing")),
            "{said:?}"
        );
        Ok(())
    })
}
