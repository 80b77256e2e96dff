//! Everything that the page shows, in every window and in every way of looking at it.

use anyhow::{Context, Result, ensure};
use page_tests::{Page, View, drive};

use crate::views::VIEWS;

/// What reaches past the window's side, by its class or name.
const WIDER: &str = "(() => {
    const room = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= room) return [];
    return [...document.body.querySelectorAll('*')]
        .filter((one) => one.getBoundingClientRect().right > room + 1 && one.checkVisibility())
        .map((one) => `${one.localName}.${one.className}`).slice(0, 8);
})()";

/// Controls that are smaller than a finger needs: 24 CSS pixels each way, unless they stand in a line of text or apart.
const SMALL: &str = "[...document.querySelectorAll('button, a[href], input, summary')]
    .filter((one) => one.checkVisibility() && !one.closest('p, li, label, .seg, .rule') && !one.matches('.skip, .cell, .pill'))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.height < 23.5)
    .map(([one, box]) => `${one.localName} ${one.innerText || one.ariaLabel} ${box.width}×${box.height}`)";

fn holds(page: &Page, name: &str) -> Result<()> {
    let wider = page.eval(WIDER)?;
    ensure!(
        wider.as_array().is_some_and(Vec::is_empty),
        "{name} reaches past the window's side: {wider}"
    );
    let small = page.eval(SMALL)?;
    ensure!(
        small.as_array().is_some_and(Vec::is_empty),
        "{name} has controls that are too small: {small}"
    );
    Ok(())
}

fn every_view(view: View, picture: &str) -> Result<()> {
    drive(picture, view, "", |page| {
        for shown in VIEWS {
            (shown.begin)(page).context(shown.name)?;
            holds(page, shown.name)?;
            page.screenshot(&format!("{}-{picture}", shown.name))?;
            page.audit().context(shown.name)?;
        }
        Ok(())
    })
}

#[test]
fn everything_fits_and_is_accessible_at_1440_pixels() -> Result<()> {
    every_view(View::WIDE, "1440")
}

#[test]
fn everything_fits_and_is_accessible_at_1024_pixels_in_dark() -> Result<()> {
    every_view(View::MEDIUM.dark(), "1024-dark")
}

#[test]
fn everything_fits_and_is_accessible_at_390_pixels() -> Result<()> {
    every_view(View::PHONE, "390")
}

#[test]
fn everything_fits_and_is_accessible_at_320_pixels_in_dark() -> Result<()> {
    every_view(View::NARROWEST.dark().still(), "320-dark-still")
}

#[test]
fn everything_fits_and_is_accessible_in_the_systems_own_colours() -> Result<()> {
    every_view(View::WIDE.forced(), "1440-forced")
}

/// Who asks for less motion sees no flight: a message stands on its way.
#[test]
fn nothing_moves_for_those_who_ask_for_it() -> Result<()> {
    let moving = "document.getAnimations().filter((one) => one.playState === 'running').length";
    for (view, still) in [(View::WIDE, false), (View::WIDE.still(), true)] {
        drive("motion", view, "", |page| {
            page.wait_until(
                "it plays",
                "Number(document.querySelector('.caption .n')?.innerText) > 3",
            )?;
            let mut most = 0;
            for _ in 0..30 {
                most = most.max(page.eval(moving)?.as_u64().unwrap_or_default());
                page.eval("new Promise((frame) => requestAnimationFrame(frame))")?;
            }
            ensure!((most == 0) == still, "{most} animations");
            Ok(())
        })?;
    }
    Ok(())
}
