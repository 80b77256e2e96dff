//! The store: accounts on pages, the layers they pass through, the writes of a transfer, the crash, and recovery.

use std::fmt;
use std::sync::Arc;

use super::entry::{ENTRY, Entry, Image, SECTOR};

/// The moments of a transfer at which the power can go: before, between and after its six writes.
pub const MOMENTS: usize = 7;

/// In which order a store writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// One page after the other, each down to the disk.
    InPlace,
    /// What will be done first, to a log; then the pages.
    Logged,
}

/// An account's balance in each layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// In the process's memory; nothing while it is down.
    pub memory: Option<i64>,
    /// Written, and waiting in the page cache.
    pub cache: Option<i64>,
    /// On disk.
    pub disk: i64,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Whose it is.
    pub name: String,
    /// Its page.
    pub page: Page,
}

/// The log in its layers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Log {
    /// The entry that waits in the page cache.
    pub cache: Option<Entry>,
    /// The file on disk. It is made longer by a whole entry at once: what has not arrived yet is zeros.
    pub disk: Vec<u8>,
}

/// One write. Each is whole or not there at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// A page changes in memory.
    ChangePage(Image),
    /// Both pages change in memory.
    ChangePages([Image; 2]),
    /// A page is written to the page cache.
    CachePage(Image),
    /// A page reaches the disk.
    SyncPage(Image),
    /// The entry is written to the page cache.
    CacheEntry(Entry),
    /// Half of the entry reaches the disk: sector 0 or 1 of it.
    SyncSector(Entry, usize),
}

/// What recovery found, in the order in which it read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There is no log: the pages are taken as they lie there.
    NoLog,
    /// The log is empty: nothing was under way.
    EmptyLog,
    /// A whole entry: its pages were written again.
    Replayed(Entry),
    /// An entry whose checksum does not fit: the log was cut before it, and the pages were left alone.
    Discarded {
        /// Where in the log it begins, in bytes.
        at: usize,
        /// How many of its bytes had arrived.
        arrived: usize,
    },
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As if it had never begun.
    Before,
    /// It is done.
    After,
    /// Half of it is done.
    Wrong,
}

/// Why an act was not performed; the store is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The store has crashed and has not recovered.
    Down,
    /// The store has not crashed.
    Up,
    /// A transfer is under way.
    Busy,
    /// No transfer is under way, or it is past this moment.
    Past,
    /// Nobody of this name has an account.
    Unknown(String),
    /// The account holds less than this, the amount is none, or both accounts are one.
    NoSuchAmount,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Down => f.write_str("the store is down; let it 'recover' first"),
            Refused::Up => f.write_str("the store is up; only after a 'crash' it can recover"),
            Refused::Busy => f.write_str("a transfer is under way; 'step' through its writes first"),
            Refused::Past => f.write_str("no write is left before that moment; begin a 'transfer' first"),
            Refused::Unknown(name) => write!(f, "'{name}' has no account; name one of those that 'accounts' lists"),
            Refused::NoSuchAmount => {
                f.write_str("this cannot be transferred; name two accounts and an amount that the first one holds")
            }
        }
    }
}

impl std::error::Error for Refused {}

/// A page store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    discipline: Discipline,
    accounts: Vec<Account>,
    log: Log,
    /// The writes of the present transfer, or of the last one.
    writes: Vec<Write>,
    done: usize,
    transfers: u32,
    answered: u32,
    recovery: Vec<Finding>,
    /// The store before the present transfer, with its writes still to come.
    before: Option<Arc<Store>>,
}

impl Store {
    /// A store at rest with these balances, in memory and on disk.
    pub fn new(discipline: Discipline, accounts: &[(String, i64)]) -> Store {
        let account = |(name, balance): &(String, i64)| Account {
            name: name.clone(),
            page: Page {
                memory: Some(*balance),
                cache: None,
                disk: *balance,
            },
        };
        Store {
            discipline,
            accounts: accounts.iter().map(account).collect(),
            log: Log::default(),
            writes: Vec::new(),
            done: 0,
            transfers: 0,
            answered: 0,
            recovery: Vec::new(),
            before: None,
        }
    }

