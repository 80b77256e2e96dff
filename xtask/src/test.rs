//! `cargo xtask test`: everything that must hold, and at the end what was looked at.
//!
//! A part that fails does not keep the others from running, so that one run tells all.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::dist::{self, Compression};
use crate::kafka;
use crate::page::{self, Kind};
use crate::server::{self, Reload, Site};
use crate::tools::{self, Browser, Chromium};
use crate::workspace::{self, Workspace, step};

/// What can be run alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Format, lints, documentation, and the tests that need no browser.
    Native,
    /// The engine in a browser.
    Wasm,
    /// Our files against a real Kafka's tools and log loader.
    Kafka,
    /// The page in a browser.
    Page,
}

impl Part {
    /// Every part, in the order of running.
    pub const ALL: [Part; 4] = [Part::Native, Part::Wasm, Part::Kafka, Part::Page];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Native => "native",
            Part::Wasm => "wasm",
            Part::Kafka => "kafka",
            Part::Page => "page",
        }
    }
}

/// How many tests went which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    fn line(&self) -> String {
        let skipped = if self.skipped > 0 {
            format!(", {} skipped", self.skipped)
        } else {
            String::new()
        };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }
}

/// One thing that was looked at, or would have been.
struct Outcome {
    name: String,
    came: Came,
}

/// What came of it.
enum Came {
    /// It was looked at, and took so long.
    Counted(Counts, Duration),
    /// Something that it needs is not there.
    LeftOut(String),
}

struct Run {
    workspace: Workspace,
    outcomes: Vec<Outcome>,
}

/// Runs `parts` and prints what came of them.
pub fn run(parts: &BTreeSet<Part>) -> Result<ExitCode> {
    let mut run = Run {
        workspace: Workspace::find()?,
        outcomes: Vec::new(),
    };
    for part in parts {
        let begun = run.outcomes.len();
        let outcome = match part {
            Part::Native => run.native(),
            Part::Wasm => run.wasm(),
            Part::Kafka => run.kafka(),
            Part::Page => run.page(),
        };
        // What a part needs and does not get is a failure of that part.
        if let Err(error) = outcome {
            eprintln!("error: {error:#}");
            let counts = Counts {
                failed: 1,
                ..Counts::default()
            };
            run.counted(&format!("{}: preparing", part.name()), counts, Duration::ZERO);
        }
        debug_assert!(run.outcomes.len() > begun, "a part looks at something");
    }
    Ok(run.report())
}

impl Run {
    fn native(&mut self) -> Result<()> {
        page::add_target(&self.workspace)?;
        let wasm = ["--target", page::TARGET];
        // As the page is served: its program in two parts.
        let page = [&wasm[..], &["--features", "split"]].concat();
        self.check("format", &["fmt", "--all", "--check"], &[]);
        let lint = ["clippy", "--locked", "--workspace", "--all-targets"];
        self.check("clippy", &[&lint[..], &["--", "-D", "warnings"]].concat(), &[]);
        let lint = ["clippy", "--locked", "--package", "highwater", "--lib", "--bins"];
        self.check(
            "clippy, wasm32",
            &[&lint[..], &page, &["--", "-D", "warnings"]].concat(),
            &[],
        );
        let lint = ["clippy", "--locked", "--package", "wasm-tests", "--all-targets"];
        self.check(
            "clippy, tests on wasm32",
            &[&lint[..], &wasm, &["--", "-D", "warnings"]].concat(),
            &[],
        );
        let document = ["doc", "--locked", "--no-deps", "--workspace"];
        let deny = [("RUSTDOCFLAGS", "-D warnings")];
        self.check("rustdoc", &document, &deny);
        let document = ["doc", "--locked", "--no-deps", "--package", "highwater"];
        self.check("rustdoc, wasm32", &[&document[..], &page].concat(), &deny);
        let tests = [
            "test",
            "--locked",
            "--no-fail-fast",
            "--package",
            "highwater",
            "--package",
            "xtask",
        ];
        let mut command = self.workspace.cargo(&tests);
        self.tests("native tests", &mut command)
    }

    fn wasm(&mut self) -> Result<()> {
        let browser = tools::browser()?;
        page::add_target(&self.workspace)?;
        tools::wasm_bindgen(&self.workspace)?;
        tools::wasm_pack(&self.workspace)?;
        let mut command = tools::wasm_tests(&self.workspace, &browser)?;
        command.arg("--locked");
        self.tests("tests in a browser", &mut command)
    }

    fn kafka(&mut self) -> Result<()> {
        let class_path = match kafka::class_path(&self.workspace)? {
            Ok(class_path) => class_path,
            Err(missing) => {
                self.left_out("a real Kafka", missing);
                return Ok(());
            }
        };
        let mut command = self.workspace.cargo(&[
            "test",
            "--locked",
            "--package",
            "highwater",
            "--test",
            "kafka",
            "--",
            "--ignored",
        ]);
        command.env("HIGHWATER_KAFKA", class_path);
        self.tests("a real Kafka", &mut command)
    }

    fn page(&mut self) -> Result<()> {
        let browser = tools::browser()?;
        let program = page::build(&self.workspace, Kind::Page)?;
        let dist = self.workspace.root.join("dist");
        dist::assemble(&self.workspace, &program, &dist, Compression::Best)?;
        self.page_tests("page tests", &dist, &browser)?;
        if tools::on_path("trunk").is_none() {
            self.left_out("page tests on Trunk's build", "trunk is not installed".to_owned());
            return Ok(());
        }
        tools::wasm_bindgen(&self.workspace)?;
        let dist = self.workspace.target.join("trunk");
        step("Building the page with Trunk", || {
            let mut trunk = Command::new("trunk");
            trunk
                .current_dir(&self.workspace.root)
                .env("PATH", tools::path(&self.workspace)?);
            // Trunk reads a variable that says only '1' as neither yes nor no.
            trunk.env_remove("NO_COLOR");
            trunk
                .args(["build", "--release", "--offline", "--locked", "--dist"])
                .arg(&dist);
            workspace::run(&mut trunk)
        })?;
        self.page_tests("page tests on Trunk's build", &dist, &browser)
    }

