//! The calls that are open: each waits for a thread of the instance's pool, works there, and is
//! answered once. A call ends early when its caller gives up or when the instance stops. Stands
//! between the slots of the role and the work.

use crate::abi::{Error, Exec, Host, Op, Str, DEADLINE_EXCEEDED, OK, UNAVAILABLE};
use crate::actuator::{ActuatorCall, ActuatorEvent, ActuatorResult, Done, Tell};
use crate::fault::{caught, understood, Fault};
use crate::host::{service, Caller, Clock};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// The answer to a call that has not failed.
#[derive(Default)]
pub struct Outcome {
    pub requeue_after_ms: i64,
    pub status_patch: String,
    pub progress: &'static str,
}

#[derive(Default)]
struct State {
    open: usize,
    stopped: bool,
}

pub struct Calls {
    host: *const Host,
    exec: *const Exec,
    clock: Clock,
    state: Mutex<State>,
    /// A caller gave up, the instance stops, or a call has ended.
    woken: Condvar,
}
// The host's services may be called on any thread.
unsafe impl Send for Calls {}
unsafe impl Sync for Calls {}

impl Calls {
    /// # Safety
    /// The host lives as long as the instance.
    pub unsafe fn new(host: *const Host) -> Result<Calls, Fault> {
        Ok(Calls {
            host,
            exec: service(host, "davit.exec/1")?,
            clock: Clock::of(host)?,
            state: Mutex::default(),
            woken: Condvar::new(),
        })
    }
    pub fn unix_ms(&self) -> i64 {
        self.clock.unix_ms()
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// May return early.
    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        let time = time.min(HOUR); // who waits longer asks again
        self.woken.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
    /// Why a call is given up.
    fn over(&self, caller: Caller) -> Result<(), Fault> {
        caller.still_waits(&self.clock)?;
        if self.lock().stopped {
            return Err(Fault::new(UNAVAILABLE, "the server is shutting down"));
        }
        Ok(())
    }
    fn begin(&self) {
        self.lock().open += 1;
    }
    fn end(&self) {
        self.lock().open -= 1;
        self.woken.notify_all();
    }

    /// Answers the call with what `work` returns on a thread of the pool.
    ///
    /// # Safety
    /// The arguments are those of a slot of the role.
    pub unsafe fn serve<W>(
        self: &Arc<Calls>,
        op: *const Op,
        asked: *const ActuatorCall,
        reply: Reply,
        work: W,
    ) where
        W: FnOnce(&Call) -> Result<Outcome, Fault> + 'static,
    {
        self.begin();
        let made = caught(|| {
            understood("davit_actuator_call", (*asked).flags, 0)?;
            self.over(Caller::of(op))?;
            let call = Call::of(self, op, &*asked);
            Ok(Box::into_raw(Box::new(Task { call, reply, work: Box::new(work) })))
        });
        match made {
            Ok(task) => ((*self.exec).blocking)(self.host, Str::of(""), run, task.cast()),
            Err(why) => {
                reply.give(Err(why));
                self.end();
            }
        }
    }

    /// Ends all calls, and waits for them within op's deadline.
    ///
    /// # Safety
    /// The op is that of the step.
    pub unsafe fn stop(&self, op: *const Op) -> Result<(), Fault> {
        let mut state = self.lock();
        state.stopped = true;
        self.woken.notify_all();
        while state.open > 0 {
            let left = Caller::of(op).time_left(&self.clock).unwrap_or(HOUR);
            if left.is_zero() {
                let message = format!("{} calls have not ended", state.open);
                return Err(Fault::new(DEADLINE_EXCEEDED, message));
            }
            state = self.wait(state, left);
        }
        Ok(())
    }
}

/// Whom the answer goes to.
#[derive(Clone, Copy)]
pub struct Reply {
    pub done: Done,
    pub ctx: *mut c_void,
}

impl Reply {
    unsafe fn give(self, answer: Result<Outcome, Fault>) {
        let mut error = Error { code: OK, retry_after_ms: 0, place: [0; 256], message: [0; 768] };
        let (outcome, failed) = match answer {
            Ok(outcome) => (outcome, false),
            Err(why) => {
                why.write(&mut error);
                (Outcome::default(), true)
            }
        };
        let result = ActuatorResult {
            struct_size: std::mem::size_of::<ActuatorResult>() as u32,
            reserved: 0,
            error: if failed { &error } else { std::ptr::null() },
            requeue_after_ms: outcome.requeue_after_ms,
            status_patch: Str::lent(&outcome.status_patch),
            error_reason: Str::of(""),
            progress: Str::of(outcome.progress),
        };
        (self.done)(self.ctx, &result);
    }
}

/// What is done for a call, on a thread of the pool.
type Work = dyn FnOnce(&Call) -> Result<Outcome, Fault>;

struct Task {
    call: Call,
    reply: Reply,
    work: Box<Work>,
}

/// On a thread of the pool.
unsafe extern "C" fn run(arg: *mut c_void) {
    let Task { call, reply, work } = *Box::from_raw(arg.cast::<Task>());
    let answer = caught(|| {
        call.calls.over(call.caller())?;
        work(&call)
    });
    reply.give(answer);
    call.calls.end();
}

/// One call. The texts are copies.
pub struct Call {
    pub ns: String,
    pub name: String,
    pub uid: String,
    pub cluster: Vec<u8>,
    calls: Arc<Calls>,
    op: *const Op, // lives until the answer
    event: Option<Tell>,
    object: *mut c_void,
}

impl Call {
    unsafe fn of(calls: &Arc<Calls>, op: *const Op, asked: &ActuatorCall) -> Call {
        Call {
            ns: asked.ns.text(),
            name: asked.name.text(),
            uid: asked.uid.text(),
            cluster: asked.cluster.bytes().to_vec(),
            calls: Arc::clone(calls),
            op,
            event: asked.event,
            object: asked.object,
        }
    }
    fn caller(&self) -> Caller {
        unsafe { Caller::of(self.op) }
    }
    /// Waits as for a provider that takes long. A fault says why the call is over.
    pub fn pause(&self, milliseconds: i64) -> Result<(), Fault> {
        let calls = &*self.calls;
        let watch = Watch::new(self.op, calls);
        let until =
            calls.clock.monotonic_ns().saturating_add(milliseconds.saturating_mul(1_000_000));
        let end = until.min(unsafe { (*self.op).deadline_ns });
        let mut state = calls.lock();
        while !state.stopped && !self.caller().has_given_up() {
            let left = end.saturating_sub(calls.clock.monotonic_ns());
            if left <= 0 {
                break;
            }
            state = calls.wait(state, Duration::from_nanos(left as u64));
        }
        drop(state); // before the watch, whose function takes the lock
        drop(watch);
        calls.over(self.caller())
    }
    /// An event of Kubernetes at the Cluster, of type Normal.
    pub fn tell(&self, reason: &str, message: &str) {
        if let Some(event) = self.event {
            let told = ActuatorEvent {
                struct_size: std::mem::size_of::<ActuatorEvent>() as u32,
                warning: 0,
                reason: Str::lent(reason),
                message: Str::lent(message),
            };
            unsafe { event(self.object, &told) };
        }
    }
}

/// Somebody who ends the call wakes who waits in it.
struct Watch {
    op: *const Op,
    watch: *mut c_void,
}

impl Watch {
    fn new(op: *const Op, calls: &Calls) -> Watch {
        let ctx = calls as *const Calls as *mut c_void;
        Watch { op, watch: unsafe { ((*op).on_cancel)(op, wake, ctx) } }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        unsafe { ((*self.op).off_cancel)(self.op, self.watch) };
    }
}

unsafe extern "C" fn wake(ctx: *mut c_void) {
    let calls = &*ctx.cast::<Calls>();
    let _state = calls.lock(); // who has looked already waits now
    calls.woken.notify_all();
}
