//! What the store holds, in memory. Every change is an entry of the log, and apply() is the one
//! place where entries take effect: it runs when the change is made, and again when the log is
//! read.
#![forbid(unsafe_code)]

use crate::data::{take, Cursor, Key, Packed, Progress, Record, Status};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// `hidden`: a deleted record whose name another one has taken (S13). It keeps its name here, and
/// is read without it.
#[derive(Clone, Debug)]
pub struct Stored {
    pub record: Record,
    pub hidden: bool,
}

impl Stored {
    /// Namespace and name as they are read.
    pub fn names(&self) -> (&str, &str) {
        match self.hidden {
            true => ("", ""),
            false => (&self.record.ns, &self.record.name),
        }
    }
}

/// A part of the store's history, with the versions where it ended (S10). The last one goes on.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub incarnation: u64,
    pub version: u64,
    pub status_version: u64,
}

/// A group that was committed (S6).
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub first_version: u64,
    pub at_unix_ms: i64,
}

#[derive(Debug)]
pub enum Entry {
    Record(Stored),
    Status(Status),
    Progress(Progress),
    Forget { region: String, agent: String },
    Request { id: String, request: Request },
    Purge(u64),
    Incarnation(u64),
}

impl Packed for Entry {
    fn pack(&self, out: &mut Vec<u8>) {
        let mut tagged = |tag: u8, content: &dyn Fn(&mut Vec<u8>)| {
            out.push(tag);
            content(out);
        };
        match self {
            Entry::Record(s) => tagged(b'r', &|out| {
                s.hidden.pack(out);
                s.record.pack(out);
            }),
            Entry::Status(s) => tagged(b's', &|out| s.pack(out)),
            Entry::Progress(p) => tagged(b'p', &|out| p.pack(out)),
            Entry::Forget { region, agent } => tagged(b'f', &|out| {
                region.pack(out);
                agent.pack(out);
            }),
            Entry::Request { id, request } => tagged(b'q', &|out| {
                id.pack(out);
                request.first_version.pack(out);
                request.at_unix_ms.pack(out);
            }),
            Entry::Purge(through) => tagged(b'u', &|out| through.pack(out)),
            Entry::Incarnation(number) => tagged(b'i', &|out| number.pack(out)),
        }
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(match take(from, 1)?[0] {
            b'r' => {
                let hidden = bool::unpack(from)?;
                Entry::Record(Stored { record: Record::unpack(from)?, hidden })
            }
            b's' => Entry::Status(Status::unpack(from)?),
            b'p' => Entry::Progress(Progress::unpack(from)?),
            b'f' => Entry::Forget { region: String::unpack(from)?, agent: String::unpack(from)? },
            b'q' => {
                let id = String::unpack(from)?;
                let (first_version, at_unix_ms) = <(u64, i64)>::unpack(from)?;
                Entry::Request { id, request: Request { first_version, at_unix_ms } }
            }
            b'u' => Entry::Purge(u64::unpack(from)?),
            b'i' => Entry::Incarnation(u64::unpack(from)?),
            _ => return None,
        })
    }
}

/// (kind, region, name, namespace, id): ordered so that a name's records stand together.
type Name = (String, String, String, String, String);

fn name_of(record: &Record) -> Name {
    let (key, ns, name) = (record.key.clone(), record.ns.clone(), record.name.clone());
    (key.kind, key.region, name, ns, key.id)
}

#[derive(Debug, Default)]
pub struct State {
    pub records: BTreeMap<Key, Stored>,
    /// Of the records.
    pub versions: BTreeMap<u64, Key>,
    names: BTreeSet<Name>,
    pub statuses: BTreeMap<Key, Status>,
    pub status_versions: BTreeMap<u64, Key>,
    pub agents: BTreeMap<(String, String), Progress>,
    pub requests: HashMap<String, Request>,
    pub chain: Vec<Link>,
    pub head: u64,
    pub status_head: u64,
    pub purged: u64,
}

