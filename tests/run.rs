//! What `highwater run` prints, and with which status it ends.

use highwater::cli::run::{Arguments, Status, run};

/// What a run of these arguments gives: status, output, errors. `input` is the standard input.
fn highwater(arguments: Arguments, input: &str) -> (Status, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(&arguments, &mut input.as_bytes(), &mut out, &mut err).expect("memory can be written to");
    let text = |bytes| String::from_utf8(bytes).expect("all output is text");
    (status, text(out), text(err))
}

/// The same for one scenario on the standard input.
fn piped(input: &str) -> (Status, String, String) {
    highwater(
        Arguments {
            files: vec!["-".to_string()],
            ..Arguments::default()
        },
        input,
    )
}

const LOST: &str = "\
brokers 3
topic payments replicas=3
producer app acks=1
cut 1 2,3
send app payments value=100
run until acked
kill 1
run until leader payments-0 = 2
expect lost payments-0 = 0
expect result app#1 = acked offset=0 partition=0
";

#[test]
fn every_expectation_holds() {
    assert_eq!(
        piped(LOST),
        (
            Status::Holds,
            "ok - (2 expectations)\n1 files, 2 expectations, 0 failed\n".to_string(),
            String::new()
        )
    );
}

#[test]
fn one_expectation_does_not_hold() {
    let changed = LOST.replace("lost payments-0 = 0", "lost payments-0 = none");
    let (status, out, err) = piped(&changed);
    assert_eq!((status, err.as_str()), (Status::Fails, ""));
    assert_eq!(
        out,
        "FAILED -\n\
         -:9: expected lost payments-0 = none, found 0\n  \
         last: 10125ms controller elects partition=payments-0 from=1 to=2 epoch=1 [election.isr]\n\
         1 files, 2 expectations, 1 failed\n"
    );
}

/// The event that each failed expectation names, if any, after these statements.
fn last_events(statements: &str, expectations: &[&str]) -> Vec<Option<String>> {
    let (status, out, err) = piped(&format!("{statements}{}\n", expectations.join("\n")));
    assert_eq!((status, err.as_str()), (Status::Fails, ""), "{out}");
    let mut events = Vec::new();
    for line in out.lines() {
        match line.strip_prefix("  last: ") {
            Some(event) => *events.last_mut().expect("what failed stands above") = Some(event.to_string()),
            None if line.starts_with("-:") => events.push(None),
            None => {}
        }
    }
    assert_eq!(events.len(), expectations.len(), "{out}");
    events
}

fn each_names(statements: &str, cases: &[(&str, Option<&str>)]) {
    let expectations: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let events = last_events(statements, &expectations);
    for ((expectation, event), found) in cases.iter().zip(events) {
        assert_eq!(found.as_deref(), *event, "{expectation}");
    }
}

