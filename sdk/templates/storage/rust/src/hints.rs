//! The watches of an instance (S9): what the store tells those who wait for changes.

use crate::storage::HintFn;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Watch {
    hint: HintFn,
    ctx: *mut c_void,
}
// A hint may come on any thread.
unsafe impl Send for Watch {}

#[derive(Default)]
pub struct Hints {
    watches: Mutex<(usize, BTreeMap<usize, Watch>)>,
}

impl Hints {
    fn lock(&self) -> MutexGuard<'_, (usize, BTreeMap<usize, Watch>)> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Returns the number of the watch, which is not 0.
    ///
    /// # Safety
    /// `hint` may be called with `ctx` until unwatch returns.
    pub unsafe fn watch(&self, hint: HintFn, ctx: *mut c_void) -> usize {
        let (last, watches) = &mut *self.lock();
        *last += 1;
        watches.insert(*last, Watch { hint, ctx });
        *last
    }
    pub fn unwatch(&self, number: usize) {
        self.lock().1.remove(&number);
    }
    /// Calls every hint, with the lock held: so unwatch waits for the one that runs.
    pub fn tell(&self, what: u32) {
        for watch in self.lock().1.values() {
            unsafe { (watch.hint)(watch.ctx, what) };
        }
    }
}
