//! What the instance has begun and its callers have not heard the end of: requests, and watches.
//! `stop` waits for it. Any thread may call these functions. None calls another plugin while it
//! holds the lock.

use crate::cluster::Handle;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A number stands for each watch, so that a cancel that comes too late finds nothing.
pub type Number = usize;

struct Watch {
    inner: Option<Handle>, // that of the next cluster; None: it has not begun yet
    cancelled: bool,
}

#[derive(Default)]
struct State {
    count: usize, // requests and watches
    last: Number,
    watches: BTreeMap<Number, Watch>,
}

#[derive(Default)]
pub struct Open {
    state: Mutex<State>,
    none_left: Condvar,
}

/// One request or watch. It is open until this is dropped.
pub struct Ticket(Arc<Open>);

impl Ticket {
    pub fn open(&self) -> &Open {
        &self.0
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.count -= 1;
        if state.count == 0 {
            self.0.none_left.notify_all();
        }
    }
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(self: &Arc<Open>) -> Ticket {
        self.lock().count += 1;
        Ticket(self.clone())
    }

    /// A watch that is about to begin.
    pub fn add_watch(&self) -> Number {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        state.watches.insert(number, Watch { inner: None, cancelled: false });
        number
    }

    pub fn remove_watch(&self, number: Number) {
        self.lock().watches.remove(&number);
    }

    /// The next cluster has begun the watch with this number.
    pub fn begun(&self, number: Number, inner: Handle) {
        // Else it has ended already.
        if let Some(watch) = self.lock().watches.get_mut(&number) {
            watch.inner = Some(inner);
        }
    }

    /// The next cluster's watch that has this number; None: it has ended, or ends.
    pub fn find(&self, number: Number) -> Option<Handle> {
        self.lock().watches.get(&number).filter(|watch| !watch.cancelled)?.inner
    }

    /// As find(), for a caller who cancels it now. Nobody else does.
    pub fn take(&self, number: Number) -> Option<Handle> {
        let mut state = self.lock();
        let watch = state.watches.get_mut(&number).filter(|watch| !watch.cancelled)?;
        watch.cancelled = true;
        watch.inner
    }

    /// The numbers of all watches.
    pub fn watches(&self) -> Vec<Number> {
        self.lock().watches.keys().copied().collect()
    }

    /// Waits until nothing is open, at most for this time; None: for ever. Returns how much is left.
    pub fn wait(&self, limit: Option<Duration>) -> usize {
        let state = self.lock();
        let state = match limit {
            None => self
                .none_left
                .wait_while(state, |state| state.count > 0)
                .unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                self.none_left
                    .wait_timeout_while(state, limit, |state| state.count > 0)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        };
        state.count
    }
}
