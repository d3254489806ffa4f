//! A cluster in front of another one: it logs each write, and passes everything on.
//!
//! Requests, watches, answers and events pass through as they come: what a later ABI adds to a
//! request, the next cluster gets. davit/abi/cluster.h has the shapes and the rules. No panic leaves
//! a slot.

mod abi;
mod cluster;
mod fault;
mod host;
mod open;
mod requests;
mod watches;

use abi::{Error, Host, Log, Lookup, Note, Op, Plugin, Ref, Str, DEADLINE_EXCEEDED};
use cluster::Cluster;
use fault::{guard, must_not_panic, Fault};
use host::{service, Caller, Clock, Settings};
use open::Open;
use requests::{discover, identity, request};
use std::ffi::c_void;
use std::sync::Arc;
use watches::{cancel, credit, watch};

const CLUSTER_ID: Str = Str::of("davit.cluster/1");

struct Instance {
    host: *const Host,
    log: *const Log,
    lookup: *const Lookup,
    clock: Clock,
    next_name: String,
    next: Ref, // the cluster behind this one, from `wire` on
    open: Arc<Open>,
}

/// The host makes one of these with `create`, and calls nothing after `destroy`.
unsafe fn of<'a>(instance: *mut c_void) -> &'a Instance {
    &*instance.cast::<Instance>()
}

impl Instance {
    unsafe fn next_table(&self) -> &Cluster {
        &*self.next.table.cast::<Cluster>()
    }
}

static CLUSTER: Cluster = Cluster {
    struct_size: std::mem::size_of::<Cluster>() as u32,
    reserved: 0,
    request,
    watch,
    credit,
    cancel,
    discover,
    identity,
};

// --- the plugin's steps -----------------------------------------------------------------------

unsafe extern "C" fn create(host: *const Host, out: *mut *mut c_void, error: *mut Error) -> i32 {
    guard(error, || {
        let made = Instance {
            host,
            log: service(host, "davit.log/1")?,
            lookup: service(host, "davit.lookup/1")?,
            clock: Clock::of(host)?,
            // Without one the host refuses the instance, and says why.
            next_name: Settings::of(host)?.required("next").unwrap_or_default(),
            next: Ref {
                instance: std::ptr::null_mut(),
                table: std::ptr::null(),
                name: Str::of(""),
            },
            open: Arc::default(),
        };
        *out = Box::into_raw(Box::new(made)).cast();
        Ok(())
    })
}

/// The instance that is found here starts before this one and stops after it. Nobody calls this one
/// yet.
unsafe extern "C" fn wire(instance: *mut c_void, error: *mut Error) -> i32 {
    let own = &mut *instance.cast::<Instance>();
    ((*own.lookup).find)(own.host, Str::lent(&own.next_name), CLUSTER_ID, &mut own.next, error)
}

/// Its callers hear the end of all that they have begun.
unsafe extern "C" fn stop(instance: *mut c_void, op: *const Op, error: *mut Error) -> i32 {
    guard(error, || {
        let own = of(instance);
        for number in own.open.watches() {
            own.cancel(number);
        }
        let limit = Caller::of(op).time_left(&own.clock);
        match own.open.wait(limit) {
            0 => Ok(()),
            left => Err(Fault::new(DEADLINE_EXCEEDED, format!("{left} calls have not ended"))),
        }
    })
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    must_not_panic("destroy", || drop(Box::from_raw(instance.cast::<Instance>())));
}

unsafe extern "C" fn query(_: *mut c_void, id: Str) -> *const c_void {
    if id.bytes() == CLUSTER_ID.bytes() {
        return (&CLUSTER as *const Cluster).cast();
    }
    std::ptr::null()
}

static PLUGIN: Plugin = Plugin {
    struct_size: std::mem::size_of::<Plugin>() as u32,
    abi_minor: 0,
    reserved: 0,
    name: Str::of("@name@"),
    version: Str::of(env!("CARGO_PKG_VERSION")),
    summary: Str::of("logs the writes to another cluster"),
    max_concurrency: 0,
    pool_threads_min: 0,
    pool_threads_max: 0,
    reserved2: 0,
    create,
    wire: Some(wire),
    check: None,
    start: None,
    stop: Some(stop),
    destroy,
    query,
};

/// The only symbol that the plugin exports.
#[no_mangle]
pub extern "C" fn davit_plugin_entry_v1(_: u32, _: *mut Error) -> *const Plugin {
    &PLUGIN
}

const NOTE_TEXT: &str = concat!(
    "abi=1.0\nname=@name@\nversion=",
    env!("CARGO_PKG_VERSION"),
    "\nroles=cluster/1\nneeds=\n\0"
);

#[link_section = ".note.davit"]
#[used]
static NOTE: Note<{ NOTE_TEXT.len() }> = Note::of(NOTE_TEXT);
