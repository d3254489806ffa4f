"""A proxy in front of a real API server that fails when it is told to.

It ends TLS with the server's own certificate, so that whoever uses it needs a token: its kubeconfig is the rig's with
another address. `rule` is asked about every call and may answer with one of the faults below; `answered` is told of
every call whose answer is there but has not gone out, `sent` of every one whose answer has gone out (of a watch: its
head). All three are called on the threads of the connections, several at a time.
"""

import http.client
import http.server
import itertools
import json
import socket
import ssl
import threading
import time
from urllib.parse import parse_qs, urlsplit

from parts import free_port

MUTATIONS = ("POST", "PUT", "PATCH", "DELETE")
REASONS = {403: "Forbidden", 409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError",
           503: "ServiceUnavailable"}


class Call:
    """One request as it comes in; `number` counts from 1."""

    def __init__(self, number, method, target):
        self.number, self.method = number, method
        self.path, query = urlsplit(target)[2:4]
        self.query = {k: v[0] for k, v in parse_qs(query).items()}
        self.watch = self.query.get("watch") in ("1", "true")
        self.mutation = method in MUTATIONS
        self.at = time.monotonic()
        self.status, self.body = None, b""

    @property
    def lists(self):
        """A watch that begins with all objects. Ours list in no other way."""
        return self.watch and self.query.get("sendInitialEvents") == "true"

    def __str__(self):
        return f"{self.number}. {'WATCH' if self.watch else self.method} {self.path} -> {self.status}"


class Refuse:
    """Answers with this status instead of the API server."""

    def __init__(self, code, message="a fault of the tests", retry_after=None):
        self.code, self.retry_after = code, retry_after
        self.body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                                "reason": REASONS[code], "message": message}).encode()


class Slow:
    """Hands the call on so much later."""

    def __init__(self, seconds):
        self.seconds = seconds


class Cut:
    """Closes the connection instead of the call (`late`: instead of its answer)."""

    def __init__(self, late=False):
        self.late = late


class Lines:
    """Of a watch: `each(line)` returns what becomes of a line; None ends the connection."""

    def __init__(self, each):
        self.each = each


class Ended(Exception):
    """A fault has ended a connection."""


class ApiProxy:
    def __init__(self, kubernetes, folder):
        self.target = urlsplit(kubernetes.url)
        self.upward = kubernetes.context
        self.rule = self.answered = self.sent = lambda call: None
        self.port = free_port()
        self.downward = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.downward.load_cert_chain(kubernetes.folder / "server.crt", kubernetes.folder / "server.key")
        self.kubeconfig = folder / "proxy.kubeconfig"
        text = (kubernetes.folder / "kubeconfig-token").read_text(encoding="utf-8")
        self.kubeconfig.write_text(text.replace(kubernetes.url, f"https://127.0.0.1:{self.port}"), encoding="utf-8")
        self.numbers = itertools.count(1)
        self.calls, self.sockets, self.watches = [], set(), set()
        self.lock = threading.Lock()
        self.server, self.open = None, False
        self.up()

    def up(self):
        self.open = True
        self.server = Server(("127.0.0.1", self.port), type("Bound", (Handler,), {"proxy": self}))
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def down(self):
        """Nobody listens any more, and every connection is closed."""
        self.open = False
        self.server.shutdown()
        self.server.server_close()
        self.cut(self.sockets)

    def cut_watches(self):
        self.cut(self.watches)

    def cut(self, sockets):
        with self.lock:
            doomed = list(sockets)
        for one in doomed:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def reset(self):
        self.rule = self.answered = self.sent = lambda call: None

    def new_call(self, method, target, body=b""):
        with self.lock:
            call = Call(next(self.numbers), method, target)
            call.body = body
            self.calls.append(call)
        return call

    def begin_counting(self):
        with self.lock:
            self.calls, self.numbers = [], itertools.count(1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Connections that end in the middle are what this is for."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy = None

    def setup(self):
        plain = self.request
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = self.proxy.downward.wrap_socket(plain, server_side=True)
        super().setup()
        self.onward = None
        with self.proxy.lock:
            self.proxy.sockets.add(self.request)

    def finish(self):
        with self.proxy.lock:
            self.proxy.sockets.discard(self.request)
            self.proxy.watches.discard(self.request)
        if self.onward is not None:
            self.onward.close()
        try:
            super().finish()
        finally:
            self.request.close()

    def log_message(self, *_):
        """The calls are kept instead."""

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.proxy.open:
            self.close_connection = True
            return
        call = self.proxy.new_call(self.command, self.path, body)
        fault = self.proxy.rule(call)
        try:
            if isinstance(fault, Slow):
                time.sleep(fault.seconds)
            if isinstance(fault, Refuse):
                self.refuse(call, fault)
            elif isinstance(fault, Cut) and not fault.late:
                raise Ended
            else:
                self.hand_on(call, body, fault)
        except (Ended, OSError, http.client.HTTPException):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    def refuse(self, call, fault):
        call.status = fault.code
        self.proxy.answered(call)
        extra = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        self.answer(fault.code, {"Content-Type": "application/json", **extra}, fault.body)
        self.proxy.sent(call)

    def answer(self, code, headers, body):
        self.send_response_only(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def ask(self, body):
        """The API server's answer, over a connection that goes with this one."""
        headers = {k: v for k, v in self.headers.items() if k.lower() not in (
            "host", "connection", "content-length", "accept-encoding")}
        if self.onward is None:
            target = self.proxy.target
            self.onward = http.client.HTTPSConnection(target.hostname, target.port, timeout=60,
                                                      context=self.proxy.upward)
            self.onward.connect()
            self.onward.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.onward.request(self.command, self.path, body or None, headers)
        return self.onward.getresponse()

    def hand_on(self, call, body, fault):
        answer = self.ask(body)
        call.status = answer.status
        if call.watch and answer.status == 200:
            return self.stream(call, answer, fault)
        content = answer.read()
        self.proxy.answered(call)
        if isinstance(fault, Cut):
            raise Ended
        kept = {k: v for k, v in answer.getheaders() if k.lower() not in (
            "connection", "content-length", "transfer-encoding", "date")}
        self.answer(answer.status, kept, content)
        self.proxy.sent(call)

    def stream(self, call, answer, fault):
        with self.proxy.lock:
            self.proxy.watches.add(self.request)
        self.onward.sock.settimeout(None)
        self.proxy.answered(call)
        self.send_response_only(200)
        self.send_header("Content-Type", answer.getheader("Content-Type"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        self.proxy.sent(call)
        each = fault.each if isinstance(fault, Lines) else bytes
        for line in answer:
            line = each(line)
            if line is None:
                raise Ended
            if line:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        with self.proxy.lock:
            self.proxy.watches.discard(self.request)
        self.onward.close()
        self.onward = None
