//! What a person gets to read when a file is malformed.

use crate::scenario::parse;

/// The faults of a file, one a line.
fn faults(text: &str) -> String {
    match parse(text.as_bytes()) {
        Ok(_) => String::new(),
        Err(faults) => faults.iter().map(|fault| format!("{fault}\n")).collect(),
    }
}

/// The faults of a statement in a world of three brokers, a topic of two partitions, a producer that sent three records
/// and a consumer. It stands on line 6.
fn faults_of(statement: &str) -> String {
    faults(&format!(
        "brokers 3\ntopic orders partitions=2 replicas=3\nproducer app\nconsumer reader assign=orders-0\n\
         send app orders count=3\n{statement}\n"
    ))
}

#[test]
fn a_well_formed_file_has_no_fault() {
    assert_eq!(faults(""), "");
    assert_eq!(faults("# only a comment\n\n   \n"), "");
    assert_eq!(faults("highwater 1\nseed 3\nbrokers 1\n"), "");
    assert_eq!(faults("clock 253402300799999\nbrokers 1\n"), "");
    assert_eq!(faults_of("run until acked"), "");
    assert_eq!(faults_of("run until acked app = 3 within 5s # and no more"), "");
    assert_eq!(faults_of("expect result app#3 = acked offset=2 partition=0"), "");
}

/// Kafka's own rules, which `org.apache.kafka.common.internals.Topic` has.
#[test]
fn names_that_no_topic_may_have() {
    assert_eq!(faults(&format!("brokers 1\ntopic {}\n", "x".repeat(249))), "");
    assert_eq!(faults("brokers 1\ntopic ...\n"), "");
    for name in [".", ".."] {
        assert_eq!(
            faults(&format!("brokers 1\ntopic {name}\n")),
            format!("2:7: found '{name}', expected a topic's name other than '.' and '..'\n")
        );
    }
    let long = "x".repeat(250);
    assert_eq!(
        faults(&format!("brokers 1\ntopic {long}\n")),
        format!(
            "2:7: found '{}…', expected a topic's name of at most 249 characters\n",
            &long[..60]
        )
    );
    assert_eq!(
        faults("brokers 1\ntopic a+b\n"),
        "2:7: found 'a+b', expected a topic's name of letters, digits, '.', '_' and '-'\n"
    );
}

