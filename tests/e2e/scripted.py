"""A control plane that says what a test tells it to, over davit.v1: records that our own server would never send."""

import collections
import threading
from concurrent import futures

import wire

INCARNATION = 1


class ControlPlane:
    """Streams the records of each kind as a snapshot and what comes later as changes; keeps what agents report. It speaks
    the protos in the folder `protos`, by default ours, and says what `makes` makes of each message.
    """

    def __init__(self, protos=None, makes=lambda message: message):
        self.ctrl, self.pb, _ = wire.generate(protos)
        self.changed = threading.Condition()
        self.version, self.records = 0, []
        self.subscribed = collections.Counter()  # how often, by kind
        self.statuses, self.issues, self.closing = {}, {}, False
        self.server = wire.grpc.server(futures.ThreadPoolExecutor(16))
        handlers = {}
        for method in wire.methods([self.pb]).values():
            make = wire.grpc.unary_stream_rpc_method_handler if method.server_streaming else \
                wire.grpc.unary_unary_rpc_method_handler
            handlers[method.name] = make(getattr(self, method.name.lower()),
                                         method.input_type._concrete_class.FromString,
                                         lambda message: makes(message).SerializeToString())
        service = self.pb.DESCRIPTOR.services_by_name["AgentService"].full_name
        self.server.add_generic_rpc_handlers((wire.grpc.method_handlers_generic_handler(service, handlers),))
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self.server.stop(0).wait()

    def say(self, kind, identity, namespace, name, **change):
        """One more record: apply=bytes, delete=True or hold="why"."""
        with self.changed:
            self.version += 1
            record = self.pb.Record(id=identity, namespace=namespace, name=name, version=self.version, **change)
            self.records.append((kind, record))
            self.changed.notify_all()
        return self.version

    def send(self, frame):
        """To all streams of the frame's kind, as it is. With an end they end, too."""
        with self.changed:
            self.records.append((frame.kind, frame))
            self.changed.notify_all()

    # --- the service ---------------------------------------------------------------------------------------------

    def watch(self, request, context):
        kinds = [s.kind for s in request.subscriptions]
        context.add_callback(self.wake)
        with self.changed:
            said, at = len(self.records), self.pb.Cursor(incarnation=INCARNATION, version=self.version)
            last = {(kind, r.id): r for kind, r in self.records if isinstance(r, self.pb.Record)}
            self.subscribed.update(kinds)
        for kind in kinds:
            live = [r for (of, _), r in last.items() if of == kind and not r.delete]
            yield self.pb.Frame(kind=kind, bookmark=self.pb.Bookmark(type="TYPE_BEGIN_SNAPSHOT", at=at, history=[at]))
            yield self.pb.Frame(kind=kind, records=live, bookmark=self.pb.Bookmark(
                type="TYPE_SNAPSHOT_END", at=at, live_count=len(live)))
        while context.is_active():
            with self.changed:
                self.changed.wait_for(lambda: len(self.records) > said or self.closing or not context.is_active())
                if self.closing:
                    return
                more, said = self.records[said:], len(self.records)
            for kind, said_now in more:
                if kind not in kinds:
                    continue
                if isinstance(said_now, self.pb.Record):
                    yield self.pb.Frame(kind=kind, records=[said_now])
                else:
                    yield said_now
                    if said_now.HasField("end"):
                        return

    def wake(self):
        with self.changed:
            self.changed.notify_all()

    def get(self, request, _):
        with self.changed:
            found = [r for kind, r in self.records if kind == request.kind and r.id == request.id]
            at = self.pb.Cursor(incarnation=INCARNATION, version=self.version)
        return self.pb.GetResponse(record=found[-1] if found else None, at=at)

    def report(self, request, _):
        with self.changed:
            self.statuses.update({(s.kind, s.id): s for s in request.statuses})
        return self.pb.ReportResponse()

    def progress(self, request, _):
        with self.changed:
            self.issues = {(i.kind, i.id): i for i in request.issues}
        return self.pb.ProgressResponse()
