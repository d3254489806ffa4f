//! What a plugin of role cluster needs of Davit's ABI 1.0 besides: davit/abi/cluster.h.
#![allow(dead_code)]

use crate::abi::{Error, Op, Pair, Str};
use std::ffi::c_void;

pub const VERB_GET: &[u8] = b"get";

#[repr(C)]
pub struct Resource {
    pub group: Str,
    pub version: Str,
    pub resource: Str,
}

#[repr(C)]
pub struct Request {
    pub struct_size: u32,
    pub query_count: u32,
    pub verb: Str,
    pub resource: Resource,
    pub ns: Str,
    pub name: Str,
    pub subresource: Str,
    pub query: *const Pair,
    pub headers: *const Pair,
    pub headers_count: usize,
    pub body: Str,
}

#[repr(C)]
pub struct Response {
    pub struct_size: u32,
    pub code: i32,
    pub http_status: i32,
    pub retry_after_ms: u32,
    pub reason: Str,
    pub message: Str,
    pub body: Str,
    pub headers: *const Pair,
    pub headers_count: usize,
}

pub type Done = unsafe extern "C" fn(*mut c_void, *const Response);

#[repr(C)]
pub struct WatchRequest {
    pub struct_size: u32,
    pub flags: u32,
    pub resource: Resource,
    pub ns: Str,
    pub label_selector: Str,
    pub field_selector: Str,
    pub resource_version: Str,
}

pub type Event = unsafe extern "C" fn(*mut c_void, i32, Str);
pub type Ended = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
pub struct Watcher {
    pub struct_size: u32,
    pub reserved: u32,
    pub event: Event,
    pub ended: Ended,
}

/// A watch, as the cluster that has begun it knows it.
pub type Handle = *mut c_void;

/// An instance comes first in every slot.
#[repr(C)]
pub struct Cluster {
    pub struct_size: u32,
    pub reserved: u32,
    pub request: unsafe extern "C" fn(*mut c_void, *const Op, *const Request, Done, *mut c_void),
    pub watch: unsafe extern "C" fn(
        *mut c_void,
        *const WatchRequest,
        u32,
        *const Watcher,
        *mut c_void,
        *mut Handle,
        *mut Error,
    ) -> i32,
    pub credit: unsafe extern "C" fn(*mut c_void, Handle, u32),
    pub cancel: unsafe extern "C" fn(*mut c_void, Handle),
    pub discover: unsafe extern "C" fn(*mut c_void, *const Op, Str, Str, Str, Done, *mut c_void),
    pub identity: unsafe extern "C" fn(*mut c_void, *const Op, Done, *mut c_void),
}
