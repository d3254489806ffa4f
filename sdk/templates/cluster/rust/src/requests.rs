//! Requests: what passes through to the next cluster and back, and what the log says of a write.

use crate::abi::{Host, Log, Op, Pair, Str, LOG_INFO};
use crate::cluster::{Done, Request, Response, VERB_GET};
use crate::fault::must_not_panic;
use crate::open::Ticket;
use crate::{of, Instance};
use std::ffi::c_void;

/// What the log says of a write: the request is gone when the answer comes.
struct Write {
    host: *const Host,
    log: *const Log,
    verb: String,
    object: String, // "configmaps apps/web"
}

impl Write {
    unsafe fn new(by: &Instance, q: &Request) -> Write {
        let (resource, ns, name) = (q.resource.resource.text(), q.ns.text(), q.name.text());
        let object = format!("{resource} {ns}/{name}");
        Write { host: by.host, log: by.log, verb: q.verb.text(), object }
    }

    unsafe fn write(&self, http_status: i32) {
        if ((*self.log).enabled)(self.host, LOG_INFO) == 0 {
            return;
        }
        let status = http_status.to_string();
        let field = |key, value: &str| Pair { key: Str::of(key), value: Str::lent(value) };
        let fields = [
            field("verb", &self.verb),
            field("object", &self.object),
            field("http_status", &status),
        ];
        let message = Str::of("a write");
        ((*self.log).write)(self.host, LOG_INFO, message, fields.as_ptr(), fields.len());
    }
}

/// One request, until its answer.
struct Call {
    write: Option<Write>,
    done: Done,
    ctx: *mut c_void,
    _open: Ticket, // dropped when the caller has heard the answer
}

impl Instance {
    /// The argument of `answered`.
    fn begin(&self, write: Option<Write>, done: Done, ctx: *mut c_void) -> *mut c_void {
        let call = Call { write, done, ctx, _open: self.open.begin() };
        Box::into_raw(Box::new(call)).cast()
    }
}

/// The next cluster's answer.
unsafe extern "C" fn answered(ctx: *mut c_void, response: *const Response) {
    must_not_panic("the answer to a request of davit_cluster", || {
        let call = Box::from_raw(ctx.cast::<Call>());
        if let Some(write) = &call.write {
            write.write((*response).http_status);
        }
        (call.done)(call.ctx, response);
    })
}

/// The op lives until the caller has its answer, so the next cluster may have it, too.
pub unsafe extern "C" fn request(
    instance: *mut c_void,
    op: *const Op,
    q: *const Request,
    done: Done,
    ctx: *mut c_void,
) {
    must_not_panic("davit_cluster.request", || {
        let own = of(instance);
        let reads = (*q).verb.bytes() == VERB_GET;
        let write = if reads { None } else { Some(Write::new(own, &*q)) };
        let call = own.begin(write, done, ctx);
        (own.next_table().request)(own.next.instance, op, q, answered, call)
    })
}

pub unsafe extern "C" fn discover(
    instance: *mut c_void,
    op: *const Op,
    group: Str,
    version: Str,
    kind: Str,
    done: Done,
    ctx: *mut c_void,
) {
    must_not_panic("davit_cluster.discover", || {
        let own = of(instance);
        let (next, call) = (own.next.instance, own.begin(None, done, ctx));
        (own.next_table().discover)(next, op, group, version, kind, answered, call)
    })
}

pub unsafe extern "C" fn identity(
    instance: *mut c_void,
    op: *const Op,
    done: Done,
    ctx: *mut c_void,
) {
    must_not_panic("davit_cluster.identity", || {
        let own = of(instance);
        let call = own.begin(None, done, ctx);
        (own.next_table().identity)(own.next.instance, op, answered, call)
    })
}