/// The high watermark moves last of all, and touches neither the ISR nor the leader nor what an operator was answered.
#[test]
fn a_failed_expectation_names_the_event_that_changed_its_subject() {
    const CREATED: Option<&str> = Some("0s operator creates topic=t partitions=1 [act]");
    const SHRUNK: Option<&str> = Some("29250ms controller changes-isr partition=t-0 from=1,2,3 to=1,2 [isr.fenced]");
    const APPENDED: Option<&str> =
        Some("29256ms broker 1 appends partition=t-0 offsets=1-2 epoch=0 as=leader [log.append.leader]");
    const COPIED: Option<&str> =
        Some("7ms broker 3 appends partition=t-0 offsets=0 epoch=0 as=follower [log.append.follower]");
    const FOLLOWS: Option<&str> = Some("0s broker 3 becomes-follower partition=t-0 leader=1 epoch=0 [follower.become]");
    const KILLED: Option<&str> = Some("20s broker 3 is from=up to=down [process.kill]");
    const COMMITTED: Option<&str> = Some("29258ms broker 1 moves-hw partition=t-0 from=1 to=3 [hw.leader]");
    const FIRST: Option<&str> =
        Some("9ms app is-told-acked records=app#1 partition=t-0 offset=0 [producer.acknowledged]");
    const THIRD: Option<&str> =
        Some("29259ms app is-told-acked records=app#3 partition=t-0 offset=2 [producer.acknowledged]");
    const READ: Option<&str> = Some("29259ms c reads partition=t-0 offsets=1-2 [consumer.read]");
    each_names(
        "brokers 3\ntopic t replicas=3\ntopic u\nproducer app\nsend app t value=x\n\
         consumer c group=g topics=t auto.offset.reset=earliest\nrun for 20s\nkill 3\nrun until isr t-0 = 1,2\n\
         elect t-0 preferred\nsend app t count=2\nrun for 2s\n",
        &[
            ("expect isr t-0 = 1", SHRUNK),
            ("expect partition-epoch t-0 = 9", SHRUNK),
            ("expect leader t-0 = 2", CREATED),
            ("expect epoch t-0 = 2", CREATED),
            ("expect replicas t-0 = 1", CREATED),
            ("expect elr t-0 = 3", CREATED),
            ("expect lost t-0 = 1", THIRD),
            ("expect duplicates t-0 = 1", APPENDED),
            ("expect leo t-0@1 = 9", APPENDED),
            ("expect offsets t-0@3 = 9", COPIED),
            ("expect epochs t-0@3 = 9:9", COPIED),
            ("expect size t-0@3 = 9", COPIED),
            ("expect segments t-0@3 = 9", FOLLOWS),
            ("expect flushed t-0@3 = 9", FOLLOWS),
            ("expect hw t-0@3 = 9", KILLED),
            ("expect hw t-0@1 = 9", COMMITTED),
            ("expect offset-for t-0 5 = 9", COMMITTED),
            ("expect state 3 = up", KILLED),
            ("expect state 2 = down", None),
            ("expect not refused kill 3", KILLED),
            ("expect result app#1 = pending", FIRST),
            ("expect fate app#1 = lost", FIRST),
            (
                "expect attempts app#1 = 4",
                Some("5ms app sends to=1 acks=all attempt=1 partition=t-0 records=app#1 [producer.linger]"),
            ),
            ("expect custody app#1 = 1:disk", KILLED),
            ("expect acked app = 9", THIRD),
            ("expect failed app = 9", Some("0s app starts [act]")),
            ("expect read c = 0", READ),
            ("expect position c t-0 = 9", READ),
            (
                "expect assignment c = none",
                Some("3010ms c is-assigned group=g generation=1 partitions=t-0 [group.assign]"),
            ),
            (
                "expect committed g t-0 = 9",
                Some("8013ms broker 1 remembers group=g partition=t-0 offset=1 [offsets.commit]"),
            ),
            ("expect lag g t-0 = 9", COMMITTED),
            ("expect metric isr-shrinks = 9", None),
            (
                "expect answer = none",
                Some("29250ms operator is-answered act=elect error=ELECTION_NOT_NEEDED [act]"),
            ),
            ("expect time = 1s", Some("30s broker 2 fires timer=checkpoint [clock]")),
            ("expect events hw.leader = 900", COMMITTED),
        ],
    );
}

/// What is done to other records of the same log is not done to this one.
#[test]
fn a_failed_expectation_names_what_moved_a_copy() {
    const FLUSHED: Option<&str> = Some("1s broker 1 flushes partition=t-0 from=0 to=1 [log.flush.asked]");
    const AGAIN: Option<&str> = Some("2s broker 1 flushes partition=t-0 from=1 to=2 [log.flush.asked]");
    const DELETED: Option<&str> = Some("3s broker 1 moves-log-start partition=t-0 from=0 to=1 [act]");
    let statements = "brokers 1\ntopic t\nproducer app linger.ms=0\nsend app t value=a\nrun to 1s\nflush t-0@1\n\
                      send app t value=b\nrun to 2s\nflush t-0@1\n";
    each_names(
        statements,
        &[
            ("expect custody app#1 = none", FLUSHED),
            ("expect custody app#2 = none", AGAIN),
            ("expect flushed t-0@1 = 9", AGAIN),
            ("expect in-cache t-0@1 = 9", AGAIN),
        ],
    );
    each_names(
        &format!("{statements}run to 3s\ndelete-records t-0 1\n"),
        &[
            ("expect custody app#1 = none", DELETED),
            ("expect fate app#1 = lost", DELETED),
            ("expect start t-0@1 = 9", DELETED),
            ("expect custody app#2 = none", AGAIN),
        ],
    );
}

