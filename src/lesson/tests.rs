//! The lesson format: what a file says, and every mistake with its line and remedy.

use super::*;
use crate::cluster::{TopicId, TopicPartition};
use crate::history::{Playback, Stepped};
use crate::scenario::ast::Statement;
use crate::scenario::{Names, parse_statement};

/// A small lesson that uses every kind of block.
const SMALL: &str = r#"---
title: A small lesson
number: 99
minutes: 1
needs: 2, 6
misconceptions: M17
---
# One record

A **high watermark** is a number. See [the rule](rule:hw.leader).

```scene begin
brokers 1
topic t
producer app acks=1
# step
send app t count=2
run until acked
```

```caption
The log ends at {leo t-0@1}.
```

```predict next
ask: Where does the log end after one more?
- At 2 | misconception=M17
- At 3 | when: leo t-0@1 = 3
```

Now it happens.

```scene more
send app t
run until acked
```

```check
expect leo t-0@1 = 3
```

```puzzle
goal: leo t-0@1 = 5
allow: send app t, kill
par: 1
solution:
send app t count=2
run until acked
```

```real
In a real cluster there is more.
```
"#;

/// A lesson on the page stores.
const STORES: &str = r#"---
title: A transfer
number: 99
minutes: 1
misconceptions: M20
---
```store begin
accounts alice=100 bob=50
# step
transfer alice bob 30
step 3
```

```caption
At moment {moment} bob has {memory bob@in-place}; on disk alice has {disk alice@in-place}.
```

```predict moments
ask: At which moments does the store without a log end up wrong?
click: moments
answer: wrong in-place
```

```predict total
ask: What is left of 150 without a log?
- 150 | misconception=M20
- 120 | when: total in-place = 120
```

```store crash
crash
recover
```

```check
expect wrong in-place = 3-5
expect wrong logged = none
expect outcome in-place = wrong
expect not replayed logged
expect discarded logged = 1
expect total logged = 150
expect memory alice@logged != 70
```

```puzzle
goal: replayed logged = 1
goal: answered in-place = 0
allow: transfer, crash, recover
par: 3
solution:
transfer bob alice 10
step 4
crash
recover
```

```real
In a real cluster there is more.
```
"#;

#[test]
fn page_stores_are_played_like_a_cluster() {
    let lesson = Lesson::parse(STORES).expect("it is well-formed");
    let stops: Vec<(usize, usize)> = lesson.stops.iter().map(|stop| (stop.run, stop.done)).collect();
    assert_eq!(stops, [(0, 0), (0, 2), (0, 4)]);
    let replayed = lesson.replay().expect("it keeps its word");
    let caption = "At moment 3 bob has 50; on disk alice has 70.".to_string();
    assert_eq!(replayed.captions, [(1, caption)]);
    let answers = [
        ("moments".to_string(), Answer::Records(vec![(3, 5)])),
        ("total".to_string(), Answer::Choice(1)),
    ];
    assert_eq!((replayed.answers.as_slice(), replayed.checks), (answers.as_slice(), 7));
    let stores = lesson
        .stores(0)
        .expect("a run of stores")
        .play(4)
        .expect("it can be done");
    assert_eq!(stores.logged.total(), 150);
}

