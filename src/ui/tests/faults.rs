//! What can be done to a broker, and what is said before it is.

use super::*;
use crate::ui::view::faults;

#[test]
fn a_fault_says_what_survives_before_it_is_done() {
    let mut page = landed(30);
    let survives = |page: &Page, fault| {
        let option = faults::option(&run(page).look(), BrokerId(1), fault);
        format!("{} {}", option.survives, option.dies).trim().to_string()
    };
    let end = run(&page).look().log(BrokerId(1)).expect("a log").log_end_offset();
    let stake = run(&page).look().only_on(BrokerId(1));
    assert_eq!(
        survives(&page, Fault::PowerOff),
        format!(
            "Nothing is on disk. 0–{} in page cache die. {stake} of them were acknowledged, and are nowhere else.",
            end - 1
        )
    );
    // What had reached the disk by itself survives, and is at stake like what survives a kill.
    let options = faults::options(&run(&page).look(), BrokerId(1));
    let loss = options[1].power_loss.clone().expect("nothing is flushed yet");
    assert_eq!(
        loss.told(end - 2),
        (
            format!("Log 0–{} on disk survives.", end - 3),
            format!(
                "{}–{} in page cache die. 1 of them was acknowledged, and is nowhere else. {} acknowledged records are only \
                 here, and lost if another leads.",
                end - 2,
                end - 1,
                stake - 1
            )
        )
    );
    assert_eq!(
        loss.told(end),
        (
            format!("Log 0–{} on disk survives.", end - 1),
            survives(&page, Fault::Kill)
                .split_once("host's. ")
                .map(|(_, rest)| rest.to_string())
                .unwrap_or_default()
        )
    );
    page.perform(Act::Fault(1, Fault::PowerOff));
    let row = &rows::rows(&run(&page).look(), Window::place(0, 8, 12, Some(0)))[0];
    assert_eq!(row.health, Health::Dark);
    assert!(row.cells.iter().all(|cell| matches!(cell.standing, Standing::Ghost(_))));
    assert_eq!(
        survives(&page, Fault::Start),
        "Its log is empty, and it registers. Then it can lead."
    );
}

#[test]
fn a_disk_may_be_wiped_and_a_broker_slowed() {
    let mut page = landed(30);
    let told = |page: &Page, id, fault| {
        let options = faults::options(&run(page).look(), crate::cluster::BrokerId(id));
        let option = options.iter().find(|option| option.fault == fault);
        option.map(|option| format!("{} {}", option.survives, option.dies).trim().to_string())
    };
    assert_eq!(told(&page, 3, Fault::Wipe), None, "its process runs");
    assert_eq!(
        told(&page, 3, Fault::Slow).as_deref(),
        Some(
            "Nothing is lost. It takes 10 times as long for everything; it lags, and leaves the ISR if it stays behind for \
             replica.lag.time.max.ms."
        )
    );
    page.perform(Act::Fault(3, Fault::Slow));
    assert_eq!((said(&page), told(&page, 3, Fault::Slow)), (String::new(), None));
    page.perform(Act::Fault(3, Fault::Hasten));
    assert_eq!(told(&page, 3, Fault::Hasten), None);
    page.perform(Act::Fault(3, Fault::Kill));
    let end = run(&page)
        .look()
        .log(crate::cluster::BrokerId(3))
        .map_or(0, |log| log.log_end_offset());
    assert_eq!(
        told(&page, 3, Fault::Wipe),
        Some(format!(
            "The copies on brokers 1 and 2 survive. Its copy of 0–{} dies, with all else on its disk.",
            end - 1
        ))
    );
    page.perform(Act::Fault(3, Fault::Wipe));
    assert_eq!((said(&page), told(&page, 3, Fault::Wipe)), (String::new(), None));
}

#[test]
fn a_broker_that_starts_is_not_offered_to_be_stopped() {
    let text = "brokers 3\ntopic t replicas=3\nrun for 1s\nkill 3\nstart 3\n";
    let session = Session::resumed(text, 9_999).expect("it plays");
    let offered = faults::options(&session.look(), BrokerId(3));
    let offered: Vec<Fault> = offered.iter().map(|option| option.fault).collect();
    assert!(
        offered.contains(&Fault::Kill) && !offered.contains(&Fault::Stop),
        "{offered:?}"
    );
}

#[test]
fn the_last_in_sync_leaves_the_partition_offline_however_it_ends() {
    let said = |text: &str, fault| {
        let session = Session::resumed(text, 9_999).expect("it plays");
        let option = faults::option(&session.look(), BrokerId(1), fault);
        format!("{} {}", option.survives, option.dies).trim().to_string()
    };
    let (alone, three) = (
        "brokers 1\ntopic t\nproducer p\nrun for 1s\n",
        "brokers 3\ntopic t replicas=3\nproducer p\nrun for 1s\n",
    );
    for fault in [Fault::Kill, Fault::PowerOff] {
        assert!(said(alone, fault).ends_with("Nobody else is in sync: the partition goes offline."));
        assert!(!said(three, fault).contains("offline"));
    }
    assert_eq!(
        said(three, Fault::Pause),
        "Nothing is lost. It answers nobody until it is resumed. 9 s after its last heartbeat another leads, and it does not know."
    );
    assert!(said(alone, Fault::Pause).contains("nobody leads, and it does not know"));
}
