"""A relay between agents and their control plane that counts who comes, and breaks off when it is told to."""

import socket
import struct
import threading
import time

from parts import free_port

PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
HEADERS = 1  # type of the frame that begins a call


class Relay:
    """Listens while it exists. `connections` and `calls` are the moments at which each began."""

    def __init__(self, target):
        self.target, self.port = target, free_port()
        self.connections, self.calls = [], []
        self.sockets, self.half_done, self.lock = set(), set(), threading.Lock()
        self.bytes_left = None  # of every connection, downwards; None: no limit
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(time.monotonic())
            try:
                onward = self.connect()
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets |= {client, onward}
            for source, sink, upwards in ((client, onward, True), (onward, client, False)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pump, args=(source, sink, upwards), daemon=True).start()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.target))

    def pump(self, source, sink, upwards):
        frames, left = Frames(), self.bytes_left
        try:
            while data := source.recv(1 << 16):
                if upwards:
                    self.calls += [time.monotonic()] * frames.calls_in(data)
                elif left is not None:
                    data = data[:left]
                    left -= len(data)
                sink.sendall(data)
                if not upwards and left == 0:
                    break
        except OSError:
            pass
        self.end(source, sink)
        with self.lock:
            done = [one for one in (source, sink) if one in self.half_done]
            self.half_done ^= {source, sink}
        for one in done:  # the other direction has ended, too
            one.close()

    def end(self, *sockets):
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            with self.lock:
                self.sockets.discard(one)

    def cut(self):
        with self.lock:
            doomed = list(self.sockets)
        self.end(*doomed)

    def forget(self):
        self.connections, self.calls = [], []

    def close(self):
        self.listener.close()
        self.cut()


class Frames:
    """Counts the calls in what an HTTP/2 client sends."""

    def __init__(self):
        self.waiting, self.skip = b"", PREFACE

    def calls_in(self, data):
        found = 0
        self.waiting += data
        while True:
            skipped = min(self.skip, len(self.waiting))
            self.waiting, self.skip = self.waiting[skipped:], self.skip - skipped
            if self.skip or len(self.waiting) < 9:
                return found
            high, low, kind = struct.unpack(">BHB", self.waiting[:4])
            found += kind == HEADERS
            self.skip = 9 + (high << 16) + low
