//! What a plugin of role kind needs of Davit's ABI 1.0 besides: davit/abi/kind.h.
#![allow(dead_code)]

use crate::abi::{Error, Sink, Str};
use std::ffi::c_void;

pub const CLASS_UNHANDLED: i32 = 0;
pub const CLASS_APPLY: i32 = 1;
pub const CLASS_DELETE: i32 = 2;
pub const RESOURCE_OWNED: i32 = 1;
pub const RESOURCE_ENSURED: i32 = 3;
pub const COLUMN_SPEC: i32 = 1;

#[repr(C)]
pub struct KindResource {
    pub struct_size: u32,
    pub role: i32,
    pub group: Str,
    pub version: Str,
    pub resource: Str,
    pub kind: Str,
    pub namespaced: u32,
    pub keep_count: u32,
    pub selector: Str,
    pub keep: *const Str,
}
unsafe impl Sync for KindResource {}

impl KindResource {
    /// A resource of the core group, for the whole cluster.
    pub const fn of(role: i32, name: &'static str, kind: &'static str) -> KindResource {
        KindResource {
            struct_size: std::mem::size_of::<KindResource>() as u32,
            role,
            group: Str::of(""),
            version: Str::of("v1"),
            resource: Str::of(name),
            kind: Str::of(kind),
            namespaced: 0,
            keep_count: 0,
            selector: Str::of(""),
            keep: std::ptr::null(),
        }
    }
}

#[repr(C)]
pub struct KindColumn {
    pub struct_size: u32,
    pub source: i32,
    pub name: Str,
    pub path: Str,
    pub kind: Str,
    pub priority: u32,
    pub reserved: u32,
}
unsafe impl Sync for KindColumn {}

#[repr(C)]
pub struct KindDescription {
    pub struct_size: u32,
    pub json_fields_count: u32,
    pub kind: Str,
    pub apply_type: Str,
    pub descriptor_set: Str,
    pub json_fields: *const Str,
    pub resources: *const *const KindResource,
    pub resources_count: usize,
    pub ctrl_v1: *const c_void,
    pub default_state: Str,
    pub columns: *const *const KindColumn,
    pub columns_count: usize,
}
unsafe impl Sync for KindDescription {}

#[repr(C)]
pub struct Named {
    pub id: Str,
    pub ns: Str,
    pub name: Str,
}
pub type VisitNamed = unsafe extern "C" fn(*mut c_void, *const Named);
type Names = unsafe extern "C" fn(*mut c_void, Str, VisitNamed, *mut c_void, *mut Error) -> i32;

#[repr(C)]
pub struct Kind {
    pub struct_size: u32,
    pub reserved: u32,
    pub describe: unsafe extern "C" fn(*mut c_void) -> *const KindDescription,
    pub identify: Names,
    pub validate: unsafe extern "C" fn(*mut c_void, Str, *mut Error) -> i32,
    pub classify: unsafe extern "C" fn(*mut c_void, Str, Str, *mut i32, *mut Error) -> i32,
    pub reconcile: unsafe extern "C" fn(*mut c_void, Str, *const Sink, *mut Error) -> i32,
    pub attribute: Names,
    /// Those of ctrl.v1, and apply_message: not played.
    pub rest: [*const c_void; 4],
}
unsafe impl Sync for Kind {}

pub struct Pointers<T, const N: usize>(pub [*const T; N]);
unsafe impl<T, const N: usize> Sync for Pointers<T, N> {}
