//! What a plugin of role actuator needs of Davit's ABI 1.1 besides: davit/abi/actuator.h.
#![allow(dead_code)]

use crate::abi::{Error, Op, Str};
use std::ffi::c_void;

#[repr(C)]
pub struct ActuatorEvent {
    pub struct_size: u32,
    pub warning: i32,
    pub reason: Str,
    pub message: Str,
}

pub type Tell = unsafe extern "C" fn(*mut c_void, *const ActuatorEvent);

#[repr(C)]
pub struct ActuatorCall {
    pub struct_size: u32,
    pub flags: u32,
    pub ns: Str,
    pub name: Str,
    pub uid: Str,
    pub cluster: Str,
    pub event: Option<Tell>,
    pub object: *mut c_void,
}

#[repr(C)]
pub struct ActuatorResult {
    pub struct_size: u32,
    pub reserved: u32,
    pub error: *const Error,
    pub requeue_after_ms: i64,
    pub status_patch: Str,
    pub error_reason: Str,
    pub progress: Str,
}

pub type Done = unsafe extern "C" fn(*mut c_void, *const ActuatorResult);
pub type Slot =
    unsafe extern "C" fn(*mut c_void, *const Op, *const ActuatorCall, Done, *mut c_void);

#[repr(C)]
pub struct Actuator {
    pub struct_size: u32,
    pub reserved: u32,
    pub reconcile: Slot,
    pub remove: Slot,
}