    fn page_tests(&mut self, name: &str, dist: &Path, browser: &Browser) -> Result<()> {
        let server = server::start(server::listen(0)?, Site::load(dist, Reload::Never)?)?;
        let chromium = Chromium::start(&self.workspace, browser)?;
        let axe = tools::axe(&self.workspace)?;
        let pictures = self.workspace.target.join("screenshots");
        let mut command = self
            .workspace
            .cargo(&["test", "--locked", "--package", "page-tests", "--test", "page"]);
        command
            .env("HIGHWATER_PAGE", &server.address)
            .env("HIGHWATER_CHROMIUM", &chromium.address)
            .env("HIGHWATER_SCREENSHOTS", &pictures)
            // An error here says what the page did; where the test stood is of no help.
            .env("RUST_LIB_BACKTRACE", "0")
            .args(["--", "--test-threads", "2"]);
        match &axe {
            Some(axe) => {
                command.env("HIGHWATER_AXE", axe);
            }
            None => self.left_out("accessibility audits", "there is no npm to bring axe-core".to_owned()),
        }
        self.tests(name, &mut command)?;
        eprintln!("» Pictures are in {}", pictures.display());
        Ok(())
    }

    /// Something that holds or does not.
    fn check(&mut self, name: &str, arguments: &[&str], variables: &[(&str, &str)]) {
        let mut command = self.workspace.cargo(arguments);
        command.envs(variables.iter().copied());
        eprintln!("» {name}");
        let begun = Instant::now();
        let counts = match workspace::run(&mut command) {
            Ok(()) => Counts {
                passed: 1,
                ..Counts::default()
            },
            Err(error) => {
                eprintln!("error: {error:#}");
                Counts {
                    failed: 1,
                    ..Counts::default()
                }
            }
        };
        self.counted(name, counts, begun.elapsed());
    }

    fn counted(&mut self, name: &str, counts: Counts, took: Duration) {
        self.outcomes.push(Outcome {
            name: name.to_owned(),
            came: Came::Counted(counts, took),
        });
    }

    fn left_out(&mut self, name: &str, missing: String) {
        eprintln!("» Leaving out {name}: {missing}");
        self.outcomes.push(Outcome {
            name: name.to_owned(),
            came: Came::LeftOut(missing),
        });
    }

    /// Tests whose runner says how many there were.
    fn tests(&mut self, name: &str, command: &mut Command) -> Result<()> {
        eprintln!("» {name}");
        let begun = Instant::now();
        let line = workspace::line(command);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{line}`"))?;
        let mut counts = Counts::default();
        for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
            let line = line?;
            println!("{line}");
            counts.add(summary(&line).unwrap_or_default());
        }
        let status = child.wait()?;
        // A test that does not compile, or ends its whole program, is in no runner's count.
        if !status.success() && counts.failed == 0 {
            eprintln!("error: `{line}` failed ({status})");
            counts.failed = 1;
        }
        if status.success() && counts.passed == 0 {
            bail!("`{line}` ran no test");
        }
        self.counted(name, counts, begun.elapsed());
        Ok(())
    }

    /// The closing lines. The last is in the form that any reader of test output knows.
    fn report(&self) -> ExitCode {
        let mut total = Counts::default();
        let width = self
            .outcomes
            .iter()
            .map(|outcome| outcome.name.chars().count())
            .max()
            .unwrap_or(0);
        println!();
        for Outcome { name, came } in &self.outcomes {
            match came {
                Came::Counted(counts, took) => {
                    let mark = if counts.failed == 0 { "ok" } else { "FAILED" };
                    println!(
                        "{mark:8} {name:width$} {:>7.1} s  {}",
                        took.as_secs_f32(),
                        counts.line()
                    );
                    total.add(*counts);
                }
                Came::LeftOut(missing) => println!("{:8} {name:width$} {:>9}  {missing}", "left out", ""),
            }
        }
        println!();
        println!("{}", total.line());
        if total.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// The counts in a test runner's closing line: `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn summary(line: &str) -> Option<Counts> {
    let (_, counts) = line.split_once("test result: ")?;
    let count = |word: &str| {
        let part = counts.split(['.', ';']).find(|part| part.trim_end().ends_with(word))?;
        part.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(Counts {
        passed: count("passed")?,
        failed: count("failed")?,
        skipped: count("ignored").unwrap_or(0) + count("filtered out").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::{Counts, summary};

    #[test]
    fn a_closing_line_is_counted() {
        let line = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s";
        assert_eq!(
            summary(line),
            Some(Counts {
                passed: 12,
                failed: 0,
                skipped: 3
            })
        );
        let line = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(
            summary(line),
            Some(Counts {
                passed: 1,
                failed: 2,
                skipped: 0
            })
        );
    }

    #[test]
    fn other_lines_are_not() {
        assert_eq!(summary("test log::append ... ok"), None);
        assert_eq!(summary("running 3 tests"), None);
    }

    #[test]
    fn the_last_line_is_plain() {
        assert_eq!(
            Counts {
                passed: 3,
                failed: 0,
                skipped: 0
            }
            .line(),
            "3 passed, 0 failed"
        );
        assert_eq!(
            Counts {
                passed: 3,
                failed: 1,
                skipped: 2
            }
            .line(),
            "3 passed, 1 failed, 2 skipped"
        );
    }
}