#[test]
fn words_that_nobody_knows_are_named_with_the_nearest() {
    for (statement, fault) in [
        (
            "sned app orders",
            "6:1: found 'sned', expected a statement, the nearest is 'send'\n",
        ),
        ("xyzzy", "6:1: found 'xyzzy', expected a statement\n"),
        (
            "send app orders timestamp=-1",
            "6:27: found '-1', expected a time in milliseconds since 1970\n",
        ),
        (
            "  send app orders valeu=1",
            "6:19: found 'valeu', expected key= value= timestamp= header.NAME= count= every= to=, \
             the nearest is 'value'\n",
        ),
        (
            "expect ledaer orders-0 = 1",
            "6:8: found 'ledaer', expected a subject, the nearest is 'leader'\n",
        ),
        (
            "expect fate app#1 = lots",
            "6:21: found 'lots', expected a fate: in-flight appended committed acknowledged refused timed-out \
             truncated lost expired compacted deleted never-arrived, the nearest is 'lost'\n",
        ),
        (
            "run untill acked",
            "6:5: found 'untill', expected 'for', 'to' or 'until', the nearest is 'until'\n",
        ),
        (
            "heal al",
            "6:6: found 'al', expected a node, several, or 'all', the nearest is 'all'\n",
        ),
        (
            "run until quit",
            "6:11: found 'quit', expected 'quiet', 'acked' or a subject, the nearest is 'quiet'\n",
        ),
        (
            "run until aked within 5s",
            "6:11: found 'aked', expected 'quiet', 'acked' or a subject, the nearest is 'acked'\n",
        ),
        (
            "run until nt leader orders-0 = 1",
            "6:11: found 'nt', expected 'quiet', 'acked' or a subject, the nearest is 'not'\n",
        ),
        (
            "BROKERS 3",
            "6:1: found 'BROKERS', expected a statement, the nearest is 'brokers'\n",
        ),
        (
            "Kill 1",
            "6:1: found 'Kill', expected a statement, the nearest is 'kill'\n",
        ),
        (
            "stop ALL",
            "6:6: found 'ALL', expected a broker's number, a list such as 1,2 or 'all', the nearest is 'all'\n",
        ),
        (
            "expect result app#1 = NOT_ENOUGH_REPLICA",
            "6:23: found 'NOT_ENOUGH_REPLICA', expected 'pending', 'acked', 'sent' or Kafka's name of an error, \
             the nearest is 'NOT_ENOUGH_REPLICAS'\n",
        ),
        (
            "expect error reader = offset_out_of_range",
            "6:23: found 'offset_out_of_range', expected Kafka's name of an error, such as NOT_ENOUGH_REPLICAS, \
             the nearest is 'OFFSET_OUT_OF_RANGE'\n",
        ),
        (
            "expect result app#1 = \"acked\"",
            "6:23: found '\"acked\"', expected 'pending', 'acked', 'sent' or Kafka's name of an error, \
             the nearest is 'acked'\n",
        ),
        (
            "expect isr orders-0 = nne",
            "6:23: found 'nne', expected numbers with commas between them, or 'none', the nearest is 'none'\n",
        ),
        (
            "set disk 1 writeback=nevr",
            "6:22: found 'nevr', expected a duration with its unit, such as 250us 500ms 10s 5m 2h 7d, \
             the nearest is 'never'\n",
        ),
        (
            "cut 1 to 2",
            "6:7: found 'to', expected another node, or several, or 'from' before them\n",
        ),
        (
            "cut 1 fom 2",
            "6:7: found 'fom', expected another node, or several, or 'from' before them, the nearest is 'from'\n",
        ),
        (
            "heal 1 from 2",
            "6:8: found 'from', expected another node, or several\n",
        ),
        ("heal 1 2 3", "6:10: found '3', expected the end of the line\n"),
        (
            "kill broker 1",
            "6:6: found 'broker', expected brokers, 'controller' or a client's name\n",
        ),
    ] {
        assert_eq!(faults_of(statement), fault);
    }
}

/// A bound stands behind a condition of any length, and `within` may be a value or somebody's name all the same.
#[test]
fn a_bound_is_told_from_a_name() {
    const END: &str = "expected the end of the line\n";
    let duration = "expected a duration with its unit, such as 250us 500ms 10s 5m 2h 7d\n";
    for (statement, fault) in [
        (
            "run until leader orders-0 = 1 within",
            format!("6:37: found the end of the line, {duration}"),
        ),
        (
            "run until acked within",
            format!("6:23: found the end of the line, {duration}"),
        ),
        ("run until acked within 1s now", format!("6:27: found 'now', {END}")),
        (
            "run until leader orders-0 = 1 whitin 5s",
            "6:31: found 'whitin', expected 'within' or the end of the line, the nearest is 'within'\n".to_string(),
        ),
        ("run until quiet within soon", format!("6:24: found 'soon', {duration}")),
        ("run until read reader = within", String::new()),
        ("run until read reader = within within 5s", String::new()),
        ("producer within\nrun until acked within", String::new()),
        ("producer within\nrun until acked within = 3 within 5s", String::new()),
        ("producer within\nrun until acked within orders-0 = 3", String::new()),
    ] {
        assert_eq!(faults_of(statement), fault, "{statement}");
    }
}

#[test]
fn what_belongs_to_the_beginning_of_a_file_cannot_be_refused_behind_it() {
    let expected = "expected a statement that may stand behind the beginning of a file\n";
    for (statement, column) in [
        ("expect not refused brokers 5", 20),
        ("expect refused brokers 5", 16),
        ("run until not refused seed 3", 23),
    ] {
        let verb = statement.split(' ').rev().nth(1).unwrap_or_default();
        assert_eq!(faults_of(statement), format!("6:{column}: found '{verb}', {expected}"));
    }
    assert_eq!(
        faults_of("expect refused brokers"),
        "6:23: found the end of the line, expected a number of brokers, from 1\n"
    );
}

