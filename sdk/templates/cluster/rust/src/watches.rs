//! Watches: events and ends pass through to the caller. A number stands for each.

use crate::abi::{Error, Str, OK};
use crate::cluster::{Ended, Event, Handle, WatchRequest, Watcher};
use crate::fault::{guard, must_not_panic, understood};
use crate::open::{Number, Ticket};
use crate::{of, Instance};
use std::ffi::c_void;

/// One watch, until its end.
struct Watch {
    number: Number,
    event: Event,
    ended: Ended,
    ctx: *mut c_void,
    ticket: Ticket, // dropped when the caller has heard the end
}

unsafe extern "C" fn event(ctx: *mut c_void, kind: i32, object: Str) {
    let watch = &*ctx.cast::<Watch>();
    (watch.event)(watch.ctx, kind, object)
}

unsafe extern "C" fn ended(ctx: *mut c_void) {
    must_not_panic("davit_cluster_watcher.ended", || {
        let watch = Box::from_raw(ctx.cast::<Watch>());
        watch.ticket.open().remove_watch(watch.number);
        (watch.ended)(watch.ctx);
    })
}

static PASSES_ON: Watcher =
    Watcher { struct_size: std::mem::size_of::<Watcher>() as u32, reserved: 0, event, ended };

impl Instance {
    /// Returns the next cluster's code, whose error is the caller's, too.
    unsafe fn begin_watch(
        &self,
        q: *const WatchRequest,
        credit: u32,
        watch: Watch,
        out: *mut Handle,
        error: *mut Error,
    ) -> i32 {
        let number = watch.number;
        let ctx = Box::into_raw(Box::new(watch)); // `ended` drops it
        let mut inner = std::ptr::null_mut();
        let (next, begin) = (self.next.instance, self.next_table().watch);
        let code = begin(next, q, credit, &PASSES_ON, ctx.cast(), &mut inner, error);
        if code != OK {
            self.open.remove_watch(number);
            drop(Box::from_raw(ctx)); // the watcher is not called
            return code;
        }
        self.open.begun(number, inner);
        *out = number as Handle;
        OK
    }
}

pub unsafe extern "C" fn watch(
    instance: *mut c_void,
    q: *const WatchRequest,
    credit: u32,
    watcher: *const Watcher,
    ctx: *mut c_void,
    out: *mut Handle,
    error: *mut Error,
) -> i32 {
    let mut answer = OK;
    let code = guard(error, || {
        understood("davit_cluster_watch_request", (*q).flags, 0)?;
        let own = of(instance);
        let watch = Watch {
            number: own.open.add_watch(),
            event: (*watcher).event,
            ended: (*watcher).ended,
            ctx,
            ticket: own.open.begin(),
        };
        answer = own.begin_watch(q, credit, watch, out, error);
        Ok(())
    });
    if code == OK {
        answer
    } else {
        code
    }
}

pub unsafe extern "C" fn credit(instance: *mut c_void, handle: Handle, more: u32) {
    must_not_panic("davit_cluster.credit", || {
        let own = of(instance);
        if let Some(inner) = own.open.find(handle as Number) {
            (own.next_table().credit)(own.next.instance, inner, more);
        }
    })
}

pub unsafe extern "C" fn cancel(instance: *mut c_void, handle: Handle) {
    must_not_panic("davit_cluster.cancel", || of(instance).cancel(handle as Number))
}

impl Instance {
    pub unsafe fn cancel(&self, number: Number) {
        if let Some(inner) = self.open.take(number) {
            (self.next_table().cancel)(self.next.instance, inner);
        }
    }
}