    /// In which order it writes.
    pub fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// The accounts, page by page.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The account of this name.
    pub fn account(&self, name: &str) -> Option<&Account> {
        self.accounts.iter().find(|account| account.name == name)
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The writes of the present transfer, or of the last one, in their order.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// How many of them are done: the moment.
    pub fn moment(&self) -> usize {
        self.done
    }

    /// How many transfers were answered with a yes, which happens when nothing can undo them any more.
    pub fn answered(&self) -> u32 {
        self.answered
    }

    /// What the last recovery found.
    pub fn recovery(&self) -> &[Finding] {
        &self.recovery
    }

    /// Whether the process runs.
    pub fn is_up(&self) -> bool {
        self.accounts.iter().all(|account| account.page.memory.is_some())
    }

    /// The sum of all balances, of those in memory or, of a store that is down, of those on disk.
    pub fn total(&self) -> i64 {
        let balance = |account: &Account| account.page.memory.unwrap_or(account.page.disk);
        self.accounts.iter().map(balance).fold(0, i64::saturating_add)
    }

    /// Begins a transfer: its writes are listed, none is done.
    ///
    /// # Errors
    /// The store is down or busy, or this cannot be transferred.
    pub fn transfer(&mut self, from: &str, to: &str, amount: i64) -> Result<(), Refused> {
        if !self.is_up() {
            return Err(Refused::Down);
        }
        if self.done < self.writes.len() {
            return Err(Refused::Busy);
        }
        let images = self.images(from, to, amount)?;
        self.transfers += 1;
        let entry = Entry {
            number: self.transfers,
            images,
        };
        self.writes = writes(self.discipline, entry);
        self.done = 0;
        self.before = None;
        self.before = Some(Arc::new(self.clone()));
        Ok(())
    }

    /// What the two pages are to become.
    fn images(&self, from: &str, to: &str, amount: i64) -> Result<[Image; 2], Refused> {
        let find = |name: &str| {
            let page = self.accounts.iter().position(|account| account.name == name);
            let balance = page.and_then(|page| self.accounts[page].page.memory);
            let page = page.and_then(|page| u32::try_from(page).ok());
            page.zip(balance).ok_or_else(|| Refused::Unknown(name.to_string()))
        };
        let ((giver, has), (taker, holds)) = (find(from)?, find(to)?);
        let (Some(left), Some(sum)) = (has.checked_sub(amount), holds.checked_add(amount)) else {
            return Err(Refused::NoSuchAmount);
        };
        if giver == taker || amount <= 0 || left < 0 {
            return Err(Refused::NoSuchAmount);
        }
        let image = |page, balance| Image { page, balance };
        Ok([image(giver, left), image(taker, sum)])
    }

    /// Does the next write, if one is left.
    ///
    /// # Errors
    /// The store is down, or has nothing to write.
    pub fn step(&mut self) -> Result<Write, Refused> {
        if !self.is_up() {
            return Err(Refused::Down);
        }
        let write = *self.writes.get(self.done).ok_or(Refused::Past)?;
        self.done += 1;
        self.perform(write);
        Ok(write)
    }

    fn perform(&mut self, write: Write) {
        match write {
            Write::ChangePage(image) => self.change(image, |page, balance| page.memory = Some(balance)),
            Write::ChangePages(images) => {
                for image in images {
                    self.change(image, |page, balance| page.memory = Some(balance));
                }
            }
            Write::CachePage(image) => self.change(image, |page, balance| page.cache = Some(balance)),
            Write::SyncPage(image) => {
                self.change(image, put_on_disk);
                self.answer(self.discipline == Discipline::InPlace && self.done == self.writes.len());
            }
            Write::CacheEntry(entry) => self.log.cache = Some(entry),
            Write::SyncSector(entry, 0) => {
                self.log.disk.extend_from_slice(&entry.to_bytes()[..SECTOR]);
                self.log.disk.resize(self.log.disk.len() + SECTOR, 0);
            }
            Write::SyncSector(entry, _) => {
                let end = self.log.disk.len();
                self.log.disk[end - SECTOR..].copy_from_slice(&entry.to_bytes()[SECTOR..]);
                self.log.cache = None;
                self.answer(true);
            }
        }
    }

    fn answer(&mut self, certain: bool) {
        self.answered += u32::from(certain);
    }

    fn change(&mut self, image: Image, how: impl Fn(&mut Page, i64)) {
        // An entry names pages of this store: its checksum has been looked at.
        if let Some(account) = self.accounts.get_mut(image.page as usize) {
            how(&mut account.page, image.balance);
        }
    }

    /// The power goes: what is on disk stays.
    ///
    /// # Errors
    /// It is down already.
    pub fn crash(&mut self) -> Result<(), Refused> {
        if !self.is_up() {
            return Err(Refused::Down);
        }
        for account in &mut self.accounts {
            account.page.memory = None;
            account.page.cache = None;
        }
        self.log.cache = None;
        self.recovery.clear();
        Ok(())
    }

    /// The store starts again: it reads its log, if it has one, and brings the pages to what the log says. Then the log is
    /// emptied.
    ///
    /// # Errors
    /// The store is up.
    pub fn recover(&mut self) -> Result<&[Finding], Refused> {
        if self.is_up() {
            return Err(Refused::Up);
        }
        self.recovery = self.read_log();
        for finding in self.recovery.clone() {
            if let Finding::Replayed(entry) = finding {
                entry
                    .images
                    .into_iter()
                    .for_each(|image| self.change(image, put_on_disk));
            }
        }
        self.log.disk.clear();
        for account in &mut self.accounts {
            account.page.memory = Some(account.page.disk);
        }
        // What was left to write of the transfer is done or will never be.
        self.writes.truncate(self.done);
        Ok(&self.recovery)
    }

    fn read_log(&self) -> Vec<Finding> {
        if self.discipline == Discipline::InPlace {
            return vec![Finding::NoLog];
        }
        if self.log.disk.is_empty() {
            return vec![Finding::EmptyLog];
        }
        let mut found = Vec::new();
        for (index, bytes) in self.log.disk.as_chunks::<ENTRY>().0.iter().enumerate() {
            match Entry::from_bytes(bytes) {
                Some(entry) => found.push(Finding::Replayed(entry)),
                None => {
                    let arrived = bytes
                        .chunks(SECTOR)
                        .filter(|sector| sector.iter().any(|byte| *byte != 0));
                    found.push(Finding::Discarded {
                        at: index * ENTRY,
                        arrived: arrived.count() * SECTOR,
                    });
                    break;
                }
            }
        }
        found
    }

    /// How the present transfer, or the last one, would end if the power went now; nothing if there was none.
    pub fn outcome(&self) -> Option<Outcome> {
        let mut left = self.clone();
        if left.is_up() {
            left.crash().ok()?;
        }
        left.recover().ok()?;
        left.compare(self.before.as_deref()?)
    }

    /// How the present transfer, or the last one, ends for each moment at which the power can go; empty if there was none.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let Some(before) = &self.before else { return Vec::new() };
        let mut running = Store::clone(before);
        let mut outcomes = Vec::with_capacity(MOMENTS);
        loop {
            let mut left = running.clone();
            let ended = left.crash().and_then(|()| left.recover().map(|_| ()));
            outcomes.extend(ended.ok().and_then(|()| left.compare(before)));
            if running.step().is_err() {
                return outcomes;
            }
        }
    }

