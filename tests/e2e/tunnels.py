"""Proxies between an agent and an API server: HTTP's CONNECT and SOCKS 5, on one port."""

import socket
import socketserver
import struct
import threading


class Tunnel(socketserver.BaseRequestHandler):
    """One connection. It is SOCKS when its first byte is 5."""

    def handle(self):
        first = self.request.recv(1, socket.MSG_PEEK)
        target = self.socks() if first == b"\x05" else self.connect()
        if target is None:
            return
        self.server.targets.append(target)
        upward = socket.create_connection(self.server.away or target)
        self.request.sendall(self.reply)
        back = threading.Thread(target=self.pour, args=(upward, self.request), daemon=True)
        back.start()
        self.pour(self.request, upward)
        back.join()
        upward.close()

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.request.recv(count - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    def connect(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.exactly(1)
        method, place, _ = head.split(b"\r\n")[0].decode().split(" ")
        if method != "CONNECT":
            return None
        self.reply = b"HTTP/1.1 200 Connection established\r\n\r\n"
        host, _, port = place.rpartition(":")
        return "CONNECT", host, int(port)

    def socks(self):
        _, methods = self.exactly(2)
        self.exactly(methods)
        self.request.sendall(b"\x05\x00")
        kind = self.exactly(4)[3]
        host = socket.inet_ntoa(self.exactly(4)) if kind == 1 else self.exactly(self.exactly(1)[0]).decode()
        self.reply = b"\x05\x00\x00\x01" + 6 * b"\x00"
        return "SOCKS", host, struct.unpack(">H", self.exactly(2))[0]

    def pour(self, source, into):
        try:
            while data := source.recv(65536):
                into.sendall(data)
        except OSError:
            pass
        for one in (source, into):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Tunnels(socketserver.ThreadingTCPServer):
    """`targets`: (kind, host, port) of each connection. All of them go to `away`, whatever they name."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, away):
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.targets, self.away = [], away
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()
