"""A proxy that passes connections on to a server as they are, TLS included. Others build on it: they look at what
passes, or break it. It needs nothing else of the tests.
"""

import socket
import threading


class Passing:
    """One connection. `forward_up` and `forward_down` take what comes; false: the connection ends there."""

    # Nothing passes any more, and nobody is told: whoever closes one side does not end the other.
    silent = False

    def forward_up(self, data, sink):
        sink.sendall(data)
        return True

    forward_down = forward_up


class TcpProxy:
    """Listens while it exists."""

    def __init__(self, host, target):
        self.host, self.target = host, target
        # Of sockets: those that pass something, and those of which one direction has ended.
        self.sockets, self.half_done, self.lock = set(), set(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    # --- what others change

    def admits(self):
        """A client has come. False: it is sent away."""
        return True

    def connect(self):
        return socket.create_connection((self.host, int(self.target)))

    def passing(self, _client, _onward):
        return Passing()

    # --- what they have

    def kubeconfig_through(self, kubeconfig, folder):
        """A copy that leads here; `kubeconfig` names the server."""
        out = folder / f"through-{self.port}.kubeconfig"
        out.write_text(kubeconfig.read_text(encoding="utf-8").replace(
            f"{self.host}:{self.target}", f"127.0.0.1:{self.port}"), encoding="utf-8")
        return out

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                if not self.admits():
                    raise ConnectionRefusedError
                onward = self.connect()
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets |= {client, onward}
            passing = self.passing(client, onward)
            for source, sink, forward in ((client, onward, passing.forward_up), (onward, client, passing.forward_down)):
                try:
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                except OSError:
                    pass  # it has ended
                threading.Thread(target=self.pump, args=(passing, forward, source, sink), daemon=True).start()

    def pump(self, passing, forward, source, sink):
        try:
            while data := source.recv(1 << 16):
                if not forward(data, sink):
                    break
        except OSError:
            pass
        if not passing.silent:
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

    def close(self):
        self.listener.close()
        self.cut()