/// The same where records are lost and a log is loaded anew.
#[test]
fn a_failed_expectation_names_what_took_a_record() {
    const ELECTED: Option<&str> = Some("10125ms controller elects partition=t-0 from=1 to=2 epoch=1 [election.isr]");
    const AGAIN: Option<&str> =
        Some("10129ms broker 1 appends partition=t-0 offsets=0 epoch=0 as=follower [log.append.follower]");
    const JOINED: Option<&str> = Some("10131ms controller changes-isr partition=t-0 from=2,3 to=2,3,1 [isr.commit]");
    each_names(
        "brokers 3\ntopic t replicas=3\nproducer app acks=1 linger.ms=0\nsend app t value=a\nrun for 1s\ncut 1 2,3\n\
         send app t value=b\nrun for 100ms\npower-off 1\nrun until leader t-0 = 2\nstart 1\nheal all\nrun for 30s\n",
        &[
            ("expect lost t-0 = none", ELECTED),
            ("expect lost = 0", ELECTED),
            ("expect leader t-0 = 1", ELECTED),
            ("expect isr t-0 = 1", JOINED),
            ("expect metric isr-expands = 99", JOINED),
            ("expect leo t-0@1 = 5", AGAIN),
            (
                "expect state 1 = down",
                Some("10129ms broker 1 is from=fenced to=up [controller.unfence]"),
            ),
            (
                "expect result app#2 = pending",
                Some("1002ms app is-told-acked records=app#2 partition=t-0 offset=1 [producer.acknowledged]"),
            ),
            (
                "expect invariant NoAcknowledgedRecordLost = holds",
                Some("1100ms broker 1 is from=up to=down [host.power-loss]"),
            ),
        ],
    );
}

#[test]
fn an_act_that_cannot_apply_stops_the_run() {
    let cases = [
        (
            "kill 2,3\nkill 1\nkill 1\nexpect lost = 0\n",
            "-:12: refused: broker 1 is down; start 1 first\n",
        ),
        (
            "send ap payments\n",
            "-:11: refused: no client is called 'ap'; the nearest is 'app'\n",
        ),
        (
            "set topic payments retention.sm=5\n",
            "-:11: refused: no topic config is called 'retention.sm'; the nearest is 'retention.ms'\n",
        ),
    ];
    for (statements, message) in cases {
        let (status, out, _) = piped(&format!("{LOST}{statements}"));
        assert_eq!(status, Status::Fails);
        assert_eq!(out, format!("FAILED -\n{message}1 files, 2 expectations, 1 failed\n"));
    }
}

/// Clients and groups are told apart by numbers, of which there are so many.
#[test]
fn clients_and_groups_beyond_what_the_model_can_number_are_refused() {
    let lines = |line: &str| -> String { (0..=1_000).map(|at| line.replace('N', &at.to_string())).collect() };
    for (line, what) in [
        ("producer pN\n", "clients"),
        ("consumer cN assign=t-0 poll=manual\n", "clients"),
        ("reset gN t-0 earliest\n", "groups"),
    ] {
        let (status, out, _) = piped(&format!("brokers 1\ntopic t\n{}", lines(line)));
        assert_eq!(status, Status::Fails);
        assert_eq!(
            out,
            format!(
                "FAILED -\n-:1003: refused: 1001 {what} are too many for the model; have at most 1000\n\
                 1 files, 0 expectations, 1 failed\n"
            )
        );
    }
}

