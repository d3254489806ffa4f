//! The role: what each call does, rule by rule of davit/abi/storage.h.
//!
//! Each call holds one lock, so every rule about what is visible together (S1 to S5) holds by
//! itself. A change is made in memory, written to the file and synchronised, and only then
//! answered; if the file refuses it, it is taken back.
#![forbid(unsafe_code)]

use crate::abi::{FAILED_PRECONDITION, INTERNAL, OUT_OF_RANGE, UNAVAILABLE};
use crate::commit::{Commit, Group, GroupResult};
use crate::data::{Cursor, Key, Packed, Progress, Record, Status};
use crate::fault::Fault;
use crate::hints::Hints;
use crate::host::{Caller, Clock};
use crate::log::Log;
use crate::requests::{
    AgentRead, Head, Maintain, Page, Query, Read, StatusRead, Visit, VisitStatus,
};
use crate::state::{Entry, Link, State, Stored};
use crate::storage::{HINT_AGENTS, HINT_RECORDS, HINT_STATUSES};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Mutex, MutexGuard};

// S6: ten minutes or 100,000 versions, whichever is longer.
const REQUESTS_KEPT_MS: i64 = 600_000;
const REQUESTS_KEPT: u64 = 100_000;

struct Inner {
    /// None: not started, or stopped.
    log: Option<Log>,
    state: State,
}

pub struct Store {
    path: String,
    clock: Clock,
    inner: Mutex<Inner>,
    pub hints: Hints,
}

impl Store {
    pub fn new(path: String, clock: Clock) -> Store {
        let inner = Mutex::new(Inner { log: None, state: State::default() });
        Store { path, clock, inner, hints: Hints::default() }
    }

