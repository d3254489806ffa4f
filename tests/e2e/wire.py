"""A client in another language: everything here is generated from the protos, or is raw HTTP/2.

The generated modules are made at test time into the build folder. Without grpcio (python.sh) tests are skipped.
"""

import importlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from parts import PATIENCE, REPOSITORY, STAGE

# Its threads would go on between the fork and the exec of the programs that tests start.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
try:
    import grpc
    import h2.config
    import h2.connection
    import h2.events
    import h2.exceptions
    from google.protobuf import json_format, text_format
    MISSING = None
except ImportError as error:
    grpc, MISSING = None, f"{error}: packaging/install-dependencies.sh installs it"

PROTOS = ("ctrl/v1/cluster", "davit/v1/agent", "davit/v1/operator")
TOKEN = "agent-secret-of-the-tests"
SECONDS = 20 * PATIENCE


def generate(instead=None):
    """Runs protoc over our protos and returns the generated modules, in the order of PROTOS. Those that are in the folder
    `instead` are taken from there. A process generates once.
    """
    if MISSING:
        raise unittest.SkipTest(MISSING)
    folder = tempfile.mkdtemp(prefix="python-", dir=STAGE.parent)
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    paths = [f"--proto_path={path}" for path in (instead, REPOSITORY / "proto") if path]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *paths, f"--python_out={folder}",
                    *(f"{p}.proto" for p in PROTOS)], check=True)
    sys.path.insert(0, folder)
    return [importlib.import_module(p.replace("/", ".") + "_pb2") for p in PROTOS]


def methods(modules):
    """What the protos define: Service/Method -> its descriptor."""
    return {f"{service.name}/{method.name}": method for module in modules
            for service in module.DESCRIPTOR.services_by_name.values() for method in service.methods}


def path_of(method):
    return f"/{method.containing_service.full_name}/{method.name}"


def request_of(method, request):
    """The message of a request in text format or in bytes."""
    kind = method.input_type._concrete_class
    return kind.FromString(request) if isinstance(request, bytes) else text_format.Parse(request, kind())


def encoded(method, request):
    """The bytes of a request in text format; bytes stay as they are."""
    return request if isinstance(request, bytes) else request_of(method, request).SerializeToString()


class Answer:
    """How a call ended and what came before."""

    def __init__(self, messages, code, text, trailers=()):
        self.messages, self.code, self.text = messages, code, text
        self.trailers = dict(trailers or ())

    def __str__(self):
        return f"{self.code} {self.text!r} {[shown(m) for m in self.messages]}"


def gathered(call, enough):
    """The answer of a call that was started by a client that is not grpcio's; see Client.call."""
    messages = []
    for message in call:
        messages.append(message)
        if enough(message):
            call.cancel()
            return Answer(messages, "ENOUGH", "")
    return Answer(messages, call.code, call.text, call.trailers)


def shown(message):
    return text_format.MessageToString(message, as_one_line=True, as_utf8=True)


def as_json(message):
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


class Client:
    """One connection; calls are named Service/Method and made of text format, messages or bytes."""

    def __init__(self, target, defined):
        # A connection of its own: grpcio would share one with whoever has the same target.
        self.channel = grpc.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1)])
        self.defined = defined

    def close(self):
        self.channel.close()

    def encode(self, name, request):
        return encoded(self.defined[name], request)

    def start(self, name, request="", metadata=(), seconds=SECONDS, path=None):
        """Starts a call whose answers are iterated over; unary calls have one."""
        method = self.defined[name]
        return self.channel.unary_stream(
            path or path_of(method), request_serializer=None,
            response_deserializer=method.output_type._concrete_class.FromString,
        )(self.encode(name, request), metadata=list(metadata), timeout=seconds)

    def call(self, *arguments, enough=lambda message: False, **options):
        """Makes a call to its end, or until `enough` says of a message that no more is wanted."""
        call = self.start(*arguments, **options)
        messages = []
        try:
            for message in call:
                messages.append(message)
                if enough(message):
                    call.cancel()
                    return Answer(messages, "ENOUGH", "")
        except grpc.RpcError:
            pass
        return Answer(messages, call.code().name, call.details(), call.trailing_metadata())


def agent(region=None, token=TOKEN):
    """The headers of an agent."""
    return [("authorization", f"Bearer {token}"), *([] if region is None else [("x-krane-region", region)])]


class RawClient:
    """HTTP/2 frame by frame, for what a proper client would never send. One call at a time is looked at."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False))
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        try:
            self.socket.sendall(self.h2.data_to_send())
        except ConnectionError:
            pass  # given up by the server: end_of says so

    def open(self, path, headers=(), data=b"", end=True):
        """Starts a call with these bytes as its body; returns the stream's number."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path.encode()),
                                      (b":authority", b"raw"), (b"content-type", b"application/grpc"),
                                      (b"te", b"trailers"), *headers])
        self.h2.send_data(stream, data, end_stream=end)
        self.flush()
        return stream

    def end_of(self, stream):
        """How the call ended: its grpc-status, "reset", or "closed" when the connection was given up."""
        while True:
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                return "closed"
            if not data:
                return "closed"
            try:
                events = self.h2.receive_data(data)
            except h2.exceptions.StreamClosedError:
                # gRPC's library, which may send headers on a stream that it has ended when it gives up a connection.
                return "closed"
            self.flush()  # what HTTP/2 wants acknowledged
            for event in events:
                headers = dict(getattr(event, "headers", None) or ())
                if getattr(event, "stream_id", 0) == stream and b"grpc-status" in headers:
                    return grpc_code(int(headers[b"grpc-status"]))
                if isinstance(event, h2.events.StreamReset) and event.stream_id == stream:
                    return "reset"
                if isinstance(event, h2.events.ConnectionTerminated):
                    return "closed"

    def close(self):
        self.socket.close()


def grpc_code(number):
    return next(c.name for c in grpc.StatusCode if c.value[0] == number)
