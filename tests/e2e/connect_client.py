"""The official Connect client for Node (tests/node/client.mjs), looking like the client of wire.py."""

import base64
import itertools
import queue
import time

from google.protobuf import json_format

from node_peer import NodePeer
from wire import SECONDS, as_json, encoded, gathered, path_of, request_of

FIRST_SECONDS = 60  # for Node to start and to read the protos
# Where gRPC spells a code in another way.
GRPC_NAMES = {"CANCELED": "CANCELLED"}


class NodeClient:
    """One process; calls are named Service/Method and made of text format, messages or bytes.

    protocol: connect, grpc or grpc-web; http: "1.1" or "2"; form: proto or json.
    """

    def __init__(self, url, defined, protocol="connect", http="2", form="proto", **more):
        self.defined = defined
        self.how = {"url": url, "protocol": protocol, "http": http, "format": form, **more}
        self.numbers, self.calls = itertools.count(1), {}
        self.peer = NodePeer("client.mjs", heard=self.heard)

    def heard(self, event):
        call = self.calls.get(event.get("id"))
        if call is not None:
            call.events.put(event)

    def close(self):
        self.peer.close()

    def encode(self, name, request):
        return encoded(self.defined[name], request)

    def start(self, name, request="", metadata=(), seconds=SECONDS, path=None):
        """Starts a call whose answers are iterated over; unary calls have one."""
        method = self.defined[name]
        if isinstance(request, bytes) and self.how["format"] == "proto":
            what = {"bytes": base64.b64encode(request).decode()}
        else:
            what = {"message": as_json(request_of(method, request))}
        call = NodeCall(self, next(self.numbers), method.output_type._concrete_class, seconds)
        self.calls[call.id] = call
        self.peer.tell(id=call.id, method=path_of(method)[1:], headers=list(metadata), path=path,
                       timeout_ms=int(seconds * 1000), **what, **self.how)
        return call

    def call(self, *arguments, enough=lambda message: False, **options):
        """Makes a call to its end, or until `enough` says of a message that no more is wanted."""
        return gathered(self.start(*arguments, **options), enough)


class NodeCall:
    """A call under way: an iterator of messages; what it ended with stands in code, text and trailers."""

    def __init__(self, client, number, output, seconds):
        self.client, self.id, self.output, self.seconds = client, number, output, seconds
        self.events = queue.Queue()
        self.code, self.text, self.headers, self.trailers = None, "", [], []

    def __iter__(self):
        return self

    def __next__(self):
        while self.code is None:
            event = self.next_event()
            if "message" in event:
                return json_format.ParseDict(event["message"], self.output())
            self.headers = event.get("headers", self.headers)
            if "error" in event:
                error = event["error"]
                name = error["code"].upper()
                self.ended(GRPC_NAMES.get(name, name), error["message"], error["metadata"])
            elif "end" in event:
                self.ended("OK", "", event["trailers"])
        raise StopIteration

    def next_event(self):
        deadline = time.monotonic() + self.seconds + FIRST_SECONDS
        while time.monotonic() < deadline:
            try:
                return self.events.get(timeout=0.5)
            except queue.Empty:
                self.client.peer.check_runs()
        raise AssertionError(f"call {self.id} has not ended")

    def ended(self, code, text, trailers):
        self.code, self.text, self.trailers = code, text, [tuple(t) for t in trailers]
        del self.client.calls[self.id]

    def cancel(self):
        self.client.peer.tell(id=self.id, do="cancel")

    def hold(self):
        """Reads nothing more, so that flow control stops the server."""
        self.client.peer.tell(id=self.id, do="hold")

    def go(self):
        self.client.peer.tell(id=self.id, do="go")
