//! The world in which a scenario begins: from its first statements, which nothing else may precede.

use super::ast::{Brokers, ElrVersion, ReplicationRules, Script, Setting, Statement};
use crate::cluster::rules::Rules;
use crate::cluster::{ElrFeature, MOST_PARTITIONS, Refused, Setup};
use crate::config::BrokerConfig;

/// More brokers than this are refused: the model and its pictures are made for a handful.
const MOST_BROKERS: u16 = 10;

/// How the world of a script begins, and how many of its statements say so.
///
/// # Errors
/// The first statement that cannot apply, with its line.
pub fn setup(script: &Script) -> Result<(Setup, usize), (u32, Refused)> {
    let mut setup = Setup {
        brokers: Vec::new(),
        ..Setup::default()
    };
    for (taken, line) in script.lines.iter().enumerate() {
        match begin(&mut setup, &line.statement) {
            Ok(true) => {}
            Ok(false) => return Ok((setup, taken)),
            Err(refused) => return Err((line.number, refused)),
        }
    }
    Ok((setup, script.lines.len()))
}

/// Takes a statement of the beginning up; says whether it was one.
fn begin(setup: &mut Setup, statement: &Statement) -> Result<bool, Refused> {
    match statement {
        Statement::Highwater => {}
        Statement::Seed(seed) => setup.seed = *seed,
        Statement::Clock(clock) => setup.clock_ms = *clock,
        Statement::Feature(ElrVersion::Off) => setup.elr = ElrFeature::Off,
        Statement::Feature(ElrVersion::On) => setup.elr = ElrFeature::On,
        Statement::Rules(rules) => {
            setup.rules = match rules {
                ReplicationRules::HwTruncation => Rules::hw_truncation(),
                ReplicationRules::Kip101 => Rules::kip_101(),
                ReplicationRules::Kip279 => Rules::kip_279(),
                ReplicationRules::Kip320 => Rules::default(),
            }
        }
        Statement::Brokers { count, configs } => {
            setup.controller = configured(*count, configs)?;
            setup.brokers = vec![setup.controller.clone(); usize::from(*count)];
        }
        Statement::Broker { brokers, configs } => override_configs(setup, brokers, configs)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn configured(count: u16, configs: &[Setting]) -> Result<BrokerConfig, Refused> {
    if count > MOST_BROKERS {
        return Err(Refused::new(
            format!("{count} brokers are too many for the model"),
            format!("have 1 to {MOST_BROKERS}"),
        ));
    }
    let mut config = BrokerConfig::default();
    apply(&mut config, configs)?;
    Ok(config)
}

/// `broker B …` changes a broker before anything happens to it.
fn override_configs(setup: &mut Setup, brokers: &Brokers, configs: &[Setting]) -> Result<(), Refused> {
    let count = setup.brokers.len();
    let all: Vec<u16> = (1..=MOST_BROKERS).take(count).collect();
    let ids = match brokers {
        Brokers::All => &all,
        Brokers::List(ids) => ids,
    };
    for id in ids {
        let config = usize::from(*id).checked_sub(1).and_then(|at| setup.brokers.get_mut(at));
        let config = config
            .ok_or_else(|| Refused::new(format!("there is no broker {id}"), format!("name one of 1 to {count}")))?;
        apply(config, configs)?;
    }
    Ok(())
}

fn apply(config: &mut BrokerConfig, configs: &[Setting]) -> Result<(), Refused> {
    let pairs = configs
        .iter()
        .map(|setting| (setting.name.as_str(), setting.value.as_str()));
    config.set_all(pairs)?;
    let partitions = config.offsets_topic_num_partitions;
    if partitions > i64::from(MOST_PARTITIONS) {
        return Err(Refused::new(
            format!("offsets.topic.num.partitions={partitions} is too many for the model"),
            format!("have at most {MOST_PARTITIONS}"),
        ));
    }
    Ok(())
}
