//! A storage in Rust. It keeps everything in memory and every change in one append-only file.
//!
//! `store` is the role, `commit` its groups of changes, `state` what is in memory, `log` the file
//! and `data` the values: none of them has unsafe code. `slots` is the table that the host calls,
//! and `convert` goes between it and the values. `abi` and `storage` have what this needs of the
//! ABI, `host` asks the host, and `fault` has the errors.

mod abi;
mod commit;
mod convert;
mod data;
mod fault;
mod hints;
mod host;
mod lock;
mod log;
mod requests;
mod slots;
mod state;
mod storage;
mod store;

use abi::{Error, Host, Note, Op, Plugin, Str};
use fault::{guard, must_not_panic};
use host::{Clock, Settings};
use std::ffi::c_void;
use store::Store;

unsafe extern "C" fn create(host: *const Host, out: *mut *mut c_void, error: *mut Error) -> i32 {
    guard(error, || {
        // Without one the host refuses the instance, and says why.
        let path = Settings::of(host)?.required("path").unwrap_or_default();
        let store = Store::new(path, Clock::of(host)?);
        *out = Box::into_raw(Box::new(store)).cast();
        Ok(())
    })
}

unsafe extern "C" fn start(instance: *mut c_void, _: *const Op, error: *mut Error) -> i32 {
    guard(error, || (*instance.cast::<Store>()).start())
}

unsafe extern "C" fn stop(instance: *mut c_void, _: *const Op, error: *mut Error) -> i32 {
    guard(error, || (*instance.cast::<Store>()).stop())
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    must_not_panic("destroy", || drop(Box::from_raw(instance.cast::<Store>())));
}

unsafe extern "C" fn query(_: *mut c_void, id: Str) -> *const c_void {
    match id.bytes() {
        b"davit.storage/1" => (&slots::STORAGE as *const storage::Storage).cast(),
        _ => std::ptr::null(),
    }
}

static PLUGIN: Plugin = Plugin {
    struct_size: std::mem::size_of::<Plugin>() as u32,
    abi_minor: 0,
    reserved: 0,
    name: Str::of("@name@"),
    version: Str::of(env!("CARGO_PKG_VERSION")),
    summary: Str::of("keeps records in memory and in an append-only file"),
    max_concurrency: 4,
    pool_threads_min: 0,
    pool_threads_max: 0,
    reserved2: 0,
    create,
    wire: None,
    check: None,
    start: Some(start),
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
    "\nroles=storage/1\nneeds=\n\0"
);

#[link_section = ".note.davit"]
#[used]
static NOTE: Note<{ NOTE_TEXT.len() }> = Note::of(NOTE_TEXT);
