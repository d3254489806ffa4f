"""A relay between agents and their control plane that counts who comes, and breaks off when it is told to."""

import struct
import time

from tcp_proxy import Passing, TcpProxy

PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
HEADERS = 1  # type of the frame that begins a call


class Relay(TcpProxy):
    """Listens while it exists. `connections` and `calls` are the moments at which each began."""

    def __init__(self, target):
        self.connections, self.calls = [], []
        self.bytes_left = None  # of every connection, downwards; None: no limit
        super().__init__("127.0.0.1", target)

    def admits(self):
        self.connections.append(time.monotonic())
        return True

    def passing(self, _client, _onward):
        return Counted(self)

    def forget(self):
        self.connections, self.calls = [], []


class Counted(Passing):
    def __init__(self, relay):
        self.relay, self.frames, self.left = relay, Frames(), relay.bytes_left

    def forward_up(self, data, sink):
        found = self.frames.calls_in(data)
        self.relay.calls.extend([time.monotonic()] * found)  # in one step: `forget` is called on another thread
        return super().forward_up(data, sink)

    def forward_down(self, data, sink):
        if self.left is None:
            return super().forward_down(data, sink)
        data = data[:self.left]
        self.left -= len(data)
        sink.sendall(data)
        return self.left > 0


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