/// What cannot be is refused with what to do instead, each in a world of its own.
#[test]
fn what_the_model_does_not_have_is_refused_with_a_remedy() {
    let cases = [
        (
            "brokers 3\ntopic t assign=1,2/3\n",
            "-:2: refused: partition 0 has 2 replicas and partition 1 has 1 (INVALID_REPLICA_ASSIGNMENT); \
             name as many brokers for each partition\n",
        ),
        (
            "brokers 3\nset link 1-1 latency=5ms\n",
            "-:2: refused: a node has no link to itself; name two different nodes\n",
        ),
        (
            "brokers 3\ndrop fetch from 1 to 1\n",
            "-:2: refused: a node has no link to itself; name two different nodes\n",
        ),
        (
            "brokers 3\ntopic __consumer_offsets\n",
            "-:2: refused: __consumer_offsets is made with the first group, and not by hand; \
             set offsets.topic.num.partitions and offsets.topic.replication.factor of the brokers\n",
        ),
        (
            "brokers 3 offsets.topic.num.partitions=1001\n",
            "-:1: refused: offsets.topic.num.partitions=1001 is too many for the model; have at most 1000\n",
        ),
        (
            "brokers 1\ntopic a partitions=600\ntopic b partitions=401\n",
            "-:3: refused: 1001 partitions are too many for the model; have at most 1000 over all topics\n",
        ),
        (
            "brokers 1\ntopic a partitions=600\ntopic b partitions=400\npartitions b 401\n",
            "-:4: refused: 1001 partitions are too many for the model; have at most 1000 over all topics\n",
        ),
        (
            "brokers 1\ntopic a.b\ntopic a_b\n",
            "-:3: refused: topic a_b collides with a.b, since '.' and '_' are alike in names of metrics; \
             choose another name\n",
        ),
        (
            "brokers 3\ntopic t\nbroker 9 log.retention.ms=1\n",
            "-:3: refused: there is no broker 9; name one of 1 to 3\n",
        ),
        (
            "brokers 3\ntopic t\nbroker 2 log.retention.ms=1\n",
            "-:3: refused: something has happened to broker 2 already; \
             move the line up behind 'brokers', or use 'set broker'\n",
        ),
        (
            "brokers 1\ntopic t partitons=2\n",
            "-:2: refused: no topic config is called 'partitons'; the nearest is 'partitions'\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c assign=t-0 pol=manual\n",
            "-:3: refused: no consumer config is called 'pol'; the nearest is 'poll'\n",
        ),
        (
            "brokers 1\nkill contoller\n",
            "-:2: refused: no client is called 'contoller'; the nearest is 'controller'\n",
        ),
        (
            "brokers 1\ncut 1 contoller\n",
            "-:2: refused: no client is called 'contoller'; the nearest is 'controller'\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c group=g topics=t\nproducer g\n",
            "-:4: refused: there is a group named g already; choose another name\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c group=g topics=t\nconsumer g assign=t-0\n",
            "-:4: refused: there is a group named g already; choose another name\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c assign=t-0\nconsumer e group=c topics=t\n",
            "-:4: refused: there is a client named c already; choose another name\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c group=c topics=t\n",
            "-:3: refused: the consumer and its group are both named c; give them different names\n",
        ),
        (
            "brokers 1\ntopic t\nproducer p\nreset p t-0 earliest\n",
            "-:4: refused: there is a client named p already; choose another name\n",
        ),
        (
            "brokers 1\ntopic t\nreset g t-0 earliest\nproducer g\n",
            "-:4: refused: there is a group named g already; choose another name\n",
        ),
        (
            "brokers 1\ntopic t\nproducer p\nset consumer p acks=0\n",
            "-:4: refused: p is a producer; write 'set producer p …'\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c assign=t-0\nset producer c max.poll.records=1\n",
            "-:4: refused: c is a consumer; write 'set consumer c …'\n",
        ),
        (
            "brokers 1\ntopic t\nconsumer c assign=t-0\npoll c\n",
            "-:4: refused: c polls by itself; leave the line out, or declare it with poll=manual\n",
        ),
        (
            "brokers 3\ntopic t\nproducer p\ndrop produce from 1 to 2\n",
            "-:4: refused: broker 1 sends broker 2 no 'produce'; \
             from broker 1 to broker 2 there are 'fetch' and 'fetch-response'\n",
        ),
        (
            "brokers 3\ntopic t\nproducer p\ndrop fetch from p to 1\n",
            "-:4: refused: p sends broker 1 no 'fetch'; from p to broker 1 there is 'produce'\n",
        ),
        (
            "brokers 3\ntopic t\nproducer p\ndrop metadata from controller to p\n",
            "-:4: refused: the controller sends p no 'metadata'; name a path with a broker at one of its ends\n",
        ),
    ];
    for (text, message) in cases {
        let (status, out, _) = piped(text);
        assert_eq!(status, Status::Fails, "{text}");
        assert_eq!(out, format!("FAILED -\n{message}1 files, 0 expectations, 1 failed\n"));
    }
}

