//! What a plugin of any role asks of the host: its settings, the time, and whether a caller still
//! waits.
#![allow(dead_code)]

use crate::abi::{self, Host, Op, Str, CONFIG_BOOLEAN, CONFIG_STRING};
use crate::abi::{CANCELLED, DEADLINE_EXCEEDED, FAILED_PRECONDITION};
use crate::fault::Fault;
use std::ffi::c_void;
use std::time::Duration;

/// The table of a service.
///
/// # Safety
/// Here and below: the host is the one that create was given, and T the type of the service.
pub unsafe fn service<T>(host: *const Host, id: &'static str) -> Result<*const T, Fault> {
    let table = ((*host).query)(host, Str::of(id));
    if table.is_null() {
        return Err(Fault::new(FAILED_PRECONDITION, format!("the host offers no {id}")));
    }
    Ok(table.cast())
}

/// The instance's own table, while create runs. The host refuses the instance afterwards if
/// anything was rejected, and says why. Reading a key declares it: the host refuses one that nobody
/// reads.
pub struct Settings {
    host: *const Host,
    config: *const abi::Config,
}

impl Settings {
    /// # Safety
    /// As for service().
    pub unsafe fn of(host: *const Host) -> Result<Settings, Fault> {
        Ok(Settings { host, config: service(host, "davit.config/1")? })
    }
    fn root(&self) -> *const c_void {
        unsafe { ((*self.config).root)(self.host) }
    }
    fn get(&self, key: &str) -> *const c_void {
        unsafe { ((*self.config).get)(self.root(), Str::lent(key)) }
    }
    fn is(&self, node: *const c_void, kind: i32) -> bool {
        unsafe { ((*self.config).kind)(node) == kind }
    }
    /// Says what is wrong with a key, which may be absent.
    pub fn reject(&self, key: &str, message: &str) {
        let (mut node, mut said) = (self.get(key), message.to_string());
        if node.is_null() {
            node = self.root();
            said = format!("key \"{key}\": {message}");
        }
        unsafe { ((*self.config).reject)(self.host, node, Str::lent(&said)) };
    }
    /// None: it is absent, or no string, which is rejected.
    pub fn string(&self, key: &str) -> Option<String> {
        let node = self.get(key);
        if self.is(node, CONFIG_STRING) {
            return Some(unsafe { ((*self.config).string)(node).text() });
        }
        if !node.is_null() {
            self.reject(key, "must be a string");
        }
        None
    }
    /// As string(). One that is absent is rejected, too.
    pub fn required(&self, key: &str) -> Option<String> {
        if self.get(key).is_null() {
            self.reject(key, "is missing (a string)");
        }
        self.string(key)
    }
    /// None: it is absent, or neither true nor false, which is rejected.
    pub fn boolean(&self, key: &str) -> Option<bool> {
        let node = self.get(key);
        if self.is(node, CONFIG_BOOLEAN) {
            return Some(unsafe { ((*self.config).boolean)(node) != 0 });
        }
        if !node.is_null() {
            self.reject(key, "must be true or false");
        }
        None
    }
}

/// The host's clock, which a test can control.
pub struct Clock {
    host: *const Host,
    table: *const abi::Clock,
}
// The host and its services are valid until destroy returns, and any thread may call them.
unsafe impl Send for Clock {}
unsafe impl Sync for Clock {}

impl Clock {
    /// # Safety
    /// As for service(). The clock does not outlive the instance.
    pub unsafe fn of(host: *const Host) -> Result<Clock, Fault> {
        Ok(Clock { host, table: service(host, "davit.clock/1")? })
    }
    pub fn unix_ms(&self) -> i64 {
        unsafe { ((*self.table).unix_ns)(self.host) / 1_000_000 }
    }
    pub fn monotonic_ns(&self) -> i64 {
        unsafe { ((*self.table).monotonic_ns)(self.host) }
    }
}

/// Who waits for a call or a step.
#[derive(Clone, Copy)]
pub struct Caller(*const Op);

impl Caller {
    /// # Safety
    /// The op is the one that a slot or step was given. The value does not outlive the call.
    pub unsafe fn of(op: *const Op) -> Caller {
        Caller(op)
    }
    pub fn has_given_up(self) -> bool {
        unsafe { ((*self.0).cancelled)(self.0) != 0 }
    }
    /// A fault says why the call is to end.
    pub fn still_waits(self, clock: &Clock) -> Result<(), Fault> {
        if self.has_given_up() {
            return Err(Fault::new(CANCELLED, "the caller has given up"));
        }
        if self.time_left(clock) == Some(Duration::ZERO) {
            return Err(Fault::new(DEADLINE_EXCEEDED, "the deadline has passed"));
        }
        Ok(())
    }
    /// None: for ever.
    pub fn time_left(self, clock: &Clock) -> Option<Duration> {
        match unsafe { (*self.0).deadline_ns } {
            i64::MAX => None,
            deadline => {
                let left = deadline.saturating_sub(clock.monotonic_ns());
                Some(Duration::from_nanos(left.max(0) as u64))
            }
        }
    }
}