#[test]
fn each_mistake_about_the_stores_is_named_with_its_line_and_remedy() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "accounts alice=100 bob=50\n",
            "",
            "9: there are no stores yet; begin the first store block with 'accounts NAME=BALANCE NAME=BALANCE'",
        ),
        (
            "bob=50",
            "bob=fifty",
            "8: 'bob=fifty' opens no account; write NAME=BALANCE, each name once, in small letters, the balance in digits",
        ),
        (
            "transfer alice",
            "transfr alice",
            "10: 'transfr alice bob 30' is no statement of a store block; use 'accounts NAME=BALANCE NAME=BALANCE', 'transfer FROM TO AMOUNT', 'step [N]', 'crash [after MOMENT]' or 'recover'; did you mean 'transfer'?",
        ),
        (
            "alice bob 30",
            "alice bob 130",
            "10: this cannot be transferred; name two accounts and an amount that the first one holds; correct the scene",
        ),
        (
            "step 3",
            "step many",
            "11: 'many' is no number of writes; write a number from 0 to 6",
        ),
        (
            "memory bob@in-place",
            "memory carol@in-place",
            "15: 'carol' has no account; name one that 'accounts' lists",
        ),
        (
            "expect wrong logged = none",
            "expect wrong log = none",
            "37: 'log' is no store; name the store 'in-place' or 'logged'",
        ),
        (
            "outcome in-place = wrong",
            "outcome in-place = bad",
            "38: 'bad' cannot be the value of 'outcome in-place'; write before, after, wrong or none",
        ),
        (
            "expect total logged = 150",
            "expect total logged = 151",
            "41: expected total logged = 151, found 150; correct the words, or the engine",
        ),
        (
            "step 4\ncrash\nrecover\n```",
            "step 2\ncrash\nrecover\n```",
            "51: the solution does not reach 'replayed logged = 1', found 0; correct the solution, or the goal",
        ),
    ];
    for (from, to, expected) in cases {
        let text = STORES.replacen(from, to, 1);
        let found = match Lesson::parse(&text).and_then(|lesson| lesson.replay()) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().map(ToString::to_string).collect(),
        };
        assert!(
            found.iter().any(|fault| fault == expected),
            "{from} -> {to}: {found:#?}"
        );
    }
}