    /// How far a recovered store has come from the store before the transfer.
    fn compare(&self, before: &Store) -> Option<Outcome> {
        let mut after = before.clone();
        while after.step().is_ok() {}
        let balances = |store: &Store| {
            store
                .accounts
                .iter()
                .map(|account| account.page.memory)
                .collect::<Vec<_>>()
        };
        Some(match balances(self) {
            now if now == balances(before) => Outcome::Before,
            now if now == balances(&after) => Outcome::After,
            _ => Outcome::Wrong,
        })
    }
}

fn put_on_disk(page: &mut Page, balance: i64) {
    page.cache = None;
    page.disk = balance;
}

fn writes(discipline: Discipline, entry: Entry) -> Vec<Write> {
    let [giver, taker] = entry.images;
    match discipline {
        Discipline::InPlace => vec![
            Write::ChangePage(giver),
            Write::CachePage(giver),
            Write::SyncPage(giver),
            Write::ChangePage(taker),
            Write::CachePage(taker),
            Write::SyncPage(taker),
        ],
        Discipline::Logged => vec![
            Write::ChangePages(entry.images),
            Write::CacheEntry(entry),
            Write::SyncSector(entry, 0),
            Write::SyncSector(entry, 1),
            Write::SyncPage(giver),
            Write::SyncPage(taker),
        ],
    }
}
