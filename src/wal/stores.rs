//! Two stores side by side, one without and one with a log: the same accounts, the same acts, write by write in step.

use super::store::{Discipline, Refused, Store};

/// What can be done to the stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A transfer begins.
    Transfer {
        /// Who gives.
        from: String,
        /// Who takes.
        to: String,
        /// How much.
        amount: i64,
    },
    /// So many writes are done.
    Step(u32),
    /// The power goes now.
    Crash,
    /// Writes are done up to this moment of the transfer, then the power goes.
    CrashAfter(usize),
    /// The stores start again.
    Recover,
}

/// Both stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stores {
    /// The one that has no log.
    pub in_place: Store,
    /// The one that has a log.
    pub logged: Store,
}

impl Stores {
    /// Both at rest with these balances.
    pub fn new(accounts: &[(String, i64)]) -> Stores {
        Stores {
            in_place: Store::new(Discipline::InPlace, accounts),
            logged: Store::new(Discipline::Logged, accounts),
        }
    }

    /// The store of this discipline.
    pub fn store(&self, discipline: Discipline) -> &Store {
        match discipline {
            Discipline::InPlace => &self.in_place,
            Discipline::Logged => &self.logged,
        }
    }

    /// Does the same to both.
    ///
    /// # Errors
    /// One of them refuses it; both are as they were.
    pub fn perform(&mut self, act: &Act) -> Result<(), Refused> {
        let mut both = self.clone();
        for store in [&mut both.in_place, &mut both.logged] {
            perform(store, act)?;
        }
        *self = both;
        Ok(())
    }
}

fn perform(store: &mut Store, act: &Act) -> Result<(), Refused> {
    match act {
        Act::Transfer { from, to, amount } => store.transfer(from, to, *amount),
        Act::Step(writes) => (0..*writes).try_for_each(|_| store.step().map(|_| ())),
        Act::Crash => store.crash(),
        Act::CrashAfter(moment) => {
            if *moment < store.moment() {
                return Err(Refused::Past);
            }
            while store.moment() < *moment {
                store.step()?;
            }
            store.crash()
        }
        Act::Recover => store.recover().map(|_| ()),
    }
}