fn faults(text: &str) -> Vec<String> {
    match Lesson::parse(text) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

fn without(piece: &str) -> String {
    SMALL.replace(piece, "")
}

#[test]
fn a_lesson_falls_into_parts_and_stops() {
    let lesson = Lesson::parse(SMALL).expect("it is well-formed");
    assert_eq!(lesson.front.title, "A small lesson");
    assert_eq!((lesson.front.number, lesson.front.minutes), (99, 1));
    assert_eq!(lesson.front.needs, [2, 6]);
    assert_eq!(lesson.front.misconceptions, [Misconception::M17]);
    let kinds: Vec<&str> = lesson
        .parts
        .iter()
        .map(|part| match part {
            Part::Prose(_) => "prose",
            Part::Scene { .. } => "scene",
            Part::Caption { .. } => "caption",
            Part::Predict(_) => "predict",
            Part::Check { .. } => "check",
            Part::Ladder(_) => "ladder",
            Part::Puzzle(_) => "puzzle",
            Part::Design(_) => "design",
            Part::Real(_) => "real",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "prose", "scene", "caption", "predict", "prose", "scene", "check", "puzzle", "real"
        ]
    );
    let stops: Vec<(usize, usize, &str)> = lesson
        .stops
        .iter()
        .map(|stop| (stop.run, stop.done, stop.scene.as_str()))
        .collect();
    assert_eq!(stops, [(0, 3, "begin"), (0, 5, "begin"), (0, 7, "more")]);
    let prediction = lesson.predictions().next().expect("there is one");
    assert_eq!((prediction.asked, prediction.settled, prediction.line), (1, 2, 25));
    assert_eq!(lesson.puzzle().map(|puzzle| (puzzle.stop, puzzle.par)), Some((2, 1)));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let windows = format!("\u{feff}{}", SMALL.replace('\n', "\r\n"));
    assert_eq!(Lesson::parse(&windows), Lesson::parse(SMALL));
}

#[test]
fn an_act_is_allowed_by_the_words_it_begins_with() {
    let lesson = Lesson::parse(SMALL).expect("it is well-formed");
    let puzzle = lesson.puzzle().expect("there is one");
    assert!(puzzle.allows("send app t count=2"));
    assert!(puzzle.allows("kill 1"));
    assert!(!puzzle.allows("send app"));
    assert!(!puzzle.allows("killer 1"));
}

#[test]
fn each_mistake_is_named_with_its_line_and_remedy() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "title: A small lesson\n",
            "",
            "1: 'title' is missing; add a line 'title: …' to the front matter",
        ),
        (
            "number: 99",
            "number: many",
            "3: 'many' is no whole number; write digits only",
        ),
        (
            "minutes:",
            "minute:",
            "1: 'minutes' is missing; add a line 'minutes: …' to the front matter",
        ),
        (
            "needs: 2, 6",
            "needs: 2, 6\nneeds: 7",
            "6: 'needs' stands twice; keep one of them",
        ),
        (
            "misconceptions: M17",
            "misconceptions: M99",
            "6: 'M99' is no known misconception; use M01 to M25",
        ),
        (
            "```scene begin",
            "```scen begin",
            "12: 'scen' is no kind of block; use one of scene, store, caption, predict, check, ladder, puzzle, design, real, or 'text' for what is to be set as it is; did you mean 'scene'?",
        ),
        (
            "```scene begin",
            "```scene",
            "12: the scene has no proper name; write 'scene NAME' in small letters, digits and -",
        ),
        (
            "```scene more",
            "```scene begin",
            "33: a scene 'begin' stands above; give this one another name",
        ),
        (
            "brokers 1\n",
            "",
            "13: there is no world yet; begin the lesson's first scene with 'brokers N'",
        ),
        (
            "ask: Where",
            "as: Where",
            "26: 'as: Where does the log end after one more?' is no line of a prediction; use 'ask: …', options '- …', or 'click: records' or 'slider: UNIT FROM..TO' with 'answer: SUBJECT'",
        ),
        (
            "- At 2 | misconception=M17",
            "- At 2",
            "27: nothing says whether this option is right; add '| when: SUBJECT OP VALUE' or '| misconception=M17'",
        ),
        (
            "expect leo t-0@1 = 3\n",
            "send app t\n",
            "39: a check holds expectations only; write 'expect SUBJECT OP VALUE'",
        ),
        (
            "par: 1",
            "par: 2",
            "42: the solution has 1 acts, par is 2; make them equal",
        ),
        (
            "allow: send app t, kill",
            "allow: kill",
            "47: the solution's 'send app t count=2' is not allowed; add it to 'allow:' or find another solution",
        ),
        (
            "A **high",
            "A <b>high</b> **high",
            "10: raw HTML is not allowed in a lesson; write it as Markdown",
        ),
        (
            "rule:hw.leader",
            "rule:hw.leeder",
            "10: there is no rule 'hw.leeder'; take an id from the table of rules; did you mean 'hw.leader'?",
        ),
        (
            "misconceptions: M17",
            "misconceptions: M01",
            "27: M17 is not among the lesson's misconceptions; add M17 to 'misconceptions:' at the top",
        ),
        (
            "rule:hw.leader",
            "javascript:alert",
            "10: a link of this kind is not allowed in a lesson; begin it with https://, rule: or lesson:",
        ),
    ];
    for (from, to, expected) in cases {
        let found = faults(&SMALL.replacen(from, to, 1));
        assert!(
            found.iter().any(|fault| fault == expected),
            "{from} -> {to}: {found:#?}"
        );
    }
}

#[test]
fn a_statement_that_does_not_parse_is_named_on_its_line() {
    let found = faults(&SMALL.replace("topic t\n", "topik t\n"));
    assert!(
        found
            .iter()
            .any(|fault| fault.starts_with("14: found 'topik'") && fault.contains("'topic'")),
        "{found:#?}"
    );
}

#[test]
fn a_caption_has_25_words_at_most_and_a_value_counts_as_one() {
    let long = |count: usize| {
        let caption = format!("{}{{leo t-0@1}}.", "word ".repeat(count - 1));
        SMALL.replace("The log ends at {leo t-0@1}.", &caption)
    };
    assert_eq!(faults(&long(25)), Vec::<String>::new());
    assert_eq!(
        faults(&long(26)),
        ["22: the caption has 26 words; say it in 25; a {subject} counts as one"]
    );
}

