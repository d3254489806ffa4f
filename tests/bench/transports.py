"""Connect beside gRPC: the same server with the one or the other listener, the same raw client (http2-bench)."""

import time
from statistics import median

from fleet import open_streams, seeded  # beside this file
from processes import processor_seconds
from server import ORIGINAL_BOOTSTRAP_RECORDS_S, Server

# The transport of the listener, and the framing that the client speaks to it.
WAYS = {"Connect": ("connect", "connect"), "gRPC": ("grpc", "grpc"), "gRPC on a Connect listener": ("connect", "grpc")}


def drained(bench, parts, count, ways):
    """Bootstraps of `count` records through one stream, by way: (transport of the listener, framing, wire). Gives, by way,
    records a second and the server's processor time."""
    before = seeded(bench, parts, count)
    rates, spent = {way: [] for way in ways}, {way: [] for way in ways}
    for _ in range(1 if bench.short else 9):
        for way, (transport, framing, wire) in ways.items():
            server = Server(bench, parts, store=before.store, transport=transport)
            try:
                begin = processor_seconds(server.pid)
                found = bench.client("http2-bench", "drain", framing, wire, server.address, server.token, "r-0", count)
                spent[way].append(processor_seconds(server.pid) - begin)
                rates[way].append(found["records"] / found["seconds"])
            finally:
                server.close()
    before.world.close()
    return rates, spent


def what_was_spent(rates, spent):
    return "records and the server's processor time: " + ", ".join(
        f"{way} {median(rates[way]):.0f}/s, {median(spent[way]):.2f} s" for way in rates)


def transport_stream(bench, parts):
    """A bootstrap of many records through one stream."""
    count = 20_000 if bench.short else 100_000
    rates, spent = drained(bench, parts, count, {way: (*ends, "davit.v1") for way, ends in WAYS.items()})
    bench.line(f"bootstrap of {count} records of 1 KB over Connect, records/s", "gRPC, same client",
               [a / b for a, b in zip(rates["Connect"], rates["gRPC"])], lambda r: r >= 0.8, ">= 0.8",
               what_was_spent(rates, spent))


def ctrl_stream(bench, parts):
    """The same bootstrap over the original's wire, where each record is a message of its own."""
    count = 20_000 if bench.short else 100_000
    rates, spent = drained(bench, parts, count, {wire: ("connect", "connect", wire) for wire in ("ctrl.v1", "davit.v1")})
    times = median(rates["ctrl.v1"]) / ORIGINAL_BOOTSTRAP_RECORDS_S
    bench.line(f"bootstrap of {count} records of 1 KB over ctrl.v1, records/s", "davit.v1, same listener and client",
               [a / b for a, b in zip(rates["ctrl.v1"], rates["davit.v1"])], lambda r: r >= 0.5, ">= 0.5",
               what_was_spent(rates, spent) +
               f"; the original's {ORIGINAL_BOOTSTRAP_RECORDS_S}/s {times:.1f} times")


def transport_memory(bench, parts):
    """Streams that wait."""
    streams, connections = (2000, 400) if bench.short else (10_000, 2_000)
    found = {way: [] for way in WAYS}
    for _ in range(1 if bench.short else 3):
        for way, (transport, framing) in WAYS.items():
            server = Server(bench, parts, transport=transport)
            try:
                command = [bench.build / "tests/bench/http2-bench", "idle", framing, server.wire, server.address,
                           server.token, streams, connections, 100]
                client, each = open_streams(command, streams, server.pid)
                time.sleep(2)
                found[way].append(each())
                client.communicate("")
            finally:
                server.close()
    bench.line(f"memory of each of {streams} idle streams over Connect", "gRPC's, same client",
               [a / b for a, b in zip(found["Connect"], found["gRPC"])], lambda r: r <= 1.2, "<= 1.2",
               ", ".join(f"{way} {median(found[way]):.1f} KiB" for way in WAYS))


MEASURES = (transport_stream, ctrl_stream, transport_memory)
