//! Accessibility audits by axe-core, where npm brought it.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::chromium::{environment, variable};
use crate::page::Page;

/// The rules of WCAG 2.2 AA, and those that axe-core adds to them as good practice.
const RULES: &str = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";

impl Page {
    /// Fails when axe-core finds something in the page as it is now. Where there is no npm to bring it nothing is looked
    /// at; `cargo xtask` says so.
    pub fn audit(&self) -> Result<()> {
        let Ok(path) = variable(environment::AXE) else {
            return Ok(());
        };
        let axe = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        self.eval(&format!("{axe}\n;undefined"))?;
        // What is still on its way is judged where it arrives.
        self.eval("document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity).forEach((one) => one.finish())")?;
        // The bar at the window's foot hides what a person would scroll to, so it takes its place in the page.
        self.eval("document.querySelector('.bar')?.style.setProperty('position', 'static')")?;
        let found = self.eval(&format!(
            "axe.run(document, {{ runOnly: {RULES}, resultTypes: ['violations'] }}).then(({{ violations }}) =>
                violations.flatMap(({{ id, help, nodes }}) =>
                    nodes.map((node) => `${{id}}: ${{help}}: ${{node.target.join(' ')}}: ${{node.failureSummary}}`)))"
        ))?;
        match found.as_array() {
            Some(violations) if violations.is_empty() => Ok(()),
            Some(violations) => bail!("axe-core finds {violations:#?}"),
            None => bail!("axe-core answers {found}"),
        }
    }
}
