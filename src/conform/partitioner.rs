//! Recordings of a producer's choice of partitions: the key hash and the sticky partitioner.

use crate::cluster::partitioner::{
    Availability, StickyPartitioner, Switching, murmur2, partition_for_key, to_positive,
};
use crate::conform::compare::differences;
use crate::conform::{Malformed, Recording, Replay, Replayed};
use crate::sorted::SortedMap;
use serde::Deserialize;
use serde_json::{Value, json};

/// Replays kind `murmur2`: the hash of keys, one operation a key.
pub struct Murmur2;

/// Replays kind `sticky-partitioner`: one operation an operation of a case.
pub struct Sticky;

#[derive(Deserialize)]
struct Vector {
    key: String,
    murmur2: i32,
    positive: u32,
    partition: SortedMap<String, u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    case: u64,
    batch_size: u32,
    partitions: Vec<CasePartition>,
    ops: Vec<Value>,
}

#[derive(Deserialize)]
struct CasePartition {
    available: bool,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Op {
    First {
        draws: Vec<u32>,
    },
    Append {
        bytes: u32,
        enable_switch: bool,
        draws: Vec<u32>,
    },
    Load {
        queue_sizes: Option<Vec<u32>>,
        partitions: Option<Vec<u32>>,
        length: Option<usize>,
    },
}

/// The list under a name in a header.
fn list<'a>(recording: &'a Recording, name: &str) -> Result<&'a Vec<Value>, Malformed> {
    recording
        .header
        .get(name)
        .and_then(Value::as_array)
        .ok_or_else(|| Malformed::new("header", format!("{name} is missing")))
}

impl Replay for Murmur2 {
    fn kind(&self) -> &'static str {
        "murmur2"
    }

    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed> {
        let mut replayed = Replayed::default();
        for (index, value) in list(recording, "vectors")?.iter().enumerate() {
            let place = format!("vector {index}");
            let vector = Vector::deserialize(value).map_err(|error| Malformed::new(&place, error))?;
            let key = from_hex(&vector.key).ok_or_else(|| Malformed::new(&place, "the key is not hexadecimal"))?;
            let hash = murmur2(&key);
            let kafka =
                json!([{ "murmur2": vector.murmur2, "positive": vector.positive, "partition": vector.partition }]);
            let partition = vector.partition.keys().map(|count| {
                let number = count
                    .parse()
                    .map_err(|_| Malformed::new(&place, format!("{count} is no number")))?;
                Ok((count.clone(), partition_for_key(&key, number)))
            });
            let partition: SortedMap<String, u32> = partition.collect::<Result<_, Malformed>>()?;
            let ours = json!([{ "murmur2": hash as i32, "positive": to_positive(hash), "partition": partition }]);
            replayed.operations += 1;
            replayed.differences = differences(&format!("{place} key {}", vector.key), "vectors", &kafka, &ours);
            if !replayed.differences.is_empty() {
                break;
            }
        }
        Ok(replayed)
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect()).flatten()
}

impl Replay for Sticky {
    fn kind(&self) -> &'static str {
        "sticky-partitioner"
    }

    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed> {
        let mut replayed = Replayed::default();
        for value in list(recording, "cases")? {
            let case = Case::deserialize(value).map_err(|error| Malformed::new("case", error))?;
            replay_case(&case, &mut replayed)?;
            if !replayed.differences.is_empty() {
                break;
            }
        }
        Ok(replayed)
    }
}

fn replay_case(case: &Case, replayed: &mut Replayed) -> Result<(), Malformed> {
    let topic: Vec<Availability> = case.partitions.iter().map(availability).collect();
    let mut partitioner: Option<StickyPartitioner> = None;
    for (index, value) in case.ops.iter().enumerate() {
        let place = format!("case {} operation {index} {value}", case.case);
        let op = Op::deserialize(value).map_err(|error| Malformed::new(&place, error))?;
        let answer = match (op, &mut partitioner) {
            (Op::First { draws }, none) => {
                let begun = StickyPartitioner::new(case.batch_size, &topic, draws.first().copied().unwrap_or(0));
                let partition = none.insert(begun).partition();
                json!({ "partition": partition, "drawn": draws.len().min(1) })
            }
            (_, None) => {
                return Err(Malformed::new(&place, "the first partition has not been drawn"));
            }
            (
                Op::Append {
                    bytes,
                    enable_switch,
                    draws,
                },
                Some(sticky),
            ) => {
                let switching = if enable_switch {
                    Switching::Enabled
                } else {
                    Switching::Deferred
                };
                let mut drawn = 0;
                let switched = sticky.append(bytes, switching, &topic, || {
                    drawn += 1;
                    draws.first().copied().unwrap_or(0)
                });
                json!({ "switched": switched, "partition": sticky.partition(), "drawn": drawn })
            }
            (
                Op::Load {
                    queue_sizes,
                    partitions,
                    length,
                },
                Some(sticky),
            ) => {
                let length = length.unwrap_or(0);
                sticky.load(queue_sizes.as_deref().zip(partitions.as_deref()), length);
                json!({ "rangeEnd": sticky.weights() })
            }
        };
        let kafka = expected(value, &answer);
        replayed.operations += 1;
        replayed.differences = differences(&place, "result", &kafka, &answer);
        if !replayed.differences.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

fn availability(partition: &CasePartition) -> Availability {
    if partition.available {
        Availability::Available
    } else {
        Availability::Unavailable
    }
}

/// What was recorded of an operation, in the shape of our answer.
fn expected(recorded: &Value, ours: &Value) -> Value {
    let drawn = recorded.get("draws").and_then(Value::as_array).map(Vec::len);
    let mut expected = ours.clone();
    if let Value::Object(fields) = &mut expected {
        for (name, value) in fields {
            *value = match name.as_str() {
                "drawn" => json!(drawn),
                name => recorded.get(name).cloned().unwrap_or(Value::Null),
            };
        }
    }
    expected
}
