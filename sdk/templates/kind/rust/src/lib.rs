//! A kind in Rust. A record of it is a ConfigMap.
//!
//! A kind is pure: JSON in, JSON out. It has no clock, socket or thread, and remembers nothing.
//! davit/abi/kind.h has the shapes and the rules. No panic leaves a slot.

mod abi;
mod fault;
mod host;
mod json;
mod kind;

use abi::*;
use fault::{guard, must_not_panic, wrong, Fault};
use host::Settings;
use json::{number, object, text, Value};
use kind::*;
use std::ffi::c_void;

const COMPONENT: &str = "app.kubernetes.io/component";
const ID_LABEL: &str = "@kind_dashed@.acme.example/id";
const OWNER_LABEL: &str = "@kind_dashed@.acme.example/owner";
const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

// --- what a document says ---------------------------------------------------------------------

struct Name<'a> {
    id: &'a str,
    ns: &'a str,
    name: &'a str,
}

fn parse(input: Str) -> Result<Value, Fault> {
    match json::parse(&unsafe { input.text() }) {
        Some(value @ Value::Object(_)) => Ok(value),
        _ => Err(wrong("", "not a JSON object")),
    }
}

/// proto3 has no required fields, so the kind checks them.
fn name_of(message: &Value) -> Result<Name<'_>, Fault> {
    let field = |key| match message.text_at(&[key]) {
        "" => Err(wrong(key, "is missing")),
        text => Ok(text),
    };
    Ok(Name { id: field("@kind@_id")?, ns: field("namespace")?, name: field("name")? })
}

/// In the codec's JSON 64-bit integers are strings, and a field that is 0 is absent.
fn size_of(message: &Value) -> Result<u32, Fault> {
    let digits = message.text_at(&["size"]);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match digits.parse() {
        Ok(size @ 1..=10_000) if plain => Ok(size),
        _ => Err(wrong("size", "must be 1 to 10000")),
    }
}

/// The ConfigMap's data.
fn data_of(message: &Value) -> Result<Value, Fault> {
    let mut data = std::collections::BTreeMap::new();
    data.insert("size".to_string(), text(&size_of(message)?.to_string()));
    let colour = message.text_at(&["colour"]);
    if !colour.is_empty() {
        data.insert("colour".into(), text(colour));
    }
    match message.at(&["options"]) {
        None => {}
        Some(Value::Object(options)) => {
            for (key, value) in options {
                if !matches!(value, Value::Text(_)) {
                    return Err(wrong(&format!("options.{key}"), "must be a string"));
                }
                data.insert(format!("option.{key}"), value.clone());
            }
        }
        Some(_) => return Err(wrong("options", "must be an object")),
    }
    Ok(Value::Object(data))
}

fn is_name(part: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = part.as_bytes();
    !bytes.is_empty()
        && plain(bytes[0])
        && plain(bytes[bytes.len() - 1])
        && bytes.iter().all(|b| plain(*b) || *b == b'-')
}

fn judge(message: &Value) -> Result<(), Fault> {
    let named = name_of(message)?;
    if named.ns.len() > LABEL_MAX || !is_name(named.ns) {
        return Err(wrong("namespace", "is no DNS label"));
    }
    if named.name.len() > SUBDOMAIN_MAX || !named.name.split('.').all(is_name) {
        return Err(wrong("name", "is no DNS subdomain"));
    }
    data_of(message).map(|_| ())
}

// --- what is to be done -----------------------------------------------------------------------

/// What is observed: the data of the ConfigMap, when there is one, and what a delete of it says.
fn look(observed: &[Value]) -> (Option<Value>, Vec<Value>) {
    let (mut there, mut remove) = (None, Vec::new());
    for found in observed {
        let ns = found.text_at(&["metadata", "namespace"]);
        let name = found.text_at(&["metadata", "name"]);
        if found.text_at(&["kind"]) != "ConfigMap" || ns.is_empty() || name.is_empty() {
            continue;
        }
        there = Some(found.at(&["data"]).cloned().unwrap_or_else(|| object([])));
        if !found.text_at(&["metadata", "deletionTimestamp"]).is_empty() {
            continue; // being deleted already
        }
        remove.push(object([
            ("group", text("")),
            ("version", text("v1")),
            ("resource", text("configmaps")),
            ("namespace", text(ns)),
            ("name", text(name)),
        ]));
    }
    (there, remove)
}

