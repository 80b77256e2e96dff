//! Field by field: where two JSON values differ.
//!
//! Lists are compared by position. A kind whose lists are sets sorts both sides first.

use serde_json::Value;

/// One field in which a recording and a replay differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The operation, as it stands in the recording.
    pub operation: String,
    /// The field, for example `state.partitions[0].leader`.
    pub field: String,
    /// The value that was recorded; `None` if the field is not there.
    pub kafka: Option<Value>,
    /// The value of the replay; `None` if the field is not there.
    pub ours: Option<Value>,
}

/// All fields in which two values differ.
pub fn differences(operation: &str, field: &str, kafka: &Value, ours: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(operation, field, Some(kafka), Some(ours), &mut found);
    found
}

fn walk(operation: &str, field: &str, kafka: Option<&Value>, ours: Option<&Value>, found: &mut Vec<Difference>) {
    if kafka == ours {
        return;
    }
    match (kafka, ours) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let more = b.keys().filter(|name| !a.contains_key(*name));
            for name in a.keys().chain(more) {
                walk(operation, &format!("{field}.{name}"), a.get(name), b.get(name), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if holds_objects(a) && holds_objects(b) => {
            for index in 0..a.len().max(b.len()) {
                walk(
                    operation,
                    &format!("{field}[{index}]"),
                    a.get(index),
                    b.get(index),
                    found,
                );
            }
        }
        _ => found.push(Difference {
            operation: operation.to_owned(),
            field: field.to_owned(),
            kafka: kafka.cloned(),
            ours: ours.cloned(),
        }),
    }
}

fn holds_objects(list: &[Value]) -> bool {
    list.iter().any(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_innermost_field_is_named() {
        let kafka = json!({"partitions": [{"leader": 1, "isr": [1, 2]}], "records": 2});
        let ours = json!({"partitions": [{"leader": 1, "isr": [2, 1]}], "extra": true});
        let found = differences("0", "state", &kafka, &ours);
        let fields: Vec<&str> = found.iter().map(|difference| difference.field.as_str()).collect();
        assert_eq!(fields, ["state.partitions[0].isr", "state.records", "state.extra"]);
        assert_eq!((&found[1].kafka, &found[1].ours), (&Some(json!(2)), &None));
    }

    #[test]
    fn equal_values_do_not_differ() {
        let value = json!([{"a": [1, 2]}, null]);
        assert_eq!(differences("0", "", &value, &value), []);
    }
}
