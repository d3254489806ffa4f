//! From the structs of the ABI to the store's values, and back for the visitors.

use crate::abi::{Pair, Str};
use crate::commit::{Group, Mutation};
use crate::data::{Bytes, Child, Issue, Key, Progress, Record, Status};
use crate::fault::{understood, Fault};
use crate::requests::{Head, Query, Scope};
use crate::state::Stored;
use crate::storage::{self, Visitor, EXPECT_ANY, RECORD_LIVE, STATUS_GONE};
use std::ffi::c_void;
use std::mem::size_of;

/// The elements of an array of the ABI.
///
/// # Safety
/// Here and below: what the pointers point to is whole, and lives as long as the call.
pub unsafe fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    match count {
        0 => &[],
        _ => std::slice::from_raw_parts(first, count),
    }
}

// --- from the ABI -----------------------------------------------------------------------------

pub unsafe fn key(k: &storage::Key) -> Key {
    Key { kind: k.kind.text(), region: k.region.text(), id: k.id.text() }
}

pub unsafe fn scope(s: *const storage::Scope) -> Scope {
    Scope { kind: (*s).kind.text(), region: (*s).region.text() }
}

pub unsafe fn query(q: &storage::Query) -> Query {
    Query { key: key(&q.key), ns: q.ns.text(), name: q.name.text() }
}

unsafe fn record(r: &storage::Record) -> Record {
    let pairs = slice(r.annotations, r.annotations_count);
    Record {
        key: key(&r.key),
        ns: r.ns.text(),
        name: r.name.text(),
        state: r.state.text(),
        version: r.version,
        live: r.flags & RECORD_LIVE != 0,
        payload: Bytes(r.payload.bytes().to_vec()),
        json: r.json.text(),
        committed_at_unix_ms: r.committed_at_unix_ms,
        author: r.author.text(),
        request_id: r.request_id.text(),
        annotations: pairs.iter().map(|pair| (pair.key.text(), pair.value.text())).collect(),
    }
}

pub unsafe fn group(g: &storage::Group) -> Result<Group, Fault> {
    let mut mutations = Vec::new();
    for m in slice(g.mutations, g.mutations_count as usize) {
        let m = &**m;
        understood("davit_record", (*m.record).flags, RECORD_LIVE)?;
        mutations.push(Mutation {
            record: record(&*m.record),
            expect: (m.expect != EXPECT_ANY).then_some(m.expect),
            expect_incarnation: m.expect_incarnation,
        });
    }
    Ok(Group { mutations, request_id: g.request_id.text() })
}

unsafe fn child(c: &storage::Child) -> Child {
    Child {
        name: c.name.text(),
        address: c.address.text(),
        status: c.status.text(),
        cpu_millicores: c.cpu_millicores,
        memory_mib: c.memory_mib,
    }
}

/// With the incarnation in which the version was observed.
pub unsafe fn status(s: &storage::Status) -> Result<(Status, u64), Fault> {
    understood("davit_status", s.flags, STATUS_GONE)?;
    let children = slice(s.children, s.children_count);
    let status = Status {
        key: key(&s.key),
        gone: s.flags & STATUS_GONE != 0,
        observed_version: s.observed_version,
        health: s.health.text(),
        desired: s.desired,
        updated: s.updated,
        ready: s.ready,
        stale: s.stale,
        message: s.message.text(),
        parked: s.parked.text(),
        children: children.iter().map(|c| child(&**c)).collect(),
        detail: s.detail.text(),
        epoch: s.epoch,
        sequence: s.sequence,
        status_version: 0,
        reported_at_unix_ms: s.reported_at_unix_ms,
    };
    Ok((status, s.observed_incarnation))
}

unsafe fn issue(i: &storage::Issue) -> Issue {
    Issue {
        kind: i.kind.text(),
        id: i.id.text(),
        ns: i.ns.text(),
        name: i.name.text(),
        version: i.version,
        incarnation: i.incarnation,
        condition: i.condition.text(),
        reason: i.reason.text(),
    }
}

pub unsafe fn progress(p: &storage::Progress) -> Progress {
    let kinds = slice(p.kinds, p.kinds_count);
    let issues = slice(p.issues, p.issues_count);
    Progress {
        region: p.region.text(),
        agent: p.agent.text(),
        software: p.software.text(),
        epoch: p.epoch,
        kinds: kinds.iter().map(|k| ((**k).kind.text(), (**k).applied.into())).collect(),
        issues: issues.iter().map(|i| issue(&**i)).collect(),
        seen_at_unix_ms: p.seen_at_unix_ms,
    }
}

// --- to the ABI -------------------------------------------------------------------------------

pub unsafe fn put_head(head: &Head, out: *mut storage::Head) {
    if !out.is_null() {
        (*out).head = head.head.into();
        (*out).status_head = head.status_head;
        (*out).purged_through = head.purged_through;
    }
}