fn status(wanted: bool, there: bool, updated: bool) -> Value {
    let health = match (updated, wanted || there) {
        (true, _) => "healthy",
        (_, true) => "progressing",
        _ => "unknown",
    };
    object([
        ("gone", Value::Bool(!wanted && !there)),
        ("health", text(health)),
        ("desired", number(wanted.into())),
        ("updated", number(updated.into())),
        ("ready", number(updated.into())),
        ("stale", number((wanted && there && !updated).into())),
    ])
}

/// The namespace is created when it is absent, and never owned.
fn render(owner: &str, named: &Name, data: Value) -> Value {
    let space = object([
        ("apiVersion", text("v1")),
        ("kind", text("Namespace")),
        ("metadata", object([("name", text(named.ns))])),
    ]);
    let labels = object([
        (COMPONENT, text("@kind@")),
        (ID_LABEL, text(named.id)),
        (OWNER_LABEL, text(owner)),
    ]);
    let metadata =
        object([("name", text(named.name)), ("namespace", text(named.ns)), ("labels", labels)]);
    let map = object([
        ("apiVersion", text("v1")),
        ("kind", text("ConfigMap")),
        ("metadata", metadata),
        ("data", data),
    ]);
    Value::List(vec![
        object([("object", space), ("mode", text("ensure"))]),
        object([("object", map)]),
    ])
}

/// Level-based: it judges the present state, not events, so it may be called again at any time.
fn plan(owner: &str, input: &Value) -> Result<Value, Fault> {
    let (there, remove) = match input.at(&["observed"]) {
        None => (None, Vec::new()),
        Some(Value::List(objects)) => look(objects),
        Some(_) => return Err(wrong("observed", "must be a list")),
    };
    let answer = |apply, remove, status| {
        object([("apply", apply), ("delete", Value::List(remove)), ("status", status)])
    };
    match input.at(&["desired"]) {
        None => Ok(answer(Value::List(vec![]), remove, status(false, there.is_some(), false))),
        Some(message @ Value::Object(_)) => {
            let named = name_of(message)?;
            let data = data_of(message)?;
            let updated = there.as_ref() == Some(&data);
            let said = status(true, there.is_some(), updated);
            Ok(answer(render(owner, &named, data), vec![], said))
        }
        Some(_) => Err(wrong("desired", "must be an object")),
    }
}

// --- the slots of the role --------------------------------------------------------------------

struct Instance {
    owner: String,
}

unsafe fn show(named: &Name, visit: VisitNamed, ctx: *mut c_void) {
    let shown =
        Named { id: Str::lent(named.id), ns: Str::lent(named.ns), name: Str::lent(named.name) };
    visit(ctx, &shown);
}

unsafe extern "C" fn describe(_: *mut c_void) -> *const KindDescription {
    &DESCRIPTION
}

unsafe extern "C" fn identify(
    _: *mut c_void,
    apply: Str,
    visit: VisitNamed,
    ctx: *mut c_void,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let message = parse(apply)?;
        show(&name_of(&message)?, visit, ctx);
        Ok(())
    })
}

unsafe extern "C" fn validate(_: *mut c_void, apply: Str, error: *mut Error) -> i32 {
    guard(error, || judge(&parse(apply)?))
}

unsafe extern "C" fn classify(
    _: *mut c_void,
    state: Str,
    _: Str,
    out: *mut i32,
    _: *mut Error,
) -> i32 {
    *out = match state.bytes() {
        b"running" => CLASS_APPLY,
        b"retired" => CLASS_DELETE,
        _ => CLASS_UNHANDLED,
    };
    OK
}

unsafe extern "C" fn reconcile(
    instance: *mut c_void,
    input: Str,
    sink: *const Sink,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let answer = plan(&(*instance.cast::<Instance>()).owner, &parse(input)?)?.to_json();
        ((*sink).write)((*sink).ctx, Str::lent(&answer));
        Ok(())
    })
}