#[test]
fn what_is_missing_or_too_much_is_named() {
    for (statement, fault) in [
        (
            "start app directory=late",
            "6:11: found 'directory', expected the end of the line\n",
        ),
        ("send", "6:5: found the end of the line, expected a producer's name\n"),
        ("kill 1 now", "6:8: found 'now', expected the end of the line\n"),
        (
            "set topic orders",
            "6:17: found the end of the line, expected a setting key=value\n",
        ),
        (
            "run for 5",
            "6:9: found '5', expected a duration with its unit, such as 250us 500ms 10s 5m 2h 7d\n",
        ),
        (
            "run for 999999999999999d",
            "6:9: found '999999999999999d', expected a shorter duration\n",
        ),
        ("send app orders count=0", "6:23: found '0', expected a number from 1\n"),
        (
            "producer other linger.ms=5 linger.ms=6",
            "6:28: found 'linger.ms', expected each setting only once\n",
        ),
        (
            "producer Other",
            "6:10: found 'Other', expected a name of small letters, digits and _\n",
        ),
        (
            "producer quiet",
            "6:10: found 'quiet', expected another name, because this one has a meaning of its own\n",
        ),
        (
            "send app orders value=\"a",
            "6:23: found a quote that is never closed, expected a closing '\"' on the same line\n",
        ),
        (
            "send app orders value=\"\\q\"",
            "6:24: found '\\q', expected one of \\\" \\\\ \\n \\xHH\n",
        ),
        (
            "send app orders value=a,b",
            "6:23: found 'a,b', expected quotes around a value with ',' in it\n",
        ),
        (
            "send app orders value=hex:0",
            "6:23: found 'hex:0', expected bytes in hexadecimal, two digits each, such as hex:00ff\n",
        ),
    ] {
        assert_eq!(faults_of(statement), fault);
    }
}

#[test]
fn a_subject_must_be_declared_above() {
    for (statement, fault) in [
        (
            "expect leader order-0 = 1",
            "6:15: found 'order-0', expected a partition of a topic that is declared above, the nearest is 'orders-0'\n",
        ),
        (
            "expect leader orders = 1",
            "6:15: found 'orders', expected a partition such as orders-0, the nearest is 'orders-0'\n",
        ),
        (
            "expect leader orders-2 = 1",
            "6:15: found 'orders-2', expected a partition from orders-0 to orders-1\n",
        ),
        (
            "expect leo orders-0@4 = 1",
            "6:12: found 'orders-0@4', expected a broker from 1 to 3\n",
        ),
        (
            "expect result app#4 = sent",
            "6:15: found 'app#4', expected a record sent above, from app#1 to app#3\n",
        ),
        (
            "expect result ap#1 = sent",
            "6:15: found 'ap', expected a producer that is declared above, the nearest is 'app'\n",
        ),
        (
            "expect read app = none",
            "6:13: found 'app', expected a consumer that is declared above\n",
        ),
        (
            "expect leo orders-0@1 = x",
            "6:25: found 'x', expected a number or 'none'\n",
        ),
        (
            "expect values orders-0@1 < 1",
            "6:26: found '<', expected '=' or '!=', because this subject has no order\n",
        ),
        (
            "expect offsets orders-0@1 = 3,2",
            "6:31: found '2', expected ascending offsets such as 0-4,7, or 'none'\n",
        ),
    ] {
        assert_eq!(faults_of(statement), fault);
    }
}