fn lent_key(key: &Key) -> storage::Key {
    let lent = Str::lent;
    storage::Key { kind: lent(&key.kind), region: lent(&key.region), id: lent(&key.id) }
}

/// Each of these shows a value to a visitor of the ABI. False: the visitor has seen enough.
pub unsafe fn show_record(
    stored: &Stored,
    visit: Visitor<storage::Record>,
    ctx: *mut c_void,
) -> bool {
    let (lent, r, (ns, name)) = (Str::lent, &stored.record, stored.names());
    let pair = |(key, value): &(String, String)| Pair { key: lent(key), value: lent(value) };
    let annotations: Vec<Pair> = r.annotations.iter().map(pair).collect();
    let shown = storage::Record {
        struct_size: size_of::<storage::Record>() as u32,
        flags: if r.live { RECORD_LIVE } else { 0 },
        key: lent_key(&r.key),
        ns: lent(ns),
        name: lent(name),
        state: lent(&r.state),
        version: r.version,
        payload: Str { ptr: r.payload.0.as_ptr(), len: r.payload.0.len() },
        json: lent(&r.json),
        committed_at_unix_ms: r.committed_at_unix_ms,
        author: lent(&r.author),
        request_id: lent(&r.request_id),
        annotations: annotations.as_ptr(),
        annotations_count: annotations.len(),
    };
    visit(ctx, &shown) == 0
}

/// The pointers that an array of the ABI has.
fn pointers<T>(values: &[T]) -> Vec<*const T> {
    values.iter().map(|value| value as *const T).collect()
}

fn lent_child(c: &Child) -> storage::Child {
    storage::Child {
        struct_size: size_of::<storage::Child>() as u32,
        reserved: 0,
        name: Str::lent(&c.name),
        address: Str::lent(&c.address),
        status: Str::lent(&c.status),
        cpu_millicores: c.cpu_millicores,
        memory_mib: c.memory_mib,
    }
}

pub unsafe fn show_status(
    s: &Status,
    record: &Record,
    visit: Visitor<storage::Status>,
    ctx: *mut c_void,
) -> bool {
    let lent = Str::lent;
    let children: Vec<storage::Child> = s.children.iter().map(lent_child).collect();
    let children = pointers(&children);
    let shown = storage::Status {
        struct_size: size_of::<storage::Status>() as u32,
        flags: if s.gone { STATUS_GONE } else { 0 },
        key: lent_key(&s.key),
        observed_version: s.observed_version,
        health: lent(&s.health),
        desired: s.desired,
        updated: s.updated,
        ready: s.ready,
        stale: s.stale,
        message: lent(&s.message),
        parked: lent(&s.parked),
        children: children.as_ptr(),
        children_count: children.len(),
        detail: lent(&s.detail),
        epoch: s.epoch,
        sequence: s.sequence,
        status_version: s.status_version,
        reported_at_unix_ms: s.reported_at_unix_ms,
        ns: lent(&record.ns),
        name: lent(&record.name),
        observed_incarnation: 0,
    };
    visit(ctx, &shown) == 0
}

fn lent_issue(i: &Issue) -> storage::Issue {
    let lent = Str::lent;
    storage::Issue {
        struct_size: size_of::<storage::Issue>() as u32,
        reserved: 0,
        kind: lent(&i.kind),
        id: lent(&i.id),
        ns: lent(&i.ns),
        name: lent(&i.name),
        version: i.version,
        incarnation: i.incarnation,
        condition: lent(&i.condition),
        reason: lent(&i.reason),
    }
}

pub unsafe fn show_progress(
    p: &Progress,
    visit: Visitor<storage::Progress>,
    ctx: *mut c_void,
) -> bool {
    let lent = Str::lent;
    let lent_kind = |(kind, applied): &(String, _)| storage::KindProgress {
        struct_size: size_of::<storage::KindProgress>() as u32,
        reserved: 0,
        kind: lent(kind),
        applied: storage::Cursor::from(*applied),
    };
    let kinds: Vec<storage::KindProgress> = p.kinds.iter().map(lent_kind).collect();
    let issues: Vec<storage::Issue> = p.issues.iter().map(lent_issue).collect();
    let (kinds, issues) = (pointers(&kinds), pointers(&issues));
    let shown = storage::Progress {
        struct_size: size_of::<storage::Progress>() as u32,
        reserved: 0,
        region: lent(&p.region),
        agent: lent(&p.agent),
        software: lent(&p.software),
        epoch: p.epoch,
        kinds: kinds.as_ptr(),
        kinds_count: kinds.len(),
        issues: issues.as_ptr(),
        issues_count: issues.len(),
        seen_at_unix_ms: p.seen_at_unix_ms,
    };
    visit(ctx, &shown) == 0
}
