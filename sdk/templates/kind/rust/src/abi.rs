//! What a plugin of any role needs of Davit's ABI 1.0, by hand. The truth is davit/abi/core.h and
//! services.h, of which share/davit/abi/1.0 has frozen copies: what stands there never changes.
#![allow(dead_code)]

use std::ffi::c_void;

pub const OK: i32 = 0;
pub const CANCELLED: i32 = 1;
pub const INVALID_ARGUMENT: i32 = 3;
pub const DEADLINE_EXCEEDED: i32 = 4;
pub const NOT_FOUND: i32 = 5;
pub const ALREADY_EXISTS: i32 = 6;
pub const PERMISSION_DENIED: i32 = 7;
pub const RESOURCE_EXHAUSTED: i32 = 8;
pub const FAILED_PRECONDITION: i32 = 9;
pub const ABORTED: i32 = 10;
pub const OUT_OF_RANGE: i32 = 11;
pub const UNIMPLEMENTED: i32 = 12;
pub const INTERNAL: i32 = 13;
pub const UNAVAILABLE: i32 = 14;
pub const DATA_LOSS: i32 = 15;
/// The half of every `flags` that must be understood.
pub const FLAGS_CRITICAL: u32 = 0xffff_0000;

pub const CONFIG_STRING: i32 = 3;
pub const CONFIG_BOOLEAN: i32 = 6;
pub const LOG_INFO: i32 = 1;

/// UTF-8, borrowed. A text and bytes have the same shape.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    pub ptr: *const u8,
    pub len: usize,
}

impl Str {
    pub const fn of(text: &'static str) -> Str {
        Str { ptr: text.as_ptr(), len: text.len() }
    }
    pub fn lent(text: &str) -> Str {
        Str { ptr: text.as_ptr(), len: text.len() }
    }
    /// # Safety
    /// Only while the call lasts that has brought it.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        std::slice::from_raw_parts(self.ptr, self.len)
    }
    /// # Safety
    /// As for bytes().
    pub unsafe fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

#[repr(C)]
pub struct Pair {
    pub key: Str,
    pub value: Str,
}

#[repr(C)]
pub struct Sink {
    pub ctx: *mut c_void,
    pub write: unsafe extern "C" fn(*mut c_void, Str),
}

#[repr(C)]
pub struct Error {
    pub code: i32,
    pub retry_after_ms: u32,
    pub place: [u8; 256],
    pub message: [u8; 768],
}

#[repr(C)]
pub struct Host {
    pub struct_size: u32,
    pub reserved: u32,
    pub instance: Str,
    pub query: unsafe extern "C" fn(*const Host, Str) -> *const c_void,
}

#[repr(C)]
pub struct Config {
    pub struct_size: u32,
    pub root: unsafe extern "C" fn(*const Host) -> *const c_void,
    pub kind: unsafe extern "C" fn(*const c_void) -> i32,
    pub get: unsafe extern "C" fn(*const c_void, Str) -> *const c_void,
    pub size: unsafe extern "C" fn(*const c_void) -> usize,
    pub at: unsafe extern "C" fn(*const c_void, usize) -> *const c_void,
    pub key: unsafe extern "C" fn(*const c_void) -> Str,
    pub place: unsafe extern "C" fn(*const c_void) -> Str,
    pub string: unsafe extern "C" fn(*const c_void) -> Str,
    pub integer: unsafe extern "C" fn(*const c_void) -> i64,
    pub real: unsafe extern "C" fn(*const c_void) -> f64,
    pub boolean: unsafe extern "C" fn(*const c_void) -> i32,
    pub reject: unsafe extern "C" fn(*const Host, *const c_void, Str),
}

#[repr(C)]
pub struct Log {
    pub struct_size: u32,
    pub enabled: unsafe extern "C" fn(*const Host, i32) -> i32,
    pub write: unsafe extern "C" fn(*const Host, i32, Str, *const Pair, usize),
}

#[repr(C)]
pub struct Clock {
    pub struct_size: u32,
    pub unix_ns: unsafe extern "C" fn(*const Host) -> i64,
    pub monotonic_ns: unsafe extern "C" fn(*const Host) -> i64,
    pub random: unsafe extern "C" fn(*const Host) -> u64,
}

#[repr(C)]
pub struct Exec {
    pub struct_size: u32,
    /// Strands and timers.
    pub rest: [*const c_void; 6],
    pub blocking:
        unsafe extern "C" fn(*const Host, Str, unsafe extern "C" fn(*mut c_void), *mut c_void),
}

/// Another instance and one of its roles.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ref {
    pub instance: *mut c_void,
    pub table: *const c_void,
    pub name: Str,
}

type VisitRef = unsafe extern "C" fn(*mut c_void, *const Ref);

#[repr(C)]
pub struct Lookup {
    pub struct_size: u32,
    pub find: unsafe extern "C" fn(*const Host, Str, Str, *mut Ref, *mut Error) -> i32,
    pub each: unsafe extern "C" fn(*const Host, Str, *mut c_void, VisitRef),
}

/// How long the caller of a long call waits, and whether it still does.
#[repr(C)]
pub struct Op {
    pub struct_size: u32,
    pub reserved: u32,
    pub deadline_ns: i64,
    pub cancelled: unsafe extern "C" fn(*const Op) -> i32,
    pub trace: Str,
    pub on_cancel: unsafe extern "C" fn(
        *const Op,
        unsafe extern "C" fn(*mut c_void),
        *mut c_void,
    ) -> *mut c_void,
    pub off_cancel: unsafe extern "C" fn(*const Op, *mut c_void),
}

type Step = unsafe extern "C" fn(*mut c_void, *const Op, *mut Error) -> i32;

#[repr(C)]
pub struct Plugin {
    pub struct_size: u32,
    pub abi_minor: u16,
    pub reserved: u16,
    pub name: Str,
    pub version: Str,
    pub summary: Str,
    pub max_concurrency: u32,
    pub pool_threads_min: u32,
    pub pool_threads_max: u32,
    pub reserved2: u32,
    pub create: unsafe extern "C" fn(*const Host, *mut *mut c_void, *mut Error) -> i32,
    pub wire: Option<unsafe extern "C" fn(*mut c_void, *mut Error) -> i32>,
    pub check: Option<Step>,
    pub start: Option<Step>,
    pub stop: Option<Step>,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub query: unsafe extern "C" fn(*mut c_void, Str) -> *const c_void,
}
unsafe impl Sync for Plugin {}

/// The ELF note, which the host reads before it loads the plugin.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    pub owner_size: u32,
    pub text_size: u32,
    pub kind: u32,
    pub owner: [u8; 8],
    pub text: [u8; N],
}

impl<const N: usize> Note<N> {
    pub const fn of(text: &str) -> Note<N> {
        let bytes = text.as_bytes();
        let mut copy = [0; N];
        let mut i = 0;
        while i < N {
            copy[i] = bytes[i];
            i += 1;
        }
        Note { owner_size: 6, text_size: N as u32, kind: 1, owner: *b"davit\0\0\0", text: copy }
    }
}
