"""grpcurl (tests/grpcurl) as a client: looks like the client of wire.py, and each call is a process of its own."""

import functools
import json
import os
import subprocess
import tempfile
import unittest

from google.protobuf import json_format

from parts import PATIENCE, REPOSITORY, die_with_parent
from requests_case import HERE
from wire import PROTOS, SECONDS, agent, encoded, gathered, grpc_code, path_of, request_of

CODES_FROM = 64  # the exit code of a call that ended with code 0; below are grpcurl's own troubles
OUR_PROTOS = ("-import-path", f"{REPOSITORY}/proto", *(o for p in PROTOS for o in ("-proto", f"{p}.proto")))


@functools.cache
def program():
    """Where it is, built when it has to be."""
    built = subprocess.run([REPOSITORY / "tests/grpcurl/build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode == 0:
        return built.stdout.splitlines()[-1] + "/grpcurl"
    why = "grpcurl cannot be built here: what is missing stands above"
    raise AssertionError(why) if os.environ.get("DAVIT_NO_SKIPS") else unittest.SkipTest(why)


def arguments(target, metadata, *options, seconds=SECONDS):
    """The command line of what is asked of a server as host:port, with these headers."""
    headers = (o for name, value in metadata for o in ("-H", f"{name}: {value}"))
    return [program(), "-plaintext", "-format-error", "-connect-timeout", str(SECONDS), "-max-time", str(seconds),
            *headers, *options, target]


class GrpcurlClient:
    """Calls are named Service/Method and made of text format, messages or bytes. What is asked and answered is JSON on
    grpcurl's side. `schema`: its options that say where the protos are; none: it asks the server.
    """

    def __init__(self, target, defined, schema=OUR_PROTOS):
        self.target, self.defined, self.schema = target, defined, schema
        self.calls = []

    def close(self):
        for call in self.calls:
            call.cancel()

    def encode(self, name, request):
        return encoded(self.defined[name], request)

    def start(self, name, request="", metadata=(), seconds=SECONDS):
        """Starts a call whose answers are iterated over; unary calls have one."""
        method = self.defined[name]
        data = json_format.MessageToJson(request_of(method, request), indent=None)
        call = GrpcurlCall([*arguments(self.target, metadata, *self.schema, "-d", data, seconds=seconds),
                            path_of(method)[1:]], method.output_type._concrete_class)
        self.calls = [c for c in self.calls if c.process.poll() is None] + [call]
        return call

    def call(self, *arguments, enough=lambda message: False, **options):
        """Makes a call to its end, or until `enough` says of a message that no more is wanted."""
        return gathered(self.start(*arguments, **options), enough)


class GrpcurlCall:
    """A call under way: an iterator of messages; what it ended with stands in code and text."""

    def __init__(self, argv, output):
        self.output, self.cancelled = output, False
        self.code, self.text, self.trailers = None, "", []
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                        encoding="utf-8", preexec_fn=die_with_parent)

    def __iter__(self):
        return self

    def __next__(self):
        lines = []
        for line in self.process.stdout if self.code is None else ():
            lines.append(line)
            if line in ("{}\n", "}\n"):  # what is within is indented
                return json_format.Parse("".join(lines), self.output())
        if self.code is None:
            self.ended("".join(lines))
        raise StopIteration

    def ended(self, rest):
        code = self.process.wait()
        self.process.stdout.close()
        with self.errors:
            self.errors.seek(0)
            errors = self.errors.read()
        if self.cancelled:
            self.code = "CANCELLED"
        elif code == 0:
            self.code = "OK"
        elif code > CODES_FROM:
            self.code, self.text = grpc_code(code - CODES_FROM), json.loads(errors).get("message", "")
        if self.code is None or rest:
            raise AssertionError(f"grpcurl ended with {code}: {rest}{errors}")

    def cancel(self):
        """Ends the process, and with it the connection."""
        if self.code is None and not self.cancelled:
            self.cancelled = True
            self.process.kill()
            for _ in self.process.stdout:
                pass
            self.ended("")


class ByGrpcurl:
    """Makes it the client of a RequestCase."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program()

    def target(self):
        return f"127.0.0.1:{self.world.port}"

    def connect(self):
        return GrpcurlClient(self.target(), self.defined)

    def ask(self, *verb, metadata=None):
        """Its own verbs, which go by reflection: (succeeded, what it says)."""
        command = [*arguments(self.target(), agent(HERE) if metadata is None else metadata), *verb]
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=60 * PATIENCE)
        return done.returncode == 0, done.stdout + done.stderr
