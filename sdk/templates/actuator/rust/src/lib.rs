//! An actuator in Rust, whose clusters are folders with files. It shows what an actuator of a real
//! provider does: it looks at what is there at each call and does what is missing, in steps between
//! which it may be killed; it knows by the uid what is whose; and it gives a call up when its
//! caller does.
//!
//! davit/abi/actuator.h has the shapes and the rules. No panic leaves a slot.

mod abi;
mod actuator;
mod calls;
mod disk;
mod fault;
mod host;
mod json;
mod wanted;

use abi::{Error, Host, Note, Op, Plugin, Str};
use actuator::{Actuator, ActuatorCall, Done};
use calls::{Call, Calls, Outcome, Reply};
use disk::Disk;
use fault::{guard, must_not_panic, wrong, Fault};
use host::Settings;
use json::{number, object, text, Value};
use std::ffi::{c_void, OsStr};
use std::sync::Arc;
use wanted::{is_file_name, wanted_of, Wanted};

/// A call that waits holds a thread, so this many slow clusters hold the others up.
const THREADS: u32 = 8;
const THREADS_MIN: u32 = 2;
const THREADS_MAX: u32 = 64;
const FOLDER_MAX: usize = 255;

// --- the work ---------------------------------------------------------------------------------

fn folder_of(call: &Call) -> String {
    format!("{}_{}", call.ns, call.name) // "_" is in no name of Kubernetes
}

/// A call with names that the API server does not give would be one for other files.
fn check_names(call: &Call) -> Result<(), Fault> {
    let is_name = |name: &str| is_file_name(name) && !name.contains('_');
    if !is_name(&call.ns) {
        return Err(wrong("metadata.namespace", "is no name"));
    }
    if !is_name(&call.name) || folder_of(call).len() > FOLDER_MAX {
        return Err(wrong("metadata.name", "is no name for a folder"));
    }
    if !is_name(&call.uid) {
        return Err(wrong("metadata.uid", "is no uid"));
    }
    Ok(())
}

fn status_of(call: &Call, wanted: &Wanted) -> String {
    let host = format!("{}.{}.example.com", call.name, call.ns);
    let endpoint = object([("host", text(&host)), ("port", number(6443))]);
    let status =
        object([("folder", text(&folder_of(call))), ("files", number(wanted.files.len() as i64))]);
    object([("apiEndpoints", Value::List(vec![endpoint])), ("providerStatus", status)]).to_json()
}

/// The files become those that are wanted, one after the other.
fn fill(call: &Call, disk: &Disk, wanted: &Wanted) -> Result<(), Fault> {
    let folder = folder_of(call);
    disk.clean(&folder)?;
    let there = disk.files(&folder)?;
    let mut changes = 0;
    for (file, content) in &wanted.files {
        if there.get(OsStr::new(file)).map(Vec::as_slice) == Some(content.as_bytes()) {
            continue;
        }
        call.pause(wanted.step_ms)?;
        disk.put(&folder, file, content.as_bytes())?;
        changes += 1;
    }
    let is_wanted = |file: &OsStr| matches!(file.to_str(), Some(f) if wanted.files.contains_key(f));
    for file in there.keys().filter(|file| !is_wanted(file)) {
        disk.drop(&folder, file)?;
        changes += 1;
    }
    if changes > 0 {
        call.tell("FilesChanged", &format!("{changes} files were written or removed"));
    }
    Ok(())
}

struct Instance {
    directory: String,
    calls: Arc<Calls>,
}

impl Instance {
    /// Each step finds out what is there. So it does not matter which one a crash came after.
    fn build(&self, call: &Call) -> Result<Outcome, Fault> {
        check_names(call)?;
        let disk = Disk::open(&self.directory)?;
        let wanted = wanted_of(&call.cluster)?;
        let folder = folder_of(call);
        disk.sweep(&call.uid)?;
        match disk.owner(&folder)? {
            None => {
                disk.claim(&folder, &call.uid)?;
                call.tell("FolderCreated", &format!("the folder {folder} was made"));
            }
            Some(uid) if uid == call.uid.as_bytes() => {}
            Some(_) => return Err(disk::another(&folder)),
        }
        fill(call, &disk, &wanted)?;
        let age = (self.calls.unix_ms() - disk.made_at_ms(&folder)?).max(0);
        if age < wanted.boot_ms {
            let requeue_after_ms = wanted.boot_ms - age;
            return Ok(Outcome {
                requeue_after_ms,
                progress: "the cluster boots",
                ..Outcome::default()
            });
        }
        Ok(Outcome { status_patch: status_of(call, &wanted), ..Outcome::default() })
    }

