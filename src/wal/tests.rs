//! The lesson's moments, and both stores against the one rule: a transfer is there as a whole, or not at all.

use proptest::prelude::*;

use super::*;

fn accounts() -> Vec<(String, i64)> {
    [("alice", 100), ("bob", 50)]
        .map(|(name, balance)| (name.to_string(), balance))
        .to_vec()
}

fn transferring(discipline: Discipline) -> Store {
    let mut store = Store::new(discipline, &accounts());
    store.transfer("alice", "bob", 30).expect("she has 100");
    store
}

fn crashed_at(discipline: Discipline, moment: usize) -> Store {
    let mut store = transferring(discipline);
    for _ in 0..moment {
        store.step().expect("a transfer has six writes");
    }
    store.crash().expect("it is up");
    store.recover().expect("it is down");
    store
}

fn balances(store: &Store) -> Vec<i64> {
    store
        .accounts()
        .iter()
        .filter_map(|account| account.page.memory)
        .collect()
}

#[test]
fn without_a_log_three_of_seven_moments_lose_money_and_with_one_none() {
    use Outcome::{After, Before, Wrong};
    assert_eq!(
        transferring(Discipline::InPlace).outcomes(),
        [Before, Before, Before, Wrong, Wrong, Wrong, After]
    );
    assert_eq!(
        transferring(Discipline::Logged).outcomes(),
        [Before, Before, Before, Before, After, After, After]
    );
    assert_eq!(balances(&crashed_at(Discipline::InPlace, 3)), [70, 50]);
    assert_eq!(crashed_at(Discipline::InPlace, 3).total(), 120);
}

#[test]
fn recovery_says_what_it_found_at_each_moment() {
    let entry = |images: [(u32, i64); 2]| Entry {
        number: 1,
        images: images.map(|(page, balance)| Image { page, balance }),
    };
    let whole = Finding::Replayed(entry([(0, 70), (1, 80)]));
    let torn = Finding::Discarded { at: 0, arrived: 16 };
    let found: Vec<Finding> = (0..MOMENTS)
        .flat_map(|moment| crashed_at(Discipline::Logged, moment).recovery().to_vec())
        .collect();
    let empty = Finding::EmptyLog;
    assert_eq!(found, [empty, empty, empty, torn, whole, whole, whole]);
    assert_eq!(crashed_at(Discipline::InPlace, 3).recovery(), [Finding::NoLog]);
}

#[test]
fn a_page_passes_through_memory_and_cache_to_the_disk() {
    let mut store = transferring(Discipline::InPlace);
    let layers = |store: &Store| {
        let Page { memory, cache, disk } = store.accounts()[0].page;
        (memory, cache, disk)
    };
    let mut seen = vec![layers(&store)];
    for _ in 0..3 {
        store.step().expect("a transfer has six writes");
        seen.push(layers(&store));
    }
    let expected = [
        (Some(100), None, 100),
        (Some(70), None, 100),
        (Some(70), Some(70), 100),
        (Some(70), None, 70),
    ];
    assert_eq!(seen, expected);
    store.crash().expect("it is up");
    assert_eq!(layers(&store), (None, None, 70));
}

#[test]
fn the_answer_comes_when_nothing_can_undo_the_transfer() {
    for (discipline, first) in [(Discipline::InPlace, 6), (Discipline::Logged, 4)] {
        let mut store = transferring(discipline);
        let mut answered = vec![store.answered()];
        while store.step().is_ok() {
            answered.push(store.answered());
        }
        assert_eq!(answered.iter().position(|yes| *yes == 1), Some(first));
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_its_remedy() {
    let mut store = Store::new(Discipline::Logged, &accounts());
    let unknown = Refused::Unknown("carol".to_string());
    assert_eq!(store.transfer("alice", "carol", 1), Err(unknown));
    for (to, amount) in [("bob", 101), ("bob", 0), ("bob", i64::MIN), ("alice", 1)] {
        assert_eq!(store.transfer("alice", to, amount), Err(Refused::NoSuchAmount));
    }
    assert_eq!(store.step(), Err(Refused::Past));
    assert_eq!(store.recover(), Err(Refused::Up));
    store.transfer("alice", "bob", 30).expect("she has 100");
    assert_eq!(store.transfer("alice", "bob", 30), Err(Refused::Busy));
    store.crash().expect("it is up");
    assert_eq!(store.crash(), Err(Refused::Down));
    assert_eq!(store.step(), Err(Refused::Down));
    let said = Refused::Unknown("carol".to_string()).to_string();
    assert_eq!(said, "'carol' has no account; name one of those that 'accounts' lists");
}

#[test]
fn both_stores_move_together_or_not_at_all() {
    let mut stores = Stores::new(&accounts());
    let transfer = Act::Transfer {
        from: "alice".to_string(),
        to: "bob".to_string(),
        amount: 30,
    };
    for act in [transfer, Act::Step(2), Act::CrashAfter(3)] {
        stores.perform(&act).expect("it can be done");
    }
    let down = stores.clone();
    assert_eq!(stores.perform(&Act::Crash), Err(Refused::Down));
    assert_eq!(stores, down);
    stores.perform(&Act::Recover).expect("they are down");
    assert_eq!((stores.in_place.total(), stores.logged.total()), (120, 150));
    assert_eq!(stores.perform(&Act::CrashAfter(2)), Err(Refused::Past));
}

proptest! {
    /// Transfers with a crash at any write of any of them: the logged store always holds what a plain list of the
    /// transfers that were answered, or whose entry had arrived, adds up to; money never appears or vanishes.
    #[test]
    fn a_logged_store_holds_whole_transfers(
        acts in prop::collection::vec((0..3usize, 0..3usize, 1..60i64, prop::option::of(0..MOMENTS)), 1..20),
    ) {
        let names = ["alice", "bob", "carol"];
        let mut model = [100, 50, 0];
        let opening: Vec<(String, i64)> = names.iter().zip(model).map(|(name, has)| (name.to_string(), has)).collect();
        let mut store = Store::new(Discipline::Logged, &opening);
        let mut answers = 0;
        for (from, to, amount, crash) in acts {
            let possible = from != to && model[from] >= amount;
            prop_assert_eq!(store.transfer(names[from], names[to], amount).is_ok(), possible);
            if !possible {
                continue;
            }
            let moment = crash.unwrap_or(MOMENTS - 1);
            for _ in 0..moment {
                store.step().expect("a transfer has six writes");
            }
            let decided = moment >= 4;
            if crash.is_some() {
                store.crash().expect("it is up");
                store.recover().expect("it is down");
            }
            if decided {
                model[from] -= amount;
                model[to] += amount;
                answers += 1;
            }
            prop_assert_eq!(balances(&store), model);
            prop_assert_eq!((store.answered(), store.total()), (answers, 150));
            let again = store.clone();
            store.crash().expect("it is up");
            store.recover().expect("it is down");
            prop_assert_eq!(balances(&store), balances(&again), "a second recovery changes nothing");
        }
    }

    /// No byte of an entry can change without its checksum telling.
    #[test]
    fn an_entry_that_changed_is_no_entry(number: u32, balances: [i64; 2], at in 0..32usize, flip in 1..=255u8) {
        let entry = Entry { number, images: [0, 1].map(|page| Image { page, balance: balances[page as usize] }) };
        let mut bytes = entry.to_bytes();
        prop_assert_eq!(Entry::from_bytes(&bytes), Some(entry));
        bytes[at] ^= flip;
        prop_assert_eq!(Entry::from_bytes(&bytes), None);
    }
}