impl State {
    pub fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Record(stored) => self.put(stored),
            Entry::Status(status) => {
                self.forget_status(&status.key);
                self.status_head = self.status_head.max(status.status_version);
                self.status_versions.insert(status.status_version, status.key.clone());
                self.statuses.insert(status.key.clone(), status);
            }
            Entry::Progress(p) => {
                self.agents.insert((p.region.clone(), p.agent.clone()), p);
            }
            Entry::Forget { region, agent } => {
                self.agents.remove(&(region, agent));
            }
            Entry::Request { id, request } => {
                self.requests.insert(id, request);
            }
            Entry::Purge(through) => self.purge(through),
            Entry::Incarnation(incarnation) => {
                if let Some(last) = self.chain.last_mut() {
                    last.version = self.head;
                    last.status_version = self.status_head;
                }
                self.chain.push(Link { incarnation, version: 0, status_version: 0 });
            }
        }
    }

    /// Applies the entries of a batch. False: one is of a later version of this plugin.
    pub fn replay(&mut self, mut batch: &[u8]) -> bool {
        while !batch.is_empty() {
            match Entry::unpack(&mut batch) {
                Some(entry) => self.apply(entry),
                None => return false,
            }
        }
        true
    }

    /// The ids of the records that have this name and are not hidden. An empty namespace: in any.
    pub fn named(&self, key: &Key, ns: &str, name: &str) -> Vec<Key> {
        let first = (key.kind.clone(), key.region.clone(), name.into(), ns.into(), String::new());
        let same = |n: &&Name| n.0 == key.kind && n.1 == key.region && n.2 == name;
        let within = |n: &&Name| ns.is_empty() || n.3 == ns;
        let named = self.names.range(first..).take_while(same).take_while(within);
        named.map(|n| Key { id: n.4.clone(), ..key.clone() }).collect()
    }

    /// The current incarnation.
    pub fn incarnation(&self) -> u64 {
        self.chain.last().map_or(0, |link| link.incarnation)
    }
    /// The history, with the current versions at its end.
    pub fn history(&self) -> impl Iterator<Item = Link> + '_ {
        let last = self.chain.len().saturating_sub(1);
        self.chain.iter().enumerate().map(move |(at, link)| match at == last {
            true => Link { version: self.head, status_version: self.status_head, ..*link },
            false => *link,
        })
    }
    /// Whether a position among the records is in this store's history.
    pub fn knows(&self, at: Cursor) -> bool {
        self.history().any(|l| l.incarnation == at.incarnation && at.version <= l.version)
    }
    /// The same among the statuses.
    pub fn knows_status(&self, at: Cursor) -> bool {
        self.history().any(|l| l.incarnation == at.incarnation && at.version <= l.status_version)
    }

    /// Takes a change of a record back.
    pub fn restore(&mut self, key: &Key, before: Option<Stored>) {
        self.remove(key);
        if let Some(stored) = before {
            self.put(stored);
        }
    }

    fn put(&mut self, stored: Stored) {
        let key = stored.record.key.clone();
        self.remove(&key);
        self.head = self.head.max(stored.record.version);
        self.versions.insert(stored.record.version, key.clone());
        if !stored.hidden {
            self.names.insert(name_of(&stored.record));
        }
        self.records.insert(key, stored);
    }
    fn remove(&mut self, key: &Key) {
        if let Some(stored) = self.records.remove(key) {
            self.versions.remove(&stored.record.version);
            self.names.remove(&name_of(&stored.record));
        }
    }
    fn forget_status(&mut self, key: &Key) {
        if let Some(status) = self.statuses.remove(key) {
            self.status_versions.remove(&status.status_version);
        }
    }
    fn purge(&mut self, through: u64) {
        let dead = |key: &&Key| !self.records[*key].record.live;
        let dead: Vec<Key> =
            self.versions.range(..=through).map(|(_, key)| key).filter(dead).cloned().collect();
        for key in &dead {
            self.remove(key);
            self.forget_status(key);
        }
        self.purged = self.purged.max(through);
    }
}