unsafe extern "C" fn attribute(
    _: *mut c_void,
    found: Str,
    visit: VisitNamed,
    ctx: *mut c_void,
    error: *mut Error,
) -> i32 {
    guard(error, || {
        let found = parse(found)?;
        let named = Name {
            id: found.text_at(&["metadata", "labels", ID_LABEL]),
            ns: found.text_at(&["metadata", "namespace"]),
            name: found.text_at(&["metadata", "name"]),
        };
        if named.id.is_empty() || named.ns.is_empty() || named.name.is_empty() {
            return Err(Fault::new(NOT_FOUND, "it belongs to no record"));
        }
        show(&named, visit, ctx);
        Ok(())
    })
}

static KIND: Kind = Kind {
    struct_size: std::mem::size_of::<Kind>() as u32,
    reserved: 0,
    describe,
    identify,
    validate,
    classify,
    reconcile,
    attribute,
    rest: [std::ptr::null(); 4],
};

// --- what it says of itself -------------------------------------------------------------------

const DESCRIPTORS: &[u8] = include_bytes!(env!("DAVIT_DESCRIPTORS"));

static NAMESPACES: KindResource = KindResource::of(RESOURCE_ENSURED, "namespaces", "Namespace");
static CONFIG_MAPS: KindResource = KindResource {
    namespaced: 1,
    selector: Str::of("app.kubernetes.io/component=@kind@"),
    ..KindResource::of(RESOURCE_OWNED, "configmaps", "ConfigMap")
};
/// What `davit get @kind@` shows of each beside its id, region and state.
static SIZE: KindColumn = KindColumn {
    struct_size: std::mem::size_of::<KindColumn>() as u32,
    source: COLUMN_SPEC,
    name: Str::of("SIZE"),
    path: Str::of("/size"),
    kind: Str::of("integer"),
    priority: 0,
    reserved: 0,
};

static RESOURCES: Pointers<KindResource, 2> = Pointers([&NAMESPACES, &CONFIG_MAPS]);
static COLUMNS: Pointers<KindColumn, 1> = Pointers([&SIZE]);

static DESCRIPTION: KindDescription = KindDescription {
    struct_size: std::mem::size_of::<KindDescription>() as u32,
    json_fields_count: 0,
    kind: Str::of("@kind@"),
    apply_type: Str::of("acme.v1.Apply@Kind@"),
    descriptor_set: Str { ptr: DESCRIPTORS.as_ptr(), len: DESCRIPTORS.len() },
    json_fields: std::ptr::null(),
    resources: RESOURCES.0.as_ptr(),
    resources_count: 2,
    ctrl_v1: std::ptr::null(),
    default_state: Str::of("running"),
    columns: COLUMNS.0.as_ptr(),
    columns_count: 1,
};

// --- the plugin's steps -----------------------------------------------------------------------

unsafe extern "C" fn create(host: *const Host, out: *mut *mut c_void, error: *mut Error) -> i32 {
    guard(error, || {
        let owner = Settings::of(host)?.string("owner").unwrap_or_else(|| "acme".into());
        *out = Box::into_raw(Box::new(Instance { owner })).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    must_not_panic("destroy", || drop(Box::from_raw(instance.cast::<Instance>())));
}

unsafe extern "C" fn query(_: *mut c_void, id: Str) -> *const c_void {
    match id.bytes() {
        b"davit.kind/1" => (&KIND as *const Kind).cast(),
        _ => std::ptr::null(),
    }
}

static PLUGIN: Plugin = Plugin {
    struct_size: std::mem::size_of::<Plugin>() as u32,
    abi_minor: 0,
    reserved: 0,
    name: Str::of("@name@"),
    version: Str::of(env!("CARGO_PKG_VERSION")),
    summary: Str::of("records of kind @kind@ as ConfigMaps"),
    max_concurrency: 0,
    pool_threads_min: 0,
    pool_threads_max: 0,
    reserved2: 0,
    create,
    wire: None,
    check: None,
    start: None,
    stop: None,
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
    "\nroles=kind/1\nneeds=\n\0"
);

#[link_section = ".note.davit"]
#[used]
static NOTE: Note<{ NOTE_TEXT.len() }> = Note::of(NOTE_TEXT);
