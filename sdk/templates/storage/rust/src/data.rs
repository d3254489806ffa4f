//! What the store keeps, as values of Rust, and their bytes in the log. davit/abi/records.h says
//! what each member means.
//!
//! The bytes of a value are those of its members, one after another. A number has eight bytes, the
//! lowest first; a text or a list begins with its length. A new member would make old files
//! unreadable: give the log another HEADER then, and read both.
#![forbid(unsafe_code)]

pub trait Packed: Sized {
    fn pack(&self, out: &mut Vec<u8>);
    /// Takes a value from the front of `from`. None: the bytes are not such a value.
    fn unpack(from: &mut &[u8]) -> Option<Self>;
}

/// The first `count` bytes, which are taken away.
pub fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    if count > from.len() {
        return None;
    }
    let (front, rest) = from.split_at(count);
    *from = rest;
    Some(front)
}

impl Packed for u64 {
    fn pack(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        take(from, 8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

impl Packed for i64 {
    fn pack(&self, out: &mut Vec<u8>) {
        (*self as u64).pack(out);
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u64::unpack(from).map(|number| number as i64)
    }
}

impl Packed for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        match take(from, 1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

/// Bytes that may be no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Packed for Bytes {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.0.len() as u64).pack(out);
        out.extend_from_slice(&self.0);
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let size = u64::unpack(from)?.try_into().ok()?;
        Some(Bytes(take(from, size)?.to_vec()))
    }
}

impl Packed for String {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Bytes::unpack(from)?.0).ok()
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
        self.1.pack(out);
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some((A::unpack(from)?, B::unpack(from)?))
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        self.iter().for_each(|item| item.pack(out));
    }
    fn unpack(from: &mut &[u8]) -> Option<Self> {
        (0..u64::unpack(from)?).map(|_| T::unpack(from)).collect()
    }
}

/// Packs a struct by its members. One that is left out does not compile.
macro_rules! packed {
    ($type:ident: $($member:ident)*) => {
        impl Packed for $type {
            fn pack(&self, out: &mut Vec<u8>) {
                $(self.$member.pack(out);)*
            }
            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some($type { $($member: Packed::unpack(from)?),* })
            }
        }
    };
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub kind: String,
    pub region: String,
    pub id: String,
}
packed!(Key: kind region id);

/// A position among the records, or among the statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub incarnation: u64,
    pub version: u64,
}
packed!(Cursor: incarnation version);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub key: Key,
    pub ns: String,
    pub name: String,
    pub state: String,
    pub version: u64,
    pub live: bool,
    pub payload: Bytes,
    pub json: String,
    pub committed_at_unix_ms: i64,
    pub author: String,
    pub request_id: String,
    pub annotations: Vec<(String, String)>,
}
packed!(Record: key ns name state version live payload json committed_at_unix_ms author request_id
    annotations);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Child {
    pub name: String,
    pub address: String,
    pub status: String,
    pub cpu_millicores: i64,
    pub memory_mib: i64,
}
packed!(Child: name address status cpu_millicores memory_mib);

/// Without what a store does not keep: the record's names, and the observed incarnation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    pub key: Key,
    pub gone: bool,
    pub observed_version: u64,
    pub health: String,
    pub desired: i64,
    pub updated: i64,
    pub ready: i64,
    pub stale: i64,
    pub message: String,
    pub parked: String,
    pub children: Vec<Child>,
    pub detail: String,
    pub epoch: u64,
    pub sequence: u64,
    pub status_version: u64,
    pub reported_at_unix_ms: i64,
}
packed!(Status: key gone observed_version health desired updated ready stale message parked children
    detail epoch sequence status_version reported_at_unix_ms);

impl Status {
    /// What counts for the byte limit of a page.
    pub fn text_bytes(&self) -> u64 {
        let of = |child: &Child| child.name.len() + child.address.len() + child.status.len();
        let own = self.message.len() + self.parked.len() + self.detail.len();
        (own + self.children.iter().map(of).sum::<usize>()) as u64
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Issue {
    pub kind: String,
    pub id: String,
    pub ns: String,
    pub name: String,
    pub version: u64,
    pub incarnation: u64,
    pub condition: String,
    pub reason: String,
}
packed!(Issue: kind id ns name version incarnation condition reason);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    pub region: String,
    pub agent: String,
    pub software: String,
    pub epoch: u64,
    /// Each kind, and up to where every record of it is applied.
    pub kinds: Vec<(String, Cursor)>,
    pub issues: Vec<Issue>,
    pub seen_at_unix_ms: i64,
}
packed!(Progress: region agent software epoch kinds issues seen_at_unix_ms);