#[test]
fn a_subject_where_nothing_fills_it_in_is_named() {
    let wrong = |line: u32, subject: &str| {
        format!(
            "{line}: '{{{subject}}}' stands outside a caption, so that it would be shown as it is written; write the \
             value, and put an 'expect' into the check beside it; or move it into a caption"
        )
    };
    let text = SMALL
        .replace("Now it happens.", "Now {leo t-0@1} it happens, `{leo t-0@1}`, {1, 2}.")
        .replace("ask: Where", "ask: {records t-0@1}. Where");
    assert_eq!(faults(&text), [wrong(26, "records t-0@1"), wrong(31, "leo t-0@1")]);
}

#[test]
fn a_prediction_needs_a_scene_that_settles_it() {
    let text = without("```scene more\nsend app t\nrun until acked\n```\n");
    let found = faults(&text);
    assert!(
        found.contains(
            &"25: no scene settles the prediction 'next'; put the scene that answers it behind it".to_string()
        ),
        "{found:#?}"
    );
}

#[test]
fn a_fifth_prediction_is_one_too_many() {
    let one =
        |n: usize| format!("```predict q{n}\nask: Well?\n- a | when: leo t-0@1 = 2\n- b | misconception=M17\n```\n");
    let text = SMALL.replace("Now it happens.", &(1..=4).map(one).collect::<Vec<_>>().join("\n"));
    assert_eq!(
        faults(&text),
        ["49: this is prediction 5 of the lesson; keep the 4 best"]
    );
}

/// A design in the place of the puzzle of [`SMALL`]; its block begins at line 42.
const DESIGN: &str = "```design
ask: Stand it.
brokers: 3
consumers: 2
faults: 1
kinds: kill, wipe
followers: behind
start: partitions=1 replicas=1 min.insync.replicas=1
par: 6
solution: partitions=2 replicas=3 min.insync.replicas=2
```
";

fn with_design(from: &str, to: &str) -> String {
    let (before, after) = SMALL.split_once("```puzzle").expect("it has a puzzle");
    let (_, after) = after.split_once("```\n").expect("it ends");
    format!("{before}{}{after}", DESIGN.replacen(from, to, 1))
}

#[test]
fn a_design_is_read_and_its_solution_stands_and_is_the_cheapest() {
    let lesson = Lesson::parse(&with_design("", "")).expect("it is well-formed");
    let task = lesson.design().expect("it has a design");
    assert_eq!((task.stop, task.par, task.demand.kinds.len()), (2, 6, 2));
    assert_eq!(lesson.replay().map(|replayed| replayed.checks), Ok(1));
    assert_eq!(task.cheaper(), Ok(None));
}

#[test]
fn each_mistake_of_a_design_is_named_with_its_line_and_remedy() {
    let cases = [
        (
            "brokers: 3",
            "broker: 3",
            "44: 'broker: 3' is no line of a design; use ask, brokers, consumers, faults, kinds, followers, start, par, solution; did you mean 'brokers'?",
        ),
        ("par: 6\n", "", "42: the design has no 'par'; add a line 'par: …'"),
        ("par: 6", "par: 6\npar: 6", "51: 'par' stands twice; keep one of them"),
        (
            "par: 6",
            "par: 7",
            "42: the solution costs 6, par is 7; make them equal",
        ),
        ("faults: 1", "faults: 3", "42: the number of faults is 3; choose 0 to 2"),
        (
            "faults: 1",
            "faults: one",
            "46: 'one' is no whole number; write digits only",
        ),
        (
            "kill, wipe",
            "kill, burn",
            "47: 'burn' is no kind of fault; use kill, power-off, wipe",
        ),
        (
            "behind",
            "late",
            "48: 'late' does not say where the followers stand; write 'in-sync' or 'behind'",
        ),
        (
            "start: partitions=1 ",
            "start: cheap partitions=1 ",
            "49: 'cheap' has no '='; write 'partitions=N replicas=N min.insync.replicas=N'",
        ),
        (
            "start: partitions=1 ",
            "start: ",
            "49: 'replicas=1 min.insync.replicas=1' is no design; write 'partitions=N replicas=N min.insync.replicas=N'",
        ),
        (
            "replicas=3 min.insync.replicas=2",
            "replicas=3 min.insync.replicas=1",
            "42: the solution does not stand what is asked; correct the solution, or ask for less",
        ),
        (
            "start: partitions=1 replicas=1 min.insync.replicas=1",
            "start: partitions=2 replicas=3 min.insync.replicas=2",
            "42: the design to begin with stands everything already; ask for more",
        ),
    ];
    for (from, to, expected) in cases {
        let found = match Lesson::parse(&with_design(from, to)).and_then(|lesson| lesson.replay()) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(found, [expected], "{from} -> {to}");
    }
}

