//! What the calls of the role are asked for, and what they answer beside what they visit.
#![forbid(unsafe_code)]

use crate::data::{Cursor, Key, Record, Status};

/// Empty: any.
pub struct Scope {
    pub kind: String,
    pub region: String,
}

impl Scope {
    pub fn has(&self, key: &Key) -> bool {
        (self.kind.is_empty() || self.kind == key.kind)
            && (self.region.is_empty() || self.region == key.region)
    }
}

/// How much a page may hold.
#[derive(Clone, Copy)]
pub struct Room {
    pub items: u32,
    pub bytes: u64,
}

impl Room {
    /// Makes room for one more. False: the page is full. A page has at least one (S12).
    pub fn take(&mut self, bytes: u64, is_first: bool) -> bool {
        let fits = bytes <= self.bytes;
        if self.items == 0 || !(fits || is_first) {
            return false;
        }
        self.items = if fits { self.items - 1 } else { 0 };
        self.bytes = self.bytes.saturating_sub(bytes);
        true
    }
}

pub struct Read {
    pub scope: Scope,
    pub cursor: Cursor,
    pub room: Room,
    pub dead_after: u64,
    pub lingering: bool,
}

/// By its id; by its name, when the id is empty.
pub struct Query {
    pub key: Key,
    pub ns: String,
    pub name: String,
}

pub struct StatusRead {
    pub scope: Scope,
    pub cursor: Cursor,
    pub room: Room,
}

pub struct AgentRead {
    pub region: String,
    pub after: (String, String),
    pub limit: u32,
}

pub struct Maintain {
    pub purge_through: Option<u64>,
    /// (region, agent), and when it was seen at last.
    pub forget: Option<((String, String), i64)>,
}

#[derive(Clone, Copy)]
pub struct Head {
    pub head: Cursor,
    pub status_head: u64,
    pub purged_through: u64,
}

pub struct Page {
    pub more: bool,
    pub next: Cursor,
    pub head: Head,
}

/// False: the visitor has seen enough.
pub type Visit<'a, T> = &'a mut dyn FnMut(&T) -> bool;
pub type VisitStatus<'a> = &'a mut dyn FnMut(&Status, &Record) -> bool;