    /// What a call that has panicked has left in memory may differ from what is on the disk.
    fn lock(&self) -> Result<MutexGuard<'_, Inner>, Fault> {
        let message = "an earlier call panicked; restart to read what is on the disk";
        self.inner.lock().map_err(|_| Fault::new(INTERNAL, message))
    }
    /// The lock, for a caller that still waits.
    fn enter(&self, caller: &Caller) -> Result<MutexGuard<'_, Inner>, Fault> {
        let inner = self.lock()?;
        caller.still_waits(&self.clock)?;
        Ok(inner)
    }

    pub fn start(&self) -> Result<(), Fault> {
        let inner = &mut *self.lock()?;
        inner.log = Some(Log::open(&self.path, |batch| inner.state.replay(batch))?);
        // The file may be an older copy, so each start begins an incarnation. Its number is random:
        // two copies of one file must not begin the same (S10).
        inner.write(vec![Entry::Incarnation(draw()?)])
    }
    pub fn stop(&self) -> Result<(), Fault> {
        self.lock()?.log = None;
        Ok(())
    }

    pub fn head(&self, caller: &Caller) -> Result<Head, Fault> {
        Ok(self.enter(caller)?.head())
    }
    pub fn history(&self, caller: &Caller, visit: Visit<Link>) -> Result<(), Fault> {
        let _ = self.enter(caller)?.state.history().all(|link| visit(&link));
        Ok(())
    }

    pub fn read(&self, caller: &Caller, read: Read, visit: Visit<Stored>) -> Result<Page, Fault> {
        let inner = self.enter(caller)?;
        let state = &inner.state;
        let after = read.cursor.version;
        if after != 0 && !state.knows(read.cursor) {
            return Err(Fault::new(OUT_OF_RANGE, "a cursor of another history"));
        }
        if after != 0 && after.max(read.dead_after) < state.purged {
            return Err(Fault::new(OUT_OF_RANGE, "a cursor below the purge mark"));
        }
        let (head, mut room) = (inner.head(), read.room);
        let mut next = Cursor { version: after, ..head.head };
        for (version, key) in state.versions.range((Excluded(after), Unbounded)) {
            caller.still_waits(&self.clock)?;
            let stored = &state.records[key];
            if !read.scope.has(key) || inner.leaves_out(&stored.record, &read) {
                continue;
            }
            let bytes = stored.record.payload.0.len() as u64;
            if !room.take(bytes, next.version == after) {
                return Ok(Page { more: true, next, head });
            }
            next.version = *version;
            if !visit(stored) {
                return Ok(Page { more: true, next, head });
            }
        }
        Ok(Page { more: false, next: head.head, head })
    }

    pub fn get(&self, caller: &Caller, all: &[Query], visit: Visit<Stored>) -> Result<Head, Fault> {
        let inner = self.enter(caller)?;
        for query in all {
            caller.still_waits(&self.clock)?;
            let keys = match query.key.id.is_empty() {
                true => inner.state.named(&query.key, &query.ns, &query.name),
                false => vec![query.key.clone()],
            };
            for stored in keys.iter().filter_map(|key| inner.state.records.get(key)) {
                if !visit(stored) {
                    return Ok(inner.head());
                }
            }
        }
        Ok(inner.head())
    }

    pub fn commit(&self, caller: &Caller, groups: Vec<Group>) -> Result<Vec<GroupResult>, Fault> {
        let mut inner = self.enter(caller)?;
        let Inner { log, state } = &mut *inner;
        let mut commit = Commit::begin(state, self.clock.unix_ms());
        let results = groups.into_iter().map(|group| commit.add(group)).collect();
        if !commit.body.is_empty() {
            let written = opened(log).and_then(|log| log.append(&commit.body));
            if let Err(fault) = written {
                commit.take_all_back();
                return Err(fault);
            }
        }
        drop(inner);
        self.hints.tell(HINT_RECORDS);
        Ok(results)
    }

    /// Each status with the incarnation in which its version was observed.
    pub fn report(&self, caller: &Caller, statuses: Vec<(Status, u64)>) -> Result<(), Fault> {
        let mut inner = self.enter(caller)?;
        let mut taken: BTreeMap<Key, Status> = BTreeMap::new(); // of one key the newest
        for (status, incarnation) in statuses {
            if inner.takes(&status, incarnation, taken.get(&status.key)) {
                taken.insert(status.key.clone(), status);
            }
        }
        let mut version = inner.state.status_head;
        let entry_of = |mut status: Status| {
            version += 1;
            status.status_version = version;
            if status.gone {
                status.children.clear();
            }
            Entry::Status(status)
        };
        let entries = taken.into_values().map(entry_of).collect();
        inner.write(entries)?;
        drop(inner);
        self.hints.tell(HINT_STATUSES);
        Ok(())
    }

    /// Visits each status with its record.
    pub fn statuses(
        &self,
        caller: &Caller,
        read: StatusRead,
        visit: VisitStatus,
    ) -> Result<Page, Fault> {
        let inner = self.enter(caller)?;
        let state = &inner.state;
        let after = read.cursor.version;
        if after != 0 && !state.knows_status(read.cursor) {
            return Err(Fault::new(OUT_OF_RANGE, "a cursor of statuses of another history"));
        }
        let (head, mut room) = (inner.head(), read.room);
        let incarnation = head.head.incarnation;
        let mut next = Cursor { incarnation, version: after };
        for (version, key) in state.status_versions.range((Excluded(after), Unbounded)) {
            caller.still_waits(&self.clock)?;
            if !read.scope.has(key) {
                continue;
            }
            let status = &state.statuses[key];
            if !room.take(status.text_bytes(), next.version == after) {
                return Ok(Page { more: true, next, head });
            }
            next.version = *version;
            if !visit(status, &state.records[key].record) {
                return Ok(Page { more: true, next, head });
            }
        }
        Ok(Page { more: false, next: Cursor { incarnation, version: state.status_head }, head })
    }

    pub fn progress(&self, caller: &Caller, progress: Progress) -> Result<(), Fault> {
        self.enter(caller)?.write(vec![Entry::Progress(progress)])?;
        self.hints.tell(HINT_AGENTS);
        Ok(())
    }

    /// Whether there are more agents than were visited.
    pub fn agents(
        &self,
        caller: &Caller,
        read: AgentRead,
        visit: Visit<Progress>,
    ) -> Result<bool, Fault> {
        let inner = self.enter(caller)?;
        let mut room = read.limit;
        for (id, progress) in inner.state.agents.range((Excluded(read.after), Unbounded)) {
            if !read.region.is_empty() && read.region != id.0 {
                continue;
            }
            if room == 0 || !visit(progress) {
                return Ok(true);
            }
            room -= 1;
        }
        Ok(false)
    }

    pub fn maintain(&self, caller: &Caller, what: Maintain) -> Result<(), Fault> {
        let mut inner = self.enter(caller)?;
        let state = &mut inner.state;
        let mut entries = Vec::new();
        if let Some((id, seen_at_unix_ms)) = what.forget {
            let old = |progress: &Progress| progress.seen_at_unix_ms <= seen_at_unix_ms;
            if state.agents.get(&id).map_or(false, old) {
                entries.push(Entry::Forget { region: id.0, agent: id.1 });
            }
        }
        let through = what.purge_through.unwrap_or(0).min(state.head);
        if through > state.purged {
            entries.push(Entry::Purge(through));
        }
        let (head, now) = (state.head, self.clock.unix_ms());
        state.requests.retain(|_, request| {
            request.first_version + REQUESTS_KEPT >= head
                || request.at_unix_ms + REQUESTS_KEPT_MS >= now
        });
        inner.write(entries)
    }
}