/// The least cost of a design is proven: every cheaper one that the form can hold is struck until it breaks.
#[test]
fn no_cheaper_design_stands_what_a_lesson_asks() {
    for source in LIBRARY {
        let lesson = source.lesson().expect("it is well-formed");
        if let Some(task) = lesson.design() {
            assert_eq!(task.cheaper(), Ok(None), "{}", source.slug);
        }
    }
}

#[test]
fn every_misconception_has_its_id() {
    for number in 1..=25 {
        let id = format!("M{number:02}");
        assert_eq!(Misconception::from_id(&id).map(Misconception::id), Some(id.as_str()));
    }
}

/// Whoever answers wrongly is told the belief that the answer stands for, so it must be one that really leads there, and
/// what is said against it must speak of this very run. Whoever changes a row reads both again.
#[test]
fn each_wrong_answer_names_the_belief_that_leads_to_it() {
    let mut found = Vec::new();
    for source in LIBRARY {
        let lesson = source.lesson().expect("it is well-formed");
        for prediction in lesson.predictions() {
            let any = prediction.misconception.iter();
            found.extend(any.map(|belief| (&source.slug[..2], prediction.name.clone(), belief.id())));
            if let Kind::Options(choices) = &prediction.kind {
                let named = choices
                    .iter()
                    .filter_map(|choice| Some((&source.slug[..2], choice.text.clone(), choice.misconception?.id())));
                found.extend(named);
            }
        }
    }
    let expected = [
        ("06", "readable", "M17"),
        ("07", "Nothing: acks=all wants it on all three brokers", "M03"),
        ("08", "#7: it was there first", "M21"),
        ("08", "#7, and #8 behind it at offset 7", "M21"),
        ("04", "Only what had been flushed: offsets 0 to 3", "M20"),
        ("05", "All of both: three copies are enough", "M20"),
        ("09", "Now: two have it, and min.insync.replicas is 2", "M04"),
        ("10", "Neither: the topic demands two in sync", "M05"),
        ("10", "Yes: it is acknowledged and every in-sync replica has it", "M17"),
        ("11", "Yes, and the record is kept: it was acknowledged", "M21"),
        ("12", "#1: what lies above its watermark it cuts", "M22"),
        ("13", "It leads: a partition works while any replica lives", "M19"),
        ("13", "None: brokers 1 and 3 bring them back", "M21"),
        ("14", "One: the first one failed", "M07"),
        ("17", "At #4: only #5 was committed", "M25"),
        ("17", "At #5: it was the last one committed", "M25"),
        (
            "17",
            "Nothing: latest means that it begins at the end, at offset 8",
            "M23",
        ),
        ("15", "At 10 min 30 s: it is older than ten minutes then", "M01"),
        ("15", "Never, while its segment is the newest", "M02"),
        ("15", "No, never the active segment", "M02"),
        ("16", "remain", "M08"),
        ("16", "Yes, a minute after it was written", "M10"),
        ("18", "Both, #1 and #2: acks=all wrote them to all three", "M03"),
    ];
    let found: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|(slug, text, id)| (*slug, text.as_str(), *id))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn an_answer_by_click_or_slider_names_the_belief_behind_what_is_wrong() {
    let asked = |how: &str| {
        let options = "- At 2 | misconception=M17\n- At 3 | when: leo t-0@1 = 3\n";
        Lesson::parse(&SMALL.replacen(options, how, 1)).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("\n")
        })
    };
    for (how, expected) in [
        ("click: records\nanswer: offsets t-0@1\n", Ok(None)),
        (
            "click: records\nanswer: offsets t-0@1 | misconception=M17\n",
            Ok(Some("M17")),
        ),
        (
            "slider: records 1..9\nanswer: leo t-0@1 | misconception=M17\n",
            Ok(Some("M17")),
        ),
        (
            "click: records\nanswer: offsets t-0@1 | misconception=M99\n",
            Err("28: 'M99' is no known misconception; use M01 to M25"),
        ),
        (
            "click: records\nanswer: offsets t-0@1 | misconception=M01\n",
            Err("28: M01 is not among the lesson's misconceptions; add M01 to 'misconceptions:' at the top"),
        ),
        (
            "click: records\nanswer: offsets t-0@1 | M17\n",
            Err("28: 'M17' says nothing about an answer; write 'answer: SUBJECT | misconception=M17'"),
        ),
    ] {
        let found = asked(how).map(|lesson| {
            let mut beliefs = lesson.predictions().map(|one| one.misconception.map(Misconception::id));
            beliefs.next().flatten()
        });
        assert_eq!(found, expected.map_err(str::to_string), "{how}");
    }
}