/// The largest world there may be is still a usable one, and its groups have their topic of commits beside it.
#[test]
fn a_thousand_partitions_and_a_group_are_not_too_many() {
    let (status, _, err) = piped(
        "brokers 1\ntopic t partitions=1000\nconsumer reader group=g topics=t auto.offset.reset=earliest\nproducer app\n\
         send app t-999 value=1\nrun until acked\nrun until read reader t-999 = 1 within 1m\n",
    );
    assert_eq!((status, err.as_str()), (Status::Holds, ""));
}

#[test]
fn a_file_of_faults_is_listed_to_its_end() {
    let (status, _, err) = piped(&"sned\n".repeat(5_000));
    assert_eq!(status, Status::Malformed);
    assert_eq!(err.lines().count(), 5_000);
    let last = "-:5000:1: found 'sned', expected a statement, the nearest is 'send'";
    assert_eq!(err.lines().last(), Some(last));
}

/// A command's status and errors, its output given to a device that is full.
#[cfg(target_os = "linux")]
fn with_a_full_disk(arguments: &[&str]) -> (Option<i32>, String) {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .stdout(full)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_said() {
    let full = "highwater: the output cannot be written: No space left on device (os error 28)\n";
    assert_eq!(with_a_full_disk(&["run", "-"]), (Some(2), full.to_owned()));
    let story = "tests/stories/c76-torn-batch.txt";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(story);
    assert_eq!(
        with_a_full_disk(&["run", path.to_str().unwrap()]),
        (Some(2), full.to_owned())
    );
}

#[test]
fn a_condition_that_does_not_come_true_stops_the_run() {
    let (status, out, _) = piped("brokers 3\ntopic t replicas=3\nrun until isr t-0 = 1 within 5s\nexpect lost = 0\n");
    assert_eq!(status, Status::Fails);
    assert_eq!(
        out,
        "FAILED -\n-:3: not reached within 5s: isr t-0 = 1, found 1,2,3\n1 files, 0 expectations, 1 failed\n"
    );
}

#[test]
fn a_malformed_file_is_not_run_and_all_its_faults_are_listed() {
    let (status, out, err) = piped("brokers 3\ntopci t\nexpect leader t-0 = x\n");
    assert_eq!(status, Status::Malformed);
    assert_eq!(out, "FAILED -\n1 files, 0 expectations, 0 failed\n");
    assert_eq!(
        err,
        "-:2:1: found 'topci', expected a statement, the nearest is 'topic'\n\
         -:3:21: found 'x', expected a number or 'none'\n"
    );
}

#[test]
fn a_file_that_cannot_be_read_does_not_hinder_the_others() {
    let files = vec!["no-such-file.txt".to_string(), "-".to_string()];
    let (status, out, err) = highwater(
        Arguments {
            files,
            ..Arguments::default()
        },
        LOST,
    );
    assert_eq!(status, Status::Malformed);
    assert_eq!(
        out,
        "FAILED no-such-file.txt\nok - (2 expectations)\n2 files, 2 expectations, 0 failed\n"
    );
    assert!(err.starts_with("no-such-file.txt: cannot be read: "), "{err}");
}

#[test]
fn a_trace_shows_every_event_and_its_rule() {
    let arguments = Arguments {
        trace: true,
        files: vec!["-".to_string()],
        ..Arguments::default()
    };
    let (_, out, _) = highwater(
        arguments,
        "brokers 1\ntopic t\nproducer app linger.ms=0\nsend app t value=x\nrun until acked\n",
    );
    assert_eq!(
        out,
        "0s operator creates topic=t partitions=1 [act]\n\
         0s broker 1 becomes-leader partition=t-0 epoch=0 start=0 [leader.become]\n\
         0s app starts [act]\n\
         0s app takes records=app#1 [act]\n\
         0s app batches records=app#1 partition=t-0 [producer.partition.sticky]\n\
         0s app sends to=1 acks=all attempt=1 partition=t-0 records=app#1 [producer.linger]\n\
         1ms broker 1 receives kind=produce from=app [net.deliver]\n\
         1ms broker 1 appends partition=t-0 offsets=0 epoch=0 as=leader [log.append.leader]\n\
         1ms broker 1 moves-hw partition=t-0 from=0 to=1 [hw.leader]\n\
         1ms broker 1 answers to=app partition=t-0 records=app#1 offset=0 [acks.all]\n\
         2ms app receives kind=produce-response from=broker 1 [net.deliver]\n\
         2ms app is-told-acked records=app#1 partition=t-0 offset=0 [producer.acknowledged]\n\
         ok - (0 expectations)\n\
         1 files, 0 expectations, 0 failed\n"
    );
}

#[test]
fn json_lines_carry_events_and_results() {
    let arguments = Arguments {
        json: true,
        files: vec!["-".to_string()],
        ..Arguments::default()
    };
    let (_, out, _) = highwater(
        arguments,
        "brokers 1\ntopic t\nexpect leader t-0 = 1\nexpect leader t-0 = 2\n",
    );
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let keys = |at: usize, key: &str| lines[at][key].to_string();
    assert_eq!(keys(0, "what"), "\"creates\"");
    let end = lines.len();
    assert_eq!(keys(end - 3, "expected"), "\"leader t-0 = 2\"");
    assert_eq!(keys(end - 2, "ok"), "false");
    assert_eq!(lines[end - 1].to_string(), r#"{"expectations":2,"failed":1,"files":1}"#);
}

#[test]
fn the_state_before_a_line_can_be_seen() {
    let arguments = Arguments {
        until: Some(7),
        files: vec!["-".to_string()],
        ..Arguments::default()
    };
    let (status, out, _) = highwater(arguments, LOST);
    assert_eq!(status, Status::Holds);
    assert_eq!(
        out,
        "ok - (0 expectations)\n\
         time now=7ms\n\
         broker 1 state=up\n\
         broker 2 state=up\n\
         broker 3 state=up\n\
         payments-0 leader=1 epoch=0 replicas=1,2,3 isr=1,2,3 elr=none\n\
         payments-0@1 start=0 hw=0 leo=1 flushed=0 segments=0 size=71 epochs=0:0\n\
         payments-0@2 start=0 hw=0 leo=0 flushed=0 segments=0 size=0 epochs=none\n\
         payments-0@3 start=0 hw=0 leo=0 flushed=0 segments=0 size=0 epochs=none\n\
         1 files, 0 expectations, 0 failed\n"
    );
}

/// A folder that is gone when the test is.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("highwater-{name}-{}", std::process::id())))
    }

    /// The paths of all files, told from the folder.
    fn files(&self) -> Vec<String> {
        fn collect(folder: &std::path::Path, root: &std::path::Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    collect(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.0, &self.0, &mut found);
        found.sort();
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What Kafka 4.4.0's `PropertiesUtils` and `CleanShutdownFileHandler` write, to the letter but for the ids. A disk that was
/// replaced was formatted later.
#[test]
fn a_data_directory_says_whose_it_is_as_kafka_writes_it() {
    let scratch = Scratch::new("directory");
    let arguments = Arguments {
        write_to: Some(scratch.0.clone()),
        files: vec!["-".to_string()],
        ..Arguments::default()
    };
    let scenario = "\
brokers 2
topic t replicas=2
run for 1s
kill 2
run for 90m
wipe 2
stop 1
run until state 1 = down
";
    let (status, _, err) = highwater(arguments, scenario);
    assert_eq!((status, err.as_str()), (Status::Holds, ""));
    let read = |path: &str| std::fs::read_to_string(scratch.0.join(path)).unwrap();
    let (cluster, first) = ("T4Ozt8o2QRaMN17gu4sulA", "7nS7N1LVd7yaY4NMxpI8vA");
    assert_eq!(
        read("broker-1/meta.properties"),
        format!("#\n#Tue Nov 14 22:13:20 UTC 2023\nnode.id=1\ndirectory.id={first}\nversion=1\ncluster.id={cluster}\n")
    );
    let replaced = read("broker-2/meta.properties");
    assert!(
        replaced.starts_with("#\n#Tue Nov 14 23:43:21 UTC 2023\nnode.id=2\ndirectory.id="),
        "{replaced}"
    );
    assert_eq!(
        read("broker-1/.kafka_cleanshutdown"),
        r#"{"version":0,"brokerEpoch":0}"#
    );
    assert!(!scratch.0.join("broker-2/.kafka_cleanshutdown").exists());
}

#[test]
fn the_brokers_files_become_real_ones() {
    let scratch = Scratch::new("files");
    let arguments = Arguments {
        write_to: Some(scratch.0.clone()),
        files: vec!["-".to_string()],
        ..Arguments::default()
    };
    let (status, out, err) = highwater(arguments.clone(), LOST);
    assert_eq!((status, err.as_str()), (Status::Holds, ""));
    assert!(
        out.contains(&format!("wrote 27 files to {}\n", scratch.0.display())),
        "{out}"
    );
    let of_a_broker = |broker: u32| {
        let files = [
            "log-start-offset-checkpoint",
            "meta.properties",
            "payments-0/00000000000000000000.index",
            "payments-0/00000000000000000000.log",
            "payments-0/00000000000000000000.timeindex",
            "payments-0/leader-epoch-checkpoint",
            "payments-0/partition.metadata",
            "recovery-point-offset-checkpoint",
            "replication-offset-checkpoint",
        ];
        files.map(|file| format!("broker-{broker}/{file}"))
    };
    assert_eq!(scratch.files(), (1..=3).flat_map(of_a_broker).collect::<Vec<_>>());
    let dumped = |path: &str| {
        let arguments = highwater::cli::dump::Arguments {
            print_data_log: true,
            paths: vec![scratch.0.join(path)],
            ..Default::default()
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = highwater::cli::dump::run(&arguments, &mut out, &mut err).unwrap();
        assert_eq!(
            status,
            highwater::cli::dump::Status::Sound,
            "{}",
            String::from_utf8_lossy(&err)
        );
        String::from_utf8(out).unwrap()
    };
    // The record that only the leader had lies in its file; the others have none.
    assert!(dumped("broker-1/payments-0").contains(" payload: 100\n"));
    assert!(!dumped("broker-2").contains("payload"));
    // What has been written is not written over.
    let (status, _, err) = highwater(arguments, LOST);
    let expected = format!(
        "--files: {} is not empty; name a folder that is, or one that does not exist yet\n",
        scratch.0.display()
    );
    assert_eq!((status, err), (Status::Malformed, expected));
}

#[test]
fn a_folder_is_for_one_scenario() {
    let scratch = Scratch::new("two");
    let arguments = Arguments {
        write_to: Some(scratch.0.clone()),
        files: vec!["a".to_string(), "b".to_string()],
        ..Arguments::default()
    };
    let expected = "--files: 2 scenarios cannot share a folder; run one at a time\n";
    assert_eq!(
        highwater(arguments, ""),
        (Status::Malformed, String::new(), expected.to_string())
    );
    assert!(!scratch.0.exists());
}
