//! Groups of changes: S4 to S6 and S13 of davit/abi/storage.h. A commit is made in memory first;
//! what is to be written of it grows beside it. A group that fails takes back what it has changed,
//! and the groups beside it stay.
#![forbid(unsafe_code)]

use crate::abi::{ABORTED, ALREADY_EXISTS, INVALID_ARGUMENT};
use crate::data::{Cursor, Key, Packed, Record};
use crate::fault::Fault;
use crate::state::{Entry, Request, State, Stored};
use std::collections::BTreeSet;

pub struct Mutation {
    pub record: Record,
    /// None: no condition.
    pub expect: Option<u64>,
    pub expect_incarnation: u64,
}

pub struct Group {
    pub mutations: Vec<Mutation>,
    pub request_id: String,
}

#[derive(Default)]
pub struct GroupResult {
    pub incarnation: u64,
    pub first_version: u64,
    pub actual_version: u64,
    /// None: committed.
    pub fault: Option<Fault>,
}

/// Why a mutation fails, and the version that the record has.
struct Refusal(Fault, u64);

fn refusal(code: i32, message: &str, id: &str) -> Refusal {
    Refusal(Fault::new(code, message).at(id), 0)
}

pub struct Commit<'a> {
    state: &'a mut State,
    now_unix_ms: i64,
    head_before: u64,
    /// What is to be written.
    pub body: Vec<u8>,
    /// What was there before each change, and the request ids that are new: to take it back.
    before: Vec<(Key, Option<Stored>)>,
    requests: Vec<String>,
}

impl<'a> Commit<'a> {
    pub fn begin(state: &'a mut State, now_unix_ms: i64) -> Commit<'a> {
        let head_before = state.head;
        let (body, before, requests) = (Vec::new(), Vec::new(), Vec::new());
        Commit { state, now_unix_ms, head_before, body, before, requests }
    }

    pub fn take_all_back(mut self) {
        self.take_back(0, self.head_before);
        for id in &self.requests {
            self.state.requests.remove(id);
        }
    }

    pub fn add(&mut self, group: Group) -> GroupResult {
        let mut result =
            GroupResult { incarnation: self.state.incarnation(), ..Default::default() };
        let own: BTreeSet<Key> = group.mutations.iter().map(|m| m.record.key.clone()).collect();
        if own.is_empty() || own.len() != group.mutations.len() {
            let message = "a group is empty or has a key twice";
            result.fault = Some(Fault::new(INVALID_ARGUMENT, message));
            return result;
        }
        if let Some(known) = self.state.requests.get(&group.request_id) {
            result.first_version = known.first_version;
            return result;
        }
        let (changes, size, head) = (self.before.len(), self.body.len(), self.state.head);
        self.free_names(&group, &own);
        result.first_version = self.state.head + 1;
        for mutation in group.mutations {
            if let Err(Refusal(fault, actual)) = self.mutate(mutation, &group.request_id) {
                self.take_back(changes, head);
                self.body.truncate(size);
                result.first_version = 0;
                result.actual_version = actual;
                result.fault = Some(fault);
                return result;
            }
        }
        self.remember(group.request_id, result.first_version);
        result
    }

    fn remember(&mut self, id: String, first_version: u64) {
        if id.is_empty() {
            return;
        }
        self.requests.push(id.clone());
        let request = Request { first_version, at_unix_ms: self.now_unix_ms };
        self.apply(Entry::Request { id, request });
    }

    fn apply(&mut self, entry: Entry) {
        entry.pack(&mut self.body);
        self.state.apply(entry);
    }
    fn change(&mut self, record: Record, hidden: bool) {
        let key = record.key.clone();
        let before = self.state.records.get(&key).cloned();
        self.before.push((key, before));
        self.apply(Entry::Record(Stored { record, hidden }));
    }
    fn take_back(&mut self, changes: usize, head: u64) {
        for (key, before) in self.before.drain(changes..).rev() {
            self.state.restore(&key, before);
        }
        self.state.head = head;
    }

    /// The other records that have the namespace and name of this one.
    fn rivals(&self, record: &Record) -> Vec<Record> {
        let named = self.state.named(&record.key, &record.ns, &record.name);
        let records = named.iter().map(|key| &self.state.records[key].record);
        records.filter(|other| other.key != record.key && other.ns == record.ns).cloned().collect()
    }

    /// Deleted records whose names the group takes over get new versions, below those of the group.
    fn free_names(&mut self, group: &Group, own: &BTreeSet<Key>) {
        for mutation in group.mutations.iter().filter(|m| m.record.live) {
            for rival in self.rivals(&mutation.record) {
                if !rival.live && !own.contains(&rival.key) {
                    let version = self.state.head + 1;
                    self.change(Record { version, ..rival }, true);
                }
            }
        }
    }

    fn mutate(&mut self, mutation: Mutation, request_id: &str) -> Result<(), Refusal> {
        let Mutation { mut record, expect, expect_incarnation } = mutation;
        let before = self.state.records.get(&record.key);
        check_version(self.state, before, expect, expect_incarnation, &record.key.id)?;
        let mut hide = false;
        if let Some(Stored { record: old, hidden }) = before {
            hide = *hidden && !record.live;
            if !record.live && record.name.is_empty() {
                record.ns = old.ns.clone();
                record.name = old.name.clone();
            }
            if record.ns != old.ns || record.name != old.name {
                let message = "a record keeps its namespace and name";
                return Err(refusal(INVALID_ARGUMENT, message, &record.key.id));
            }
        }
        for rival in self.rivals(&record) {
            match (rival.live, record.live) {
                (true, true) => {
                    let message = "another record has the name";
                    return Err(refusal(ALREADY_EXISTS, message, &rival.key.id));
                }
                (true, false) => hide = true,
                (false, true) => self.change(rival, true),
                (false, false) => {}
            }
        }
        record.version = self.state.head + 1;
        record.committed_at_unix_ms = self.now_unix_ms;
        if record.request_id.is_empty() {
            record.request_id = request_id.into();
        }
        self.change(record, hide);
        Ok(())
    }
}

/// A version that was lost and given again is another version (S5).
fn check_version(
    state: &State,
    before: Option<&Stored>,
    expect: Option<u64>,
    incarnation: u64,
    id: &str,
) -> Result<(), Refusal> {
    let actual = before.map_or(0, |stored| stored.record.version);
    let expect = expect.unwrap_or(actual);
    let known =
        expect == 0 || incarnation == 0 || state.knows(Cursor { incarnation, version: expect });
    if expect == actual && known {
        return Ok(());
    }
    let message = "the record has another version than expected";
    Err(Refusal(Fault::new(ABORTED, message).at(id), actual))
}