/// Records bear one name, the one in their cells: `#7`, or `A7` where several producers send. What is in them is not their
/// name.
#[test]
fn lessons_call_records_what_the_picture_calls_them() {
    for source in LIBRARY {
        let text = source.text().expect("natively every file is at hand");
        assert!(
            !text.contains("{values ") && !text.contains("{read "),
            "{}",
            source.slug
        );
        let initials: Vec<char> = text
            .lines()
            .filter_map(|line| line.strip_prefix("producer ")?.chars().next())
            .map(|initial| initial.to_ascii_uppercase())
            .collect();
        let (_, body) = text.split_once("\n---\n").expect("front matter");
        for word in body.split(|c: char| !c.is_ascii_alphanumeric()) {
            let mut letters = word.chars();
            let initial = letters.next().filter(char::is_ascii_uppercase);
            let is_name = !letters.as_str().is_empty() && letters.as_str().chars().all(|c| c.is_ascii_digit());
            if let Some(initial) = initial.filter(|_| is_name && !body.contains(&format!("misconception={word}"))) {
                assert!(initials.contains(&initial), "{}: {word}", source.slug);
            }
        }
    }
}

#[test]
fn a_caption_names_records_and_says_values_in_words() {
    let text = SMALL
        .replace("The log ends at {leo t-0@1}.", "{records t-0@1}: {latency app#1}.")
        .replace("topic t\n", "topic t\nproducer bob\n");
    let captions = |text: &str| {
        let lesson = Lesson::parse(text).expect("it is well-formed");
        lesson.replay().expect("it keeps its word").captions
    };
    assert_eq!(captions(&text), [(1, "A1, A2: 7 ms.".to_string())]);
    let alone = text.replace("producer bob\n", "consumer bob assign=t-0\n");
    assert_eq!(captions(&alone), [(1, "#1, #2: 7 ms.".to_string())]);
    let reading = alone.replace("{records t-0@1}", "{records bob}");
    assert_eq!(captions(&reading), [(1, "#1, #2: 7 ms.".to_string())]);
}

