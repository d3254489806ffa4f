"""A load balancer as operators have one: of connections, in turn, among the servers whose /readyz answers 200."""

import socket
import threading

from parts import get
from relay import Relay

LOOKS_EVERY = 0.1  # seconds


class Balancer(Relay):
    """`servers`: for each its port and that of its health. `refused`: connections that a ready server did not take."""

    def __init__(self, servers):
        self.servers, self.ready, self.turn, self.refused = servers, [], 0, 0
        self.over = threading.Event()
        super().__init__(None)
        threading.Thread(target=self.look, daemon=True).start()

    def look(self):
        while not self.over.wait(LOOKS_EVERY):
            self.ready = [port for port, health in self.servers if answers(health)]

    def connect(self):
        for _ in self.servers:
            ready = self.ready
            if not ready:
                break
            self.turn += 1
            try:
                return socket.create_connection(("127.0.0.1", ready[self.turn % len(ready)]))
            except OSError:
                self.refused += 1
        raise ConnectionRefusedError("no server is ready")

    def close(self):
        self.over.set()
        super().close()


def answers(port):
    try:
        return get(port, "/readyz", seconds=2)[0] == 200
    except OSError:
        return False