    /// It does not ask what the cluster wanted. A folder of another uid is no part of this cluster,
    /// and one that does not say whose it is is an error.
    fn clear(&self, call: &Call) -> Result<Outcome, Fault> {
        check_names(call)?;
        let disk = Disk::open(&self.directory)?;
        let folder = folder_of(call);
        disk.sweep(&call.uid)?;
        if disk.owner(&folder)?.as_deref() == Some(call.uid.as_bytes()) {
            disk.retire(&folder, &call.uid)?;
            disk.sweep(&call.uid)?;
            call.tell("FolderRemoved", &format!("the folder {folder} was removed"));
        }
        Ok(Outcome::default())
    }
}

// --- the slots of the role --------------------------------------------------------------------

type Work = fn(&Instance, &Call) -> Result<Outcome, Fault>;

/// The host holds one reference to the instance, from create to destroy. Each call has its own.
unsafe fn serve(
    instance: *mut c_void,
    op: *const Op,
    asked: *const ActuatorCall,
    reply: Reply,
    work: Work,
) {
    let held: *const Instance = instance.cast();
    Arc::increment_strong_count(held);
    let own = Arc::from_raw(held);
    let calls = Arc::clone(&own.calls);
    calls.serve(op, asked, reply, move |call| work(&own, call));
}

unsafe extern "C" fn reconcile(
    instance: *mut c_void,
    op: *const Op,
    asked: *const ActuatorCall,
    done: Done,
    ctx: *mut c_void,
) {
    serve(instance, op, asked, Reply { done, ctx }, Instance::build);
}

unsafe extern "C" fn remove(
    instance: *mut c_void,
    op: *const Op,
    asked: *const ActuatorCall,
    done: Done,
    ctx: *mut c_void,
) {
    serve(instance, op, asked, Reply { done, ctx }, Instance::clear);
}

static ACTUATOR: Actuator = Actuator {
    struct_size: std::mem::size_of::<Actuator>() as u32,
    reserved: 0,
    reconcile,
    remove,
};

// --- the plugin's steps -----------------------------------------------------------------------

/// Without one the host refuses the instance, and says why.
unsafe fn read_directory(host: *const Host) -> Result<String, Fault> {
    let settings = Settings::of(host)?;
    let make = settings.boolean("create").unwrap_or(false);
    let directory = match settings.required("directory") {
        Some(directory) => directory,
        None => return Ok(String::new()),
    };
    if make {
        if let Err(why) = Disk::make(&directory) {
            settings.reject("directory", &why.message);
        }
    }
    Ok(directory)
}

unsafe extern "C" fn create(host: *const Host, out: *mut *mut c_void, error: *mut Error) -> i32 {
    guard(error, || {
        let calls = Arc::new(Calls::new(host)?);
        let made = Arc::new(Instance { directory: read_directory(host)?, calls });
        *out = Arc::into_raw(made) as *mut c_void;
        Ok(())
    })
}

unsafe extern "C" fn stop(instance: *mut c_void, op: *const Op, error: *mut Error) -> i32 {
    guard(error, || (*instance.cast::<Instance>()).calls.stop(op))
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    must_not_panic("destroy", || drop(Arc::from_raw(instance.cast::<Instance>())));
}

unsafe extern "C" fn query(_: *mut c_void, id: Str) -> *const c_void {
    match id.bytes() {
        b"davit.actuator/1" => (&ACTUATOR as *const Actuator).cast(),
        _ => std::ptr::null(),
    }
}

static PLUGIN: Plugin = Plugin {
    struct_size: std::mem::size_of::<Plugin>() as u32,
    abi_minor: 1,
    reserved: 0,
    name: Str::of("@name@"),
    version: Str::of(env!("CARGO_PKG_VERSION")),
    summary: Str::of("clusters are folders with files"),
    max_concurrency: THREADS,
    pool_threads_min: THREADS_MIN,
    pool_threads_max: THREADS_MAX,
    reserved2: 0,
    create,
    wire: None,
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
    "abi=1.1\nname=@name@\nversion=",
    env!("CARGO_PKG_VERSION"),
    "\nroles=actuator/1\nneeds=\n\0"
);

#[link_section = ".note.davit"]
#[used]
static NOTE: Note<{ NOTE_TEXT.len() }> = Note::of(NOTE_TEXT);