/// A caption is set like prose: its links lead to rules, and nobody reads their marks.
#[test]
fn a_captions_links_are_checked_and_said_without_their_marks() {
    let linked = |rule: &str| SMALL.replace("The log ends at", &format!("[The log](rule:{rule}) ends at"));
    assert_eq!(
        faults(&linked("hw.leeder")),
        ["22: there is no rule 'hw.leeder'; take an id from the table of rules; did you mean 'hw.leader'?"]
    );
    for source in LIBRARY {
        let lesson = source.lesson().expect("it is well-formed");
        for (stop, caption) in lesson.replay().expect("it keeps its word").captions {
            let said = markdown::plain(&markdown::inline(&caption, 0, &mut Vec::new()));
            assert!(
                !said.contains(['[', ']', '*', '`', '{', '}']),
                "{} at stop {stop}: {said}",
                source.slug
            );
        }
    }
}

/// What stands under the picture is the lesson's own at each of its stops; the landing tells its story itself.
#[test]
fn every_stop_has_a_caption() {
    for source in &LIBRARY[1..] {
        let lesson = source.lesson().expect("it is well-formed");
        let bare: Vec<_> = (0..lesson.stops.len())
            .filter(|stop| lesson.captions_at(*stop).next().is_none())
            .map(|stop| &lesson.stops[stop])
            .collect();
        assert!(bare.is_empty(), "{}: {bare:?}", source.slug);
    }
}

#[test]
fn a_step_may_have_a_caption_of_its_own() {
    let captions = |step: &str| {
        let text = SMALL.replace("# step\n", &format!("# step{step}\n"));
        Lesson::parse(&text).map(|lesson| {
            let at = |stop| lesson.captions_at(stop).count();
            (lesson.stops.len(), at(0), at(1))
        })
    };
    assert_eq!(captions(""), Ok((3, 0, 1)));
    assert_eq!(captions(": The log ends at {leo t-0@1}."), Ok((3, 1, 1)));
    assert_eq!(
        captions("s are none of these"),
        Ok((2, 1, 0)),
        "a comment like any other"
    );
    let long = captions(&format!(": {}", "word ".repeat(26))).expect_err("it is too long");
    assert_eq!(long[0].line, 16);
    assert!(captions(": the log ends at {nonsense}").is_err());
}

/// Every lesson of the library, played from end to end.
#[test]
fn the_lessons_keep_their_word() {
    let wrong: String = LIBRARY
        .iter()
        .filter_map(|source| {
            let faults = source.lesson().and_then(|lesson| lesson.replay()).err()?;
            Some(format!("{}:\n{}", source.slug, listed(&faults)))
        })
        .collect();
    assert_eq!(wrong, "");
}

fn listed(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("  {fault}\n")).collect()
}

#[test]
fn every_lesson_ends_with_its_puzzle_and_what_is_otherwise_in_a_real_cluster() {
    for (at, source) in LIBRARY.iter().enumerate() {
        let lesson = source.lesson().expect("it is well-formed");
        let closes = lesson.puzzle().is_some() || lesson.design().is_some();
        assert_eq!(closes, at > 0, "{}", source.slug);
        assert!(
            lesson.parts.iter().any(|part| matches!(part, Part::Real(_))),
            "{}",
            source.slug
        );
        assert!(lesson.predictions().count() >= 1, "{}", source.slug);
        let number = format!("{:02}-", lesson.front.number);
        assert!(source.slug.starts_with(&number), "{} has number {number}", source.slug);
    }
}

