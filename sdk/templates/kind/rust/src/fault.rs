//! What goes wrong in a slot, and how the host hears of it. No panic leaves a slot.
#![allow(dead_code)]

use crate::abi::{Error, FLAGS_CRITICAL, INTERNAL, INVALID_ARGUMENT, OK, UNIMPLEMENTED};
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};

#[derive(Clone, Debug)]
pub struct Fault {
    pub code: i32,
    pub place: String,
    pub message: String,
}

impl Fault {
    pub fn new(code: i32, message: impl Into<String>) -> Fault {
        Fault { code, place: String::new(), message: message.into() }
    }
    pub fn at(self, place: impl Into<String>) -> Fault {
        Fault { place: place.into(), ..self }
    }
    pub fn write(&self, error: &mut Error) {
        error.code = self.code;
        copy(&self.place, &mut error.place);
        copy(&self.message, &mut error.message);
    }
}

/// Cut where a letter ends, and terminated by a zero.
fn copy(from: &str, to: &mut [u8]) {
    let mut length = from.len().min(to.len() - 1);
    while !from.is_char_boundary(length) {
        length -= 1;
    }
    to[..length].copy_from_slice(&from.as_bytes()[..length]);
    to[length] = 0;
}

/// The caller's mistake, in this field.
pub fn wrong(field: &str, message: &str) -> Fault {
    Fault::new(INVALID_ARGUMENT, message).at(field)
}

/// A fault when the flags of this struct have a bit that must not be ignored, besides the known
/// ones.
pub fn understood(of: &str, flags: u32, known: u32) -> Result<(), Fault> {
    let unknown = flags & FLAGS_CRITICAL & !known;
    if unknown == 0 {
        return Ok(());
    }
    let bit = unknown.trailing_zeros();
    let message = format!(
        "{of}.flags has bit {bit}, which is not known here and must not be ignored: \
         install a newer version"
    );
    Err(Fault::new(UNIMPLEMENTED, message).at(of))
}

/// Does the work. A panic is a fault, too.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Fault::new(INTERNAL, "the plugin panicked")))
}

/// Does a slot's work; what goes wrong, a panic too, is written into the error.
///
/// # Safety
/// The error is the one that the slot was called with.
pub unsafe fn guard(error: *mut Error, work: impl FnOnce() -> Result<(), Fault>) -> i32 {
    match caught(work) {
        Ok(()) => OK,
        Err(fault) => {
            fault.write(&mut *error);
            fault.code
        }
    }
}

/// Does the work of a slot or callback that has no error. A panic ends the process, which says
/// where.
pub fn must_not_panic<T>(place: &str, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let _ = writeln!(std::io::stderr(), "{}: {} panicked", env!("CARGO_PKG_NAME"), place);
        std::process::abort()
    })
}
