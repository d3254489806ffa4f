"""Krane agents (tests/node/krane_agent.mjs) on a Connect listener: what they cost the server, beside the mirror.

Processor time is the server's and its database's. Storage queries are the reads by the server's own count and the point
queries that the agents made, of which each is one. Reports are writes.
"""

import time
from contextlib import contextmanager
from typing import NamedTuple

from fleet import fault_of_polls  # beside this file
from server import ORIGINAL_BOOTSTRAP_RECORDS_S, Server

STREAMS_EACH = 3
THIRD = 1 / 3
RECORD_BYTES = 1024
CHECKED_REGION, CHECKED_RECORDS = "checked", 20_000  # without agents: for the mirror's rate
MIRROR_POLLS_S = (0.8, 1.05)  # of each stream; the original's: one in a second and its own time


class Sizes(NamedTuple):
    agents: int
    regions: int
    deployments: int  # of each region

    def region(self, number):
        return f"r-{number % self.regions}"


@contextmanager
def served(bench, parts, mirror, sizes):
    """A server that was just started, with deployments in each region."""
    server = Server(bench, parts, mirror=mirror, transport="connect")
    try:
        wanted = {sizes.region(n): sizes.deployments for n in range(sizes.regions)}
        for region, count in {**wanted, CHECKED_REGION: CHECKED_RECORDS}.items():
            bench.client("stream-bench", "seed", server.writer, region, 0, count, RECORD_BYTES)
        server.process.stop()
        server.start()
        yield server
    finally:
        server.close()


class Spent:
    """Seconds, and what a server and its agents have spent in them."""

    def __init__(self, server, agents=None):
        self.server = server
        self.begin = self.now(agents)

    def now(self, agents):
        return {"seconds": time.monotonic(), "processor": self.server.processor(), "reads": self.server.reads(),
                "asked": agents.total("queries") if agents else 0}

    def since(self, agents):
        found = {what: value - self.begin[what] for what, value in self.now(agents).items()}
        if failures := agents.failures():
            raise RuntimeError(f"calls of the agents failed: {failures}")
        return {**found, "queries": found["reads"] + found["asked"]}


def start(parts, server, sizes, **options):
    """Agents that go round the regions; returns them when each has all deployments."""
    from krane import Agents  # needs the parts
    agents = Agents(server.world.port, [sizes.region(n) for n in range(sizes.agents)], **options)
    try:
        parts.wait_until(
            lambda: f"all have their deployments; {agents.failures()} {server.process.tail()}",
            lambda: all(c["objects"]["deployment"] == sizes.deployments for c in agents.counters()), 600, pause=0.2)
    except BaseException:
        agents.close()
        raise
    return agents


def fault_of_rate(bench, server):
    """Why the mirror is no peer by its records a second over one Connect stream; None: it is one."""
    found = bench.client("http2-bench", "drain", "connect", "ctrl.v1", server.address, server.token, CHECKED_REGION,
                         CHECKED_RECORDS)
    rate = found["records"] / found["seconds"]
    return None if rate >= ORIGINAL_BOOTSTRAP_RECORDS_S else (
        f"the mirror reaches {rate:.0f} records/s, the original {ORIGINAL_BOOTSTRAP_RECORDS_S}: no peer")


def both(bench, parts, name, sizes, measure, more=""):
    """Mirror and product in turn, and their lines. `measure(server)` gives what was spent, and why it is no peer."""
    spent = {True: [], False: []}
    for _ in range(1 if bench.short else 3):
        for mirror in (True, False):
            with served(bench, parts, mirror, sizes) as server:
                found, fault = measure(server)
                if mirror and (fault := fault or fault_of_rate(bench, server) or fault_of_polls(bench, parts)):
                    bench.unusable(name, fault)
                    return
                spent[mirror].append(found)
    ours, peer = spent[False][-1], spent[True][-1]
    for figure, title, note in (
            ("processor", "processor time", lambda s: f"{s['processor']:.2f} s in {s['seconds']:.0f} s"),
            ("queries", "storage queries", lambda s: f"{s['queries']:.0f}, {s['asked']} of them asked by the agents")):
        bench.line(f"{name}, {title}", "the mirror's",
                   [a[figure] / b[figure] for a, b in zip(spent[False], spent[True])], lambda r: r <= THIRD, "<= 0.333",
                   f"{note(ours)}, and {note(peer)}{more}")


def krane_rest(bench, parts):
    """A minute of agents that have what they want: heartbeats, and a point query and a report for each object."""
    # The short form's minute has 6 s; with a fifth of the deployments there are half as many queries a second.
    sizes, minute = (Sizes(20, 4, 10), 6) if bench.short else (Sizes(200, 20, 50), 60)

    def measure(server):
        agents = start(parts, server, sizes, resync_ms=minute * 1000, heartbeat_ms=minute * 500)
        try:
            time.sleep(5)  # the last streams have caught up
            before = Spent(server, agents)
            time.sleep(minute)  # the comparisons come once in it, whenever it begins
            found = before.since(agents)
        finally:
            agents.close()
        polls, (low, high) = found["reads"] / found["seconds"] / (sizes.agents * STREAMS_EACH), MIRROR_POLLS_S
        return found, None if low <= polls <= high else (
            f"each of the mirror's streams polls {polls:.2f} times a second, the original's once: no peer")

    both(bench, parts, f"{sizes.agents} Krane agents at rest with {sizes.deployments} deployments each", sizes, measure,
         f"; comparisons every {minute} s, not 60" if bench.short else "")


def krane_bootstrap(bench, parts):
    """Agents that come with nothing, until each has all deployments of its region and has reported them."""
    sizes = Sizes(20, 4, 50) if bench.short else Sizes(200, 20, 200)

    def measure(server):
        before = Spent(server)
        agents = start(parts, server, sizes)
        try:
            return before.since(agents), None
        finally:
            agents.close()

    both(bench, parts, f"{sizes.agents} Krane agents that bootstrap {sizes.deployments} deployments each", sizes,
         measure)


MEASURES = (krane_rest, krane_bootstrap)
