//! What a plugin of role storage needs of Davit's ABI 1.0 besides: davit/abi/records.h and storage.h.
#![allow(dead_code)]

use crate::abi::{Error, Op, Pair, Str};
use crate::data::Cursor as Position;
use std::ffi::c_void;

pub const RECORD_LIVE: u32 = 0x10000;
pub const STATUS_GONE: u32 = 0x10000;
pub const READ_LINGERING: u32 = 0x10000;
pub const PAGE_MORE: u32 = 0x10000;
pub const MAINTAIN_PURGE: u32 = 0x10000;
pub const MAINTAIN_FORGET_AGENT: u32 = 0x20000;

pub const HINT_RECORDS: u32 = 1;
pub const HINT_STATUSES: u32 = 2;
pub const HINT_AGENTS: u32 = 4;

pub const EXPECT_ANY: u64 = u64::MAX;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Key {
    pub kind: Str,
    pub region: Str,
    pub id: Str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cursor {
    pub incarnation: u64,
    pub version: u64,
}

impl From<Position> for Cursor {
    fn from(at: Position) -> Cursor {
        Cursor { incarnation: at.incarnation, version: at.version }
    }
}
impl From<Cursor> for Position {
    fn from(at: Cursor) -> Position {
        Position { incarnation: at.incarnation, version: at.version }
    }
}

#[repr(C)]
pub struct Record {
    pub struct_size: u32,
    pub flags: u32,
    pub key: Key,
    pub ns: Str,
    pub name: Str,
    pub state: Str,
    pub version: u64,
    pub payload: Str,
    pub json: Str,
    pub committed_at_unix_ms: i64,
    pub author: Str,
    pub request_id: Str,
    pub annotations: *const Pair,
    pub annotations_count: usize,
}

#[repr(C)]
pub struct Child {
    pub struct_size: u32,
    pub reserved: u32,
    pub name: Str,
    pub address: Str,
    pub status: Str,
    pub cpu_millicores: i64,
    pub memory_mib: i64,
}

#[repr(C)]
pub struct Status {
    pub struct_size: u32,
    pub flags: u32,
    pub key: Key,
    pub observed_version: u64,
    pub health: Str,
    pub desired: i64,
    pub updated: i64,
    pub ready: i64,
    pub stale: i64,
    pub message: Str,
    pub parked: Str,
    pub children: *const *const Child,
    pub children_count: usize,
    pub detail: Str,
    pub epoch: u64,
    pub sequence: u64,
    pub status_version: u64,
    pub reported_at_unix_ms: i64,
    pub ns: Str,
    pub name: Str,
    pub observed_incarnation: u64,
}

#[repr(C)]
pub struct Issue {
    pub struct_size: u32,
    pub reserved: u32,
    pub kind: Str,
    pub id: Str,
    pub ns: Str,
    pub name: Str,
    pub version: u64,
    pub incarnation: u64,
    pub condition: Str,
    pub reason: Str,
}

#[repr(C)]
pub struct KindProgress {
    pub struct_size: u32,
    pub reserved: u32,
    pub kind: Str,
    pub applied: Cursor,
}

#[repr(C)]
pub struct Progress {
    pub struct_size: u32,
    pub reserved: u32,
    pub region: Str,
    pub agent: Str,
    pub software: Str,
    pub epoch: u64,
    pub kinds: *const *const KindProgress,
    pub kinds_count: usize,
    pub issues: *const *const Issue,
    pub issues_count: usize,
    pub seen_at_unix_ms: i64,
}

#[repr(C)]
pub struct Mutation {
    pub struct_size: u32,
    pub reserved: u32,
    pub record: *const Record,
    pub expect: u64,
    pub expect_incarnation: u64,
}

#[repr(C)]
pub struct Group {
    pub struct_size: u32,
    pub mutations_count: u32,
    pub mutations: *const *const Mutation,
    pub request_id: Str,
    pub intent: u64,
}

#[repr(C)]
pub struct GroupResult {
    pub struct_size: u32,
    pub reserved: u32,
    pub incarnation: u64,
    pub first_version: u64,
    pub actual_version: u64,
    pub error: Error,
}

#[repr(C)]
pub struct Head {
    pub struct_size: u32,
    pub reserved: u32,
    pub head: Cursor,
    pub status_head: u64,
    pub purged_through: u64,
}

#[repr(C)]
pub struct Scope {
    pub struct_size: u32,
    pub reserved: u32,
    pub kind: Str,
    pub region: Str,
}

#[repr(C)]
pub struct Read {
    pub struct_size: u32,
    pub limit: u32,
    pub scope: *const Scope,
    pub cursor: Cursor,
    pub dead_after: u64,
    pub bytes_max: u64,
    pub flags: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct Page {
    pub struct_size: u32,
    pub flags: u32,
    pub next_version: u64,
    pub head: *mut Head,
}

#[repr(C)]
pub struct Query {
    pub struct_size: u32,
    pub reserved: u32,
    pub key: Key,
    pub ns: Str,
    pub name: Str,
}

#[repr(C)]
pub struct Get {
    pub struct_size: u32,
    pub flags: u32,
    pub queries: *const *const Query,
    pub queries_count: usize,
}

#[repr(C)]
pub struct StatusRead {
    pub struct_size: u32,
    pub limit: u32,
    pub scope: *const Scope,
    pub cursor: Cursor,
    pub bytes_max: u64,
    pub flags: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct StatusPage {
    pub struct_size: u32,
    pub flags: u32,
    pub next: Cursor,
    pub head: *mut Head,
}

#[repr(C)]
pub struct AgentRead {
    pub struct_size: u32,
    pub limit: u32,
    pub region: Str,
    pub after_region: Str,
    pub after_agent: Str,
}

#[repr(C)]
pub struct AgentPage {
    pub struct_size: u32,
    pub flags: u32,
}

#[repr(C)]
pub struct Maintain {
    pub struct_size: u32,
    pub flags: u32,
    pub purge_through: u64,
    pub region: Str,
    pub agent: Str,
    pub agent_seen_at_unix_ms: i64,
}

#[repr(C)]
pub struct Limits {
    pub struct_size: u32,
    pub group_records: u32,
    pub record_bytes: u64,
    pub group_bytes: u64,
    pub report_statuses: u32,
    pub reserved: u32,
    pub report_bytes: u64,
}

/// A visitor returns 0 to go on.
pub type Visitor<T> = unsafe extern "C" fn(*mut c_void, *const T) -> i32;
pub type HintFn = unsafe extern "C" fn(*mut c_void, u32);
/// A slot with one argument.
type Slot<A> = unsafe extern "C" fn(*mut c_void, *const Op, A, *mut Error) -> i32;
/// A slot that visits: with a request, a visitor and its context, and what is filled in.
type Reading<R, T, O> = unsafe extern "C" fn(
    *mut c_void,
    *const Op,
    *const R,
    Visitor<T>,
    *mut c_void,
    *mut O,
    *mut Error,
) -> i32;

#[repr(C)]
pub struct Storage {
    pub struct_size: u32,
    pub reserved: u32,
    pub limits: unsafe extern "C" fn(*mut c_void, *mut Limits, *mut Error) -> i32,
    pub head: Slot<*mut Head>,
    pub read: Reading<Read, Record, Page>,
    pub get: Reading<Get, Record, Head>,
    pub commit: unsafe extern "C" fn(
        *mut c_void,
        *const Op,
        *const *const Group,
        usize,
        *const *mut GroupResult,
        *mut Error,
    ) -> i32,
    pub report: unsafe extern "C" fn(
        *mut c_void,
        *const Op,
        *const *const Status,
        usize,
        *mut Error,
    ) -> i32,
    pub statuses: Reading<StatusRead, Status, StatusPage>,
    pub progress: Slot<*const Progress>,
    pub agents: Reading<AgentRead, Progress, AgentPage>,
    pub maintain: Slot<*const Maintain>,
    pub watch:
        unsafe extern "C" fn(*mut c_void, HintFn, *mut c_void, *mut *mut c_void, *mut Error) -> i32,
    pub unwatch: unsafe extern "C" fn(*mut c_void, *mut c_void),
    pub history: unsafe extern "C" fn(
        *mut c_void,
        *const Op,
        Visitor<Cursor>,
        *mut c_void,
        *mut Error,
    ) -> i32,
}
