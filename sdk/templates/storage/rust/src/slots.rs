//! The table of the role: each slot reads its arguments, calls the store, and fills in the answer.
//! No panic leaves a slot.

use crate::abi::{Error, Op, OK};
use crate::convert::{self, put_head, slice};
use crate::fault::{guard, must_not_panic, understood};
use crate::host::Caller;
use crate::requests::{self, Room};
use crate::storage::*;
use crate::store::Store;
use std::ffi::c_void;

// A batch of the log has 32 bits for its length.
const RECORD_BYTES: u64 = 64 << 20;
const GROUP_BYTES: u64 = 512 << 20;
const AT_ONCE: u32 = 100_000;

unsafe fn store<'a>(instance: *mut c_void) -> &'a Store {
    &*instance.cast::<Store>()
}

fn page_flags(more: bool) -> u32 {
    if more {
        PAGE_MORE
    } else {
        0
    }
}

unsafe extern "C" fn limits(_: *mut c_void, out: *mut Limits, _: *mut Error) -> i32 {
    (*out).group_records = AT_ONCE;
    (*out).record_bytes = RECORD_BYTES;
    (*out).group_bytes = GROUP_BYTES;
    (*out).report_statuses = AT_ONCE;
    (*out).report_bytes = GROUP_BYTES;
    OK
}

unsafe extern "C" fn head(
    instance: *mut c_void,
    op: *const Op,
    out: *mut Head,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        put_head(&store(instance).head(&Caller::of(op))?, out);
        Ok(())
    })
}

unsafe extern "C" fn read(
    instance: *mut c_void,
    op: *const Op,
    request: *const Read,
    visit: Visitor<Record>,
    ctx: *mut c_void,
    out: *mut Page,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let request = &*request;
        understood("davit_read", request.flags, READ_LINGERING)?;
        let asked = requests::Read {
            scope: convert::scope(request.scope),
            cursor: request.cursor.into(),
            room: Room { items: request.limit, bytes: request.bytes_max },
            dead_after: request.dead_after,
            lingering: request.flags & READ_LINGERING != 0,
        };
        let page = store(instance)
            .read(&Caller::of(op), asked, &mut |stored| convert::show_record(stored, visit, ctx))?;
        (*out).flags = page_flags(page.more);
        (*out).next_version = page.next.version;
        put_head(&page.head, (*out).head);
        Ok(())
    })
}

unsafe extern "C" fn get(
    instance: *mut c_void,
    op: *const Op,
    request: *const Get,
    visit: Visitor<Record>,
    ctx: *mut c_void,
    out: *mut Head,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let request = &*request;
        understood("davit_get", request.flags, 0)?;
        let queries = slice(request.queries, request.queries_count);
        let queries: Vec<requests::Query> = queries.iter().map(|q| convert::query(&**q)).collect();
        let head = store(instance).get(&Caller::of(op), &queries, &mut |stored| {
            convert::show_record(stored, visit, ctx)
        })?;
        put_head(&head, out);
        Ok(())
    })
}

unsafe extern "C" fn commit(
    instance: *mut c_void,
    op: *const Op,
    groups: *const *const Group,
    count: usize,
    results: *const *mut GroupResult,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let groups = slice(groups, count).iter().map(|group| convert::group(&**group));
        let groups = groups.collect::<Result<Vec<_>, _>>()?;
        let answers = store(instance).commit(&Caller::of(op), groups)?;
        for (answer, out) in answers.iter().zip(slice(results, count)) {
            let out = *out;
            (*out).incarnation = answer.incarnation;
            (*out).first_version = answer.first_version;
            (*out).actual_version = answer.actual_version;
            if let Some(fault) = &answer.fault {
                fault.write(&mut (*out).error);
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn report(
    instance: *mut c_void,
    op: *const Op,
    statuses: *const *const Status,
    count: usize,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let statuses = slice(statuses, count).iter().map(|status| convert::status(&**status));
        let statuses = statuses.collect::<Result<Vec<_>, _>>()?;
        store(instance).report(&Caller::of(op), statuses)
    })
}

unsafe extern "C" fn statuses(
    instance: *mut c_void,
    op: *const Op,
    request: *const StatusRead,
    visit: Visitor<Status>,
    ctx: *mut c_void,
    out: *mut StatusPage,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let request = &*request;
        understood("davit_status_read", request.flags, 0)?;
        let asked = requests::StatusRead {
            scope: convert::scope(request.scope),
            cursor: request.cursor.into(),
            room: Room { items: request.limit, bytes: request.bytes_max },
        };
        let page = store(instance).statuses(&Caller::of(op), asked, &mut |status, record| {
            convert::show_status(status, record, visit, ctx)
        })?;
        (*out).flags = page_flags(page.more);
        (*out).next = page.next.into();
        put_head(&page.head, (*out).head);
        Ok(())
    })
}

unsafe extern "C" fn progress(
    instance: *mut c_void,
    op: *const Op,
    progress: *const Progress,
    error: *mut Error,
) -> i32 {
    guard(error, || store(instance).progress(&Caller::of(op), convert::progress(&*progress)))
}

unsafe extern "C" fn agents(
    instance: *mut c_void,
    op: *const Op,
    request: *const AgentRead,
    visit: Visitor<Progress>,
    ctx: *mut c_void,
    out: *mut AgentPage,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let request = &*request;
        let asked = requests::AgentRead {
            region: request.region.text(),
            after: (request.after_region.text(), request.after_agent.text()),
            limit: request.limit,
        };
        let more = store(instance).agents(&Caller::of(op), asked, &mut |progress| {
            convert::show_progress(progress, visit, ctx)
        })?;
        (*out).flags = page_flags(more);
        Ok(())
    })
}

unsafe extern "C" fn maintain(
    instance: *mut c_void,
    op: *const Op,
    what: *const Maintain,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let what = &*what;
        understood("davit_maintain", what.flags, MAINTAIN_PURGE | MAINTAIN_FORGET_AGENT)?;
        let purges = what.flags & MAINTAIN_PURGE != 0;
        let forgets = what.flags & MAINTAIN_FORGET_AGENT != 0;
        let agent = || (what.region.text(), what.agent.text());
        let asked = requests::Maintain {
            purge_through: purges.then_some(what.purge_through),
            forget: forgets.then(|| (agent(), what.agent_seen_at_unix_ms)),
        };
        store(instance).maintain(&Caller::of(op), asked)
    })
}

/// The handle of a watch is its number.
unsafe extern "C" fn watch(
    instance: *mut c_void,
    hint: HintFn,
    ctx: *mut c_void,
    out: *mut *mut c_void,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        *out = store(instance).hints.watch(hint, ctx) as *mut c_void;
        Ok(())
    })
}

unsafe extern "C" fn unwatch(instance: *mut c_void, handle: *mut c_void) {
    must_not_panic("davit_storage.unwatch", || store(instance).hints.unwatch(handle as usize));
}

unsafe extern "C" fn history(
    instance: *mut c_void,
    op: *const Op,
    visit: Visitor<Cursor>,
    ctx: *mut c_void,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        store(instance).history(&Caller::of(op), &mut |link| {
            let shown = Cursor { incarnation: link.incarnation, version: link.version };
            visit(ctx, &shown) == 0
        })
    })
}

pub static STORAGE: Storage = Storage {
    struct_size: std::mem::size_of::<Storage>() as u32,
    reserved: 0,
    limits,
    head,
    read,
    get,
    commit,
    report,
    statuses,
    progress,
    agents,
    maintain,
    watch,
    unwatch,
    history,
};
