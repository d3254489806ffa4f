//! What a Cluster wants of this actuator: its spec.providerSpec.value, read.

use crate::abi::UNIMPLEMENTED;
use crate::fault::{wrong, Fault};
use crate::json::{self, Value};
use std::collections::BTreeMap;

const API_VERSION: &str = "directory.example.com/v1";
const VALUE: &str = "spec.providerSpec.value";
const FILE_NAME_MAX: usize = 200;
const A_DAY_MS: i64 = 86_400_000;

pub struct Wanted {
    /// Their content; it may be a credential.
    pub files: BTreeMap<String, String>,
    /// The cluster is ready so long after it was begun.
    pub boot_ms: i64,
    /// Before each file that is written.
    pub step_ms: i64,
}

/// Whether a text can be the name of a file, or a part of one, and is not hidden.
pub fn is_file_name(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    !text.is_empty()
        && text.len() <= FILE_NAME_MAX
        && !text.starts_with('.')
        && text.bytes().all(allowed)
}

fn milliseconds_of(value: &Value, key: &str) -> Result<i64, Fault> {
    let number = match value.at(&[key]) {
        None => return Ok(0),
        Some(Value::Number(text)) => text.parse().unwrap_or(-1),
        Some(_) => -1,
    };
    if (0..=A_DAY_MS).contains(&number) {
        return Ok(number);
    }
    Err(wrong(&format!("{VALUE}.{key}"), "is no number of milliseconds, up to a day"))
}

fn files_of(value: &Value) -> Result<BTreeMap<String, String>, Fault> {
    let place = format!("{VALUE}.files");
    let files = match value.at(&["files"]) {
        Some(Value::Object(files)) => files,
        _ => return Err(wrong(&place, "is no object with the content of files")),
    };
    let mut out = BTreeMap::new();
    for (name, content) in files {
        if !is_file_name(name) {
            return Err(wrong(&place, "has a key that is no name of a file"));
        }
        match content {
            Value::Text(text) => out.insert(name.clone(), text.clone()),
            _ => return Err(wrong(&format!("{place}.{name}"), "is no text")),
        };
    }
    Ok(out)
}

/// `cluster` is the whole Cluster as JSON. No text of a fault quotes it.
pub fn wanted_of(cluster: &[u8]) -> Result<Wanted, Fault> {
    let read = std::str::from_utf8(cluster).ok().and_then(json::parse);
    let cluster = read.ok_or_else(|| wrong("", "the cluster is no JSON"))?;
    let value = match cluster.at(&["spec", "providerSpec", "value"]) {
        Some(value @ Value::Object(_)) => value,
        _ => return Err(wrong(VALUE, "is no object")),
    };
    if value.text_at(&["apiVersion"]) != API_VERSION {
        let fault = Fault::new(UNIMPLEMENTED, format!("is not of {API_VERSION}"));
        return Err(fault.at(format!("{VALUE}.apiVersion")));
    }
    Ok(Wanted {
        files: files_of(value)?,
        boot_ms: milliseconds_of(value, "boot_ms")?,
        step_ms: milliseconds_of(value, "step_ms")?,
    })
}
