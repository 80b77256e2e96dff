//! What was done to a pair of page stores, act by act, and the moment one looks at.
//!
//! Going back is playing fewer acts again. An act of one's own in the past ends what came after it.

use crate::lesson::Moment;
use crate::lesson::stores::{self, Statement, StoreRun};
use crate::ui::reading::Run;
use crate::wal::{Act, Stores};

/// A pair of stores that is played.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreSession {
    run: StoreRun,
    /// What was done; the first of them may be the run's own.
    acts: Vec<Act>,
    position: usize,
    now: Stores,
}

impl StoreSession {
    /// At a run's beginning.
    pub fn new(run: &StoreRun) -> StoreSession {
        StoreSession {
            now: Stores::new(&run.accounts),
            run: run.clone(),
            acts: Vec::new(),
            position: 0,
        }
    }

    /// The stores at the present.
    pub fn stores(&self) -> &Stores {
        &self.now
    }

    /// How many acts are recorded.
    pub fn len(&self) -> usize {
        self.acts.len()
    }

    /// Whether nothing was done yet.
    pub fn is_empty(&self) -> bool {
        self.acts.is_empty()
    }

    /// The act that led to the present.
    pub fn last(&self) -> Option<&Act> {
        self.position.checked_sub(1).and_then(|at| self.acts.get(at))
    }

    /// Goes to a position among the recorded acts.
    pub fn seek(&mut self, position: usize) {
        self.position = position.min(self.acts.len());
        self.now = Stores::new(&self.run.accounts);
        for act in &self.acts[..self.position] {
            // It was performed on the same stores before.
            let _ = self.now.perform(act);
        }
    }

    /// Whether everything done up to the present is the run's own.
    fn follows_its_run(&self) -> bool {
        let own = self.run.acts.iter().map(|(_, act)| act);
        self.position <= self.run.acts.len() && own.zip(&self.acts[..self.position]).all(|(own, act)| own == act)
    }

    /// The run's next act, up to where so many of its acts are done; says whether there was one. What somebody has done
    /// beside the run is put away first.
    ///
    /// # Errors
    /// Why the act was refused.
    pub fn step_within(&mut self, limit: usize) -> Result<bool, String> {
        if !self.follows_its_run() || self.position > limit {
            self.play_to(limit);
            return Ok(true);
        }
        match self.run.acts.get(self.position).filter(|_| self.position < limit) {
            Some((_, act)) => {
                let act = act.clone();
                self.perform(act).map(|()| true)
            }
            None => Ok(false),
        }
    }

    /// To where so many of the run's acts are done, and nothing else.
    pub fn play_to(&mut self, acts: usize) {
        self.acts = self.run.acts.iter().take(acts).map(|(_, act)| act.clone()).collect();
        self.seek(acts);
    }

    /// Does something now; what was recorded behind the present goes.
    ///
    /// # Errors
    /// Why it was refused; nothing has changed then.
    pub fn perform(&mut self, act: Act) -> Result<(), String> {
        self.now.perform(&act).map_err(|refused| refused.to_string())?;
        self.acts.truncate(self.position);
        self.acts.push(act);
        self.position += 1;
        Ok(())
    }

    /// Does what a line of a `store` block says.
    ///
    /// # Errors
    /// What is wrong with the line, or why it was refused.
    pub fn act(&mut self, text: &str) -> Result<(), String> {
        match stores::statement(text, 1) {
            Ok(Statement::Act(act)) => self.perform(act),
            Ok(Statement::Accounts(_)) => Err("the accounts are open; transfer between them".to_string()),
            Err(fault) => Err(format!("{}; {}", fault.wrong, fault.remedy)),
        }
    }
}

impl Run for StoreSession {
    fn position(&self) -> usize {
        self.position
    }

    fn acts(&self) -> usize {
        let done = &self.acts[..self.position];
        let own = self.run.acts.iter().map(|(_, act)| act);
        let shared = own.zip(done).take_while(|(own, act)| own == act).count();
        done[shared..].iter().filter(|act| !matches!(act, Act::Step(_))).count()
    }

    fn moment(&self) -> Moment<'_> {
        Moment::Stores(&self.now)
    }
}