/// The landing scene's promise: whenever the leader is killed, acks=1 loses a payment and acks=all loses none. Every step
/// of the scene is tried, and then many in the run that goes on behind it, as it does on the page.
#[test]
fn killing_the_leader_at_any_step_costs_a_payment_with_acks_1_and_none_with_acks_all() {
    for (acks, loses) in [("acks=1", true), ("acks=all", false)] {
        let text = crate::lesson::library::LIBRARY[0]
            .text()
            .expect("natively every file is at hand")
            .replace("acks=1 linger", &format!("{acks} linger"))
            .replace("count=40", "count=400");
        let lesson = Lesson::parse(&text).expect("it is well-formed");
        let mut script = lesson.script(0);
        script.lines.truncate(lesson.stops[1].done);
        let mut playback = Playback::new(script).expect("it begins");
        // The page shows it from the first yes on.
        let partition = TopicPartition {
            topic: TopicId(0),
            partition: 0,
        };
        while playback.ledger().acknowledged(partition).next().is_none() {
            assert_eq!(playback.step(), Stepped::Moved);
        }
        let (mut tried, mut steps) = (0, 0);
        while playback.world().now() < 40_000_000 {
            if steps < 60 || steps % 331 == 0 {
                let lost = lost_by_a_kill(&playback);
                assert_eq!(
                    lost > 0,
                    loses,
                    "{acks}, killed at {} us: {lost} lost",
                    playback.world().now()
                );
                tried += 1;
            }
            steps += 1;
            assert_eq!(playback.step(), Stepped::Moved);
        }
        assert!(tried > 62, "{tried} of {steps} steps");
    }
}

/// How many acknowledged payments are lost when the leader dies now and another one leads.
fn lost_by_a_kill(playback: &Playback) -> usize {
    let mut other = playback.clone();
    other.act(said("kill 1")).expect("it is up");
    assert_eq!(
        other.let_pass(said("run until leader payments-0 = 2")),
        Ok(Stepped::Moved)
    );
    other.ledger().lost_count(other.world())
}

fn said(text: &str) -> Statement {
    let mut names = Names::default();
    for line in ["brokers 3", "topic payments replicas=3"] {
        names.declare(&parse_statement(line, &Names::default()).expect("well-formed"));
    }
    parse_statement(text, &names).expect("well-formed")
}

#[test]
fn each_mistake_of_a_ladder_is_named_with_its_line_and_remedy() {
    let ladder = |lines: &str| {
        let block = format!("```ladder\n{lines}```\n\n```puzzle");
        let text = SMALL.replacen("```puzzle", &block, 1);
        let line = text.lines().position(|line| line == "```ladder").unwrap_or_default() + 2;
        let faults = match Lesson::parse(&text) {
            Ok(lesson) => lesson.replay().err().unwrap_or_default(),
            Err(faults) => faults,
        };
        let told = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        told.replace(&format!("{line}: "), "first: ")
            .replace(&format!("{}: ", line - 1), "fence: ")
    };
    let cases = [
        (
            "",
            "fence: the ladder has no column; write 'column: SCENE | SUBJECT OP VALUE | HEADING'",
        ),
        (
            "column: more\n",
            "first: 'column: more' is no line of a ladder; write 'column: SCENE | SUBJECT OP VALUE | HEADING'",
        ),
        (
            "column: mire | lost = 0 | Lost\n",
            "first: no scene 'mire' stands above; name a scene above; did you mean 'more'?",
        ),
        (
            "column: more | lost = 0 | Lost\n",
            "first: this holds under all of the rules; correct the column, or the engine",
        ),
        (
            "column: more | lost = 1 | Lost\n",
            "first: under kip-320 expected lost = 1, found 0; correct the column, or the engine",
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(ladder(lines), expected, "{lines}");
    }
}

#[test]
fn a_ladder_shows_which_rule_keeps_what() {
    let source = LIBRARY.iter().find(|source| source.slug == "12-epochs-not-watermarks");
    let lesson = source.expect("it is shipped").lesson().expect("it is well-formed");
    let ladder = lesson.ladder().expect("the lesson has a ladder");
    let rungs = ladder.climb(&lesson);
    let told: Vec<String> = ladder::RULES
        .iter()
        .zip(&rungs)
        .map(|(rules, rungs)| {
            let found: Vec<&str> = rungs.iter().map(|rung| rung.found.as_str()).collect();
            format!("{rules}: {}", found.join(", "))
        })
        .collect();
    let expected = [
        "hw-truncation: 1, holds, broken",
        "kip-101: none, broken, broken",
        "kip-279: none, holds, broken",
        "kip-320: none, holds, holds",
    ];
    assert_eq!(told, expected);
}