impl Inner {
    fn head(&self) -> Head {
        let State { head, status_head, purged, .. } = self.state;
        let head = Cursor { incarnation: self.state.incarnation(), version: head };
        Head { head, status_head, purged_through: purged }
    }

    /// Writes the entries, and then applies them.
    fn write(&mut self, entries: Vec<Entry>) -> Result<(), Fault> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut body = Vec::new();
        entries.iter().for_each(|entry| entry.pack(&mut body));
        opened(&mut self.log)?.append(&body)?;
        entries.into_iter().for_each(|entry| self.state.apply(entry));
        Ok(())
    }

    fn leaves_out(&self, record: &Record, read: &Read) -> bool {
        if record.live || record.version > read.dead_after {
            return false;
        }
        let confirms = |s: &Status| s.gone && s.observed_version >= record.version;
        !read.lingering || self.state.statuses.get(&record.key).map_or(false, confirms)
    }

    /// Whether a report of this status is stored. `earlier`: one of the same record in the same
    /// report.
    fn takes(&self, status: &Status, incarnation: u64, earlier: Option<&Status>) -> bool {
        let stored = match self.state.records.get(&status.key) {
            Some(stored) => stored,
            None => return false,
        };
        let seen = Cursor { incarnation, version: status.observed_version };
        let lost = status.observed_version > stored.record.version
            || (incarnation != 0 && !self.state.knows(seen));
        if lost && !status.gone {
            return false;
        }
        let order = |s: &Status| (s.epoch, s.sequence);
        let earlier = earlier.or_else(|| self.state.statuses.get(&status.key));
        earlier.map_or(true, |earlier| order(status) > order(earlier))
    }
}

fn opened(log: &mut Option<Log>) -> Result<&mut Log, Fault> {
    log.as_mut().ok_or_else(|| Fault::new(FAILED_PRECONDITION, "the store is not started"))
}

/// The number of a new incarnation. Not of the host's randomness: tests repeat that.
fn draw() -> Result<u64, Fault> {
    let mut bytes = [0; 8];
    let drawn = std::fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    drawn.map_err(|e| Fault::new(UNAVAILABLE, format!("/dev/urandom cannot be read: {e}")))?;
    Ok(u64::from_le_bytes(bytes).max(1))
}
