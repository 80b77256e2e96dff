//! The project's tasks: `cargo xtask serve`, `test`, `bench`, `fuzz`, `soak` and `ask`.
//!
//! A newcomer has Rust and nothing else, so everything here is either compiled from the lock file or installed into
//! `target/` on the way. Nothing here knows what the page or the engine do.

mod ask;
mod bench;
mod dist;
mod fuzz;
mod kafka;
mod page;
mod serve;
mod server;
mod soak;
mod split;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::test::Part;

fn command() -> Command {
    Command::new("cargo xtask")
        .bin_name("cargo xtask")
        .about("Highwater's tasks")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("serve")
                .about("Builds the page and serves it on this machine")
                .after_help("Example:\n  cargo xtask serve --port 8081")
                .arg(
                    Arg::new("port")
                        .long("port")
                        .value_name("N")
                        .value_parser(value_parser!(u16).range(1..))
                        .default_value("8080")
                        .help("The port on 127.0.0.1"),
                )
                .arg(
                    Arg::new("dev")
                        .long("dev")
                        .action(ArgAction::SetTrue)
                        .help("Builds quickly instead of small, and again after each change; the page reloads itself"),
                ),
        )
        .subcommand(
            Command::new("test")
                .about("Checks format, lints and documentation, and runs every test")
                .after_help("Example:\n  cargo xtask test --only native")
                .arg(
                    Arg::new("only")
                        .long("only")
                        .value_name("PART")
                        .action(ArgAction::Append)
                        .value_parser(Part::ALL.map(Part::name))
                        .help("Runs this part alone; can be given again"),
                ),
        )
        .subcommand(
            Command::new("fuzz")
                .about("Feeds every parser with bytes of any kind, with libFuzzer where a nightly compiler is")
                .after_help("Example:\n  cargo xtask fuzz --seconds 60")
                .arg(
                    Arg::new("seconds")
                        .long("seconds")
                        .value_name("N")
                        .value_parser(value_parser!(u64).range(1..))
                        .default_value("30")
                        .help("How long, for each parser"),
                ),
        )
        .subcommand(
            Command::new("soak")
                .about(
                    "Plays random schedules of faults where no acknowledged record may be lost, and prints what breaks",
                )
                .after_help("Example:\n  cargo xtask soak --minutes 10")
                .arg(
                    Arg::new("minutes")
                        .long("minutes")
                        .value_name("N")
                        .value_parser(value_parser!(u64).range(1..))
                        .default_value("10")
                        .help("How long"),
                )
                .arg(
                    Arg::new("seed")
                        .long("seed")
                        .value_name("N")
                        .value_parser(value_parser!(u64))
                        .default_value("0")
                        .help("The first seed"),
                ),
        )
        .subcommand(
            Command::new("ask")
                .about("Has a real Kafka perform random operations on a log, and compares")
                .after_help("Example:\n  cargo xtask ask path/to/programs --recordings 50")
                .arg(
                    Arg::new("oracle")
                        .value_name("FOLDER")
                        .required(true)
                        .value_parser(value_parser!(std::path::PathBuf))
                        .help("The programs that drive a real Kafka's log: a pom.xml and src"),
                )
                .arg(
                    Arg::new("recordings")
                        .long("recordings")
                        .value_name("N")
                        .value_parser(value_parser!(u64).range(1..))
                        .default_value("100")
                        .help("How many logs, each through 120 operations"),
                )
                .arg(
                    Arg::new("seed")
                        .long("seed")
                        .value_name("N")
                        .value_parser(value_parser!(u64))
                        .default_value("1")
                        .help("What the first of them is made from"),
                )
                .arg(Arg::new("kinds").long("kinds").value_name("NAMES").help(
                    "Recordings of kinds that the programs make themselves: `all`, or names with commas between",
                )),
        )
        .subcommand(
            Command::new("bench")
                .about("Measures the engine and the page, and prints a table of the figures and their budgets"),
        )
}

fn run(matches: &ArgMatches) -> Result<ExitCode> {
    match matches.subcommand() {
        Some(("serve", options)) => {
            let port = *options.get_one::<u16>("port").expect("the port has a default");
            let kind = if options.get_flag("dev") {
                page::Kind::Dev
            } else {
                page::Kind::Page
            };
            serve::run(port, kind)
        }
        Some(("test", options)) => {
            let only: Vec<&String> = options.get_many("only").into_iter().flatten().collect();
            let wanted = |part: &Part| only.is_empty() || only.iter().any(|name| *name == part.name());
            test::run(&Part::ALL.into_iter().filter(wanted).collect())
        }
        Some(("fuzz", options)) => fuzz::run(*options.get_one::<u64>("seconds").expect("the time has a default")),
        Some(("soak", options)) => {
            let number = |name| *options.get_one::<u64>(name).expect("both have a default");
            soak::run(number("minutes"), number("seed"))
        }
        Some(("ask", options)) => {
            let oracle: &std::path::PathBuf = options.get_one("oracle").expect("the folder is required");
            let number = |name: &str| *options.get_one::<u64>(name).expect("numbers have defaults");
            ask::run(oracle, number("recordings"), number("seed"), options.get_one("kinds"))
        }
        Some(("bench", _)) => bench::run(),
        _ => unreachable!("clap lets nothing else through"),
    }
}

fn main() -> ExitCode {
    match run(&command().get_matches()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