#[test]
fn the_beginning_of_a_file_has_its_order() {
    assert_eq!(
        faults("topic t\ntopic u\n"),
        "1:1: found 'topic', expected 'brokers N' before it\n"
    );
    assert_eq!(
        faults("brokers 1\ntopic t\nseed 4\n"),
        "3:1: found 'seed', expected it at the beginning of the file, before line 2\n"
    );
    assert_eq!(
        faults("brokers 1\nbrokers 2\n"),
        "2:1: found 'brokers', expected it only once\n"
    );
    assert_eq!(
        faults("brokers 1\nhighwater 1\n"),
        "2:1: found 'highwater', expected it on the first line\n"
    );
    assert_eq!(
        faults("highwater 2\n"),
        "1:11: found '2', expected 1, the version of the language\n"
    );
}

#[test]
fn every_fault_of_a_file_is_listed_and_causes_no_others() {
    assert_eq!(
        faults(
            "brokers three\ntopci t partitions=2\nproducer app\nsend app t cuont=5\n\
             expect leader t-1 = 1\nexpect result app#5 = sent\nexpect laeder t-0\n"
        ),
        "1:9: found 'three', expected a number of brokers, from 1\n\
         2:1: found 'topci', expected a statement, the nearest is 'topic'\n\
         4:12: found 'cuont', expected key= value= timestamp= header.NAME= count= every= to=, the nearest is 'count'\n\
         7:8: found 'laeder', expected a subject, the nearest is 'leader'\n"
    );
}

#[test]
fn every_faulty_setting_of_a_line_is_listed() {
    for (statement, faults) in [
        (
            "send app orders cuont=5 every=x to=0",
            "6:17: found 'cuont', expected key= value= timestamp= header.NAME= count= every= to=, \
             the nearest is 'count'\n\
             6:31: found 'x', expected a duration with its unit, such as 250us 500ms 10s 5m 2h 7d\n\
             6:36: found '0', expected a broker's number, from 1\n",
        ),
        (
            "topic t partitions=x replicas=y",
            "6:20: found 'x', expected a number from 1\n6:31: found 'y', expected a broker's number, from 1\n",
        ),
        (
            "consumer c grup=g topics=orders",
            "6:12: found 'grup', expected a setting that there is, the nearest is 'group'\n",
        ),
        (
            "slow 1 factr=2",
            "6:8: found 'factr', expected factor=, the nearest is 'factor'\n",
        ),
        (
            "consumer c group=G topics=orders",
            "6:18: found 'G', expected a name of small letters, digits and _\n",
        ),
    ] {
        assert_eq!(faults_of(statement), faults, "{statement}");
    }
}

#[test]
fn what_this_version_cannot_perform_is_refused_by_name() {
    assert_eq!(
        faults_of("expect distance app#1 = 1"),
        "6:8: found 'distance', which is not yet in this version, expected what it can perform\n"
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let windows = "\u{feff}brokers 1\r\ntopic t\r\nexpect leader t-0 = 1\r\n----\r\nfirst\r\n";
    let unix = "brokers 1\ntopic t\nexpect leader t-0 = 1\n----\nfirst\n";
    assert_eq!(parse(windows.as_bytes()), parse(unix.as_bytes()));
    let script = parse(unix.as_bytes()).expect("it is well formed");
    assert_eq!(script.trace, Some(vec!["first".to_string()]));
}

#[test]
fn a_binary_file_is_one_fault() {
    let faults = parse(b"brokers 1\n# \xc3\xa4 \xff\xfe\x00").expect_err("it is not text");
    let printed: Vec<String> = faults.iter().map(|fault| fault.to_string()).collect();
    assert_eq!(printed, ["2:5: found the byte 0xff, expected UTF-8 text"]);
    assert_eq!(
        self::faults("\u{1}\u{0}\u{2}"),
        "1:1: found '\\u{1}\\0\\u{2}', expected a statement\n"
    );
}

#[test]
fn a_file_of_a_hundred_thousand_lines_is_read() {
    let mut text = "brokers 1\ntopic t\nproducer app\n".to_string();
    text.push_str(&"send app t value=x\n".repeat(100_000));
    text.push_str("expect result app#100000 = acked\n");
    assert_eq!(parse(text.as_bytes()).map(|script| script.lines.len()), Ok(100_004));
}
