#!/usr/bin/env python3
"""The server under test: what the runner starts for each kind of server that it wants, and ends with SIGTERM.

`server.py --plugin FILE --descriptors FILE --transport grpc|connect`: reads a ServerCompatRequest from stdin, runs
Davit with the suite's service, and answers with where it listens.
"""

import argparse
import re
import shutil
import signal
import struct
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from parts import DAVIT, Process, wait_until  # noqa: E402  (the folder is on the path only now)

TOKEN = "a-token-of-the-conformance-suite"
LISTENING = re.compile(r" listening server=suite address=(?P<host>\S+):(?P<port>\d+)")
# Fields of the suite's server_compat.proto and TLSCreds.
USE_TLS, CLIENT_CERTIFICATE, REQUEST_BYTES_MAX, SERVER_CREDENTIALS = 4, 5, 6, 7
CERTIFICATE, KEY = 1, 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a protobuf message of varints and bytes, by number."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        out[key >> 3] = value
    return out


def encoded(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def text_field(number, value):
    return encoded(number << 3 | 2) + encoded(len(value)) + value


def read_request():
    size, = struct.unpack(">I", sys.stdin.buffer.read(4))
    return fields(sys.stdin.buffer.read(size))


def write_response(host, port, certificate):
    message = text_field(1, host.encode()) + encoded(2 << 3) + encoded(port) + text_field(3, certificate)
    sys.stdout.buffer.write(struct.pack(">I", len(message)) + message)
    sys.stdout.buffer.flush()


def configuration(folder, request, options):
    """Writes the files of a server as the runner wants it; returns the configuration's."""
    def write(name, content):
        path = folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return f'"{path}"'

    listener = ['listen = "127.0.0.1:0"', f'transport = "{options.transport}"']
    if request.get(USE_TLS):
        credentials = fields(request[SERVER_CREDENTIALS])
        listener.append(f"tls_certificate_file = {write('server.crt', credentials[CERTIFICATE])}")
        listener.append(f"tls_key_file = {write('server.key', credentials[KEY])}")
    if request.get(CLIENT_CERTIFICATE):
        listener.append(f"tls_client_ca_file = {write('client.crt', request[CLIENT_CERTIFICATE])}")
    lines = "\n".join(listener)
    return write("server.toml", f"""
[host]
state_dir = "{folder}/state"
plugin_dirs = ["{options.plugin.parent}"]
[rpc.server.suite]
{lines}
[[rpc.server.suite.token]]
name = "suite"
file = {write("token", TOKEN.encode())}
role = "agent"
regions = ["*"]
[plugin.suite]
module = "{options.plugin.stem}"
descriptor_set_file = "{options.descriptors}"
request_bytes_max = {request.get(REQUEST_BYTES_MAX, 0)}
""".encode()).strip('"')


def serve(folder, options):
    request = read_request()
    server = Process("server", [DAVIT, "run", configuration(folder, request, options)], folder).start()
    try:
        def address():
            if not server.alive():
                sys.exit("davit has ended")
            return LISTENING.search(server.text())

        at = wait_until(lambda: f"it listens; {server.tail()}", address, pause=0.02)
        certificate = fields(request[SERVER_CREDENTIALS])[CERTIFICATE] if request.get(USE_TLS) else b""
        write_response(at["host"], int(at["port"]), certificate)
        server.process.wait()
    finally:
        code = server.stop()
        if code != 0:  # nobody looks at ours: run.py looks for this
            Path(tempfile.mkstemp(prefix="fault-")[1]).write_text(f"davit ended with {code}; {server.tail()}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plugin", type=Path, required=True)
    parser.add_argument("--descriptors", type=Path, required=True)
    parser.add_argument("--transport", choices=("grpc", "connect"), required=True)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder = Path(tempfile.mkdtemp(prefix="davit-suite-"))
    try:
        serve(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
