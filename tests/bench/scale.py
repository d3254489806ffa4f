"""How the costs grow with the records and with the agents, on each store: tables, and the exponent of growth of each
column. An exponent is the slope of the least squares' line through log(figure) over log(size): 0 is flat, 1 is linear.
"""

import itertools
import statistics
import time
from math import log

from fleet import forget_peak, memory_kib, open_streams  # beside this file
from server import Server

BYTES = 1024  # of a record
RECORDS = 1_000  # of the store that serves ever more agents
AGENTS_A_REGION = 10
AGENTS_A_CONNECTION = 5
RATE = 100  # changes a second
STEP = 100_000  # records that one client commits
COPY_SECONDS_MAX = 1_800  # of a million records, on a busy machine
LINEAR = "linear growth's exponent"
# A linear cost has 1. If an end of four powers of ten is measured wrong by a factor of 2, the slope moves by 0.09.
EXPONENT_MAX = 1.1
A_AGENT_MAX = 1.2
STATUS_SECONDS_MAX = 2  # of `davit status`, for each STEP of records
STORES = ("SQLite", "PostgreSQL")
turns = itertools.count(1)


def exponent(sizes, figures):
    return statistics.linear_regression([log(s) for s in sizes], [log(f) for f in figures]).slope


class Runs:
    """What was measured at each size, run by run."""

    def __init__(self, bench, title, sizes, columns):
        self.bench, self.title, self.sizes, self.columns = bench, title, sizes, columns
        self.found = {size: [] for size in sizes}

    def add(self, size, **figures):
        self.found[size].append(figures)

    def figures(self, column, run):
        """By size, of those that were measured in this run."""
        return [found[run][column] for found in self.found.values() if run < len(found)]

    def wanted(self):
        return range(1 if self.bench.short else 3)

    def exponents(self, column, last=None):
        """Of each run; of the `last` sizes only."""
        sizes = self.sizes[-last:] if last else self.sizes
        return [exponent(sizes, self.figures(column, run)[-len(sizes):]) for run in self.wanted()]

    def judge(self, *costs):
        """Shows the table and judges the growth of these columns."""
        middle = {size: [statistics.median(f[c] for f in found) if c in found[0] else None for c in self.columns]
                  for size, found in self.found.items()}
        rows = [[size, *figures] for size, figures in middle.items()]
        for name, last in (("exponent", None), ("last step's", 2)):
            rows.append([name, *(statistics.median(self.exponents(c, last)) if c in costs else None
                                 for c in self.columns)])
        self.bench.table(self.title, [self.title.split(" ")[0], *self.columns], rows)
        target = f"<= {EXPONENT_MAX}"
        for cost in costs:
            name = f"{self.title}: growth of {cost.partition(',')[0]}"
            self.bench.line(name, LINEAR, self.exponents(cost), lambda e: e <= EXPONENT_MAX, target)
        if self.bench.short:
            return  # the sizes of one step are too close together
        last = {cost: statistics.median(self.exponents(cost, 2)) for cost in costs if "p99" not in cost}
        self.bench.line(f"{self.title}: the fastest growth in the last step", LINEAR, [max(last.values())],
                        lambda e: e <= EXPONENT_MAX, target,
                        ", ".join(f"{cost.partition(',')[0]} {e:.2f}" for cost, e in last.items()))


def commits(bench, server, regions):
    """Numbers that no commit had before: a number that is stored already is no change."""
    found = bench.client("fleet-bench", "commits", server.wire, server.writer, regions, RATE, 1 if bench.short else 6,
                         next(turns) * 100_000)
    return {"commit p50, ms": found["p50_ms"], "commit p99, ms": found["p99_ms"]}


def status(bench, server, name, size):
    """`davit status` of records that have a status each, as an operator waits for it."""
    taken = []
    for _ in range(3):
        begin = time.monotonic()
        server.world.davit("status")
        taken.append(time.monotonic() - begin)
    limit = STATUS_SECONDS_MAX * size / STEP
    bench.line(f"davit status of {size} records on {name}", f"{limit:g} s", [t / limit for t in taken], lambda r: r <= 1,
               "<= 1", f"{statistics.median(taken):.2f} s")


def with_records(bench, parts, database):
    """Each run is a new server: one agent reads all, then one writer changes what is there."""
    sizes = (1_000, 10_000) if bench.short else (1_000, 10_000, 100_000, 1_000_000)
    with_statuses = 10_000 if bench.short else 100_000
    columns = ("commit p50, ms", "commit p99, ms", "bootstrap, s", "records/s", "peak memory, MiB")
    found = {name: Runs(bench, f"records of {BYTES} bytes on {name}", sizes, columns) for name in STORES}

    def measure(name, server):
        for _ in found[name].wanted():
            server.restart()
            forget_peak(server.pid)
            read = bench.client("stream-bench", "bootstrap", server.wire, server.address, server.token, "r-0", size)
            written = commits(bench, server, 1)
            found[name].add(size, **written, **{"bootstrap, s": read["seconds"], "records/s": size / read["seconds"],
                                                "peak memory, MiB": memory_kib(server.pid, "VmHWM") / 1024})
        if size == with_statuses:
            status(bench, server, name, size)

    source, held = Server(bench, parts, started=False), 0
    try:
        for size in sizes:
            source.restart()
            for begin in range(held, size, STEP):
                bench.client("stream-bench", "seed", source.writer, "r-0", begin, min(begin + STEP, size), BYTES)
            held = size
            if size == with_statuses:
                bench.client("stream-bench", "report", source.address, source.token, "r-0", 0, size)
            on_each_store(bench, parts, source, database.settings(f"records_{size}"), measure)
    finally:
        source.close()
    for runs in found.values():
        runs.judge("commit p50, ms", "commit p99, ms", "bootstrap, s", "peak memory, MiB")


def with_agents(bench, parts, database):
    """Ever more agents, ten a region, that have all of their records and receive the changes."""
    sizes = (10, 200, 400) if bench.short else (10, 100, 1_000, 5_000)
    columns = ("commit p50, ms", "commit p99, ms", "memory, MiB", "KiB an agent")
    found = {name: Runs(bench, f"agents on {name} with {RECORDS} records", sizes, columns) for name in STORES}

    def measure(name, server):
        for run in found[name].wanted():
            figures = one_fleet(bench, server, size)
            if size != sizes[0]:
                above = figures["memory, MiB"] - found[name].figures("memory, MiB", run)[0]
                figures["KiB an agent"] = above * 1024 / (size - sizes[0])
            found[name].add(size, **figures)

    for size in sizes:
        source = Server(bench, parts)
        try:
            regions = ",".join(f"r-{n}" for n in range(size // AGENTS_A_REGION))
            bench.client("stream-bench", "seed", source.writer, regions, 0, RECORDS, BYTES)
            on_each_store(bench, parts, source, database.settings(f"agents_{size}"), measure)
        finally:
            source.close()
    for runs in found.values():
        runs.judge("commit p50, ms", "commit p99, ms", "memory, MiB")
        flat(bench, runs)


def one_fleet(bench, server, agents):
    """A new server, its agents, and changes that they receive."""
    server.restart()
    regions = agents // AGENTS_A_REGION
    client, _ = open_streams([bench.build / "tests/bench/fleet-bench", "idle", server.wire, server.address,
                              server.token, agents, agents // AGENTS_A_CONNECTION, regions], agents, server.pid)
    time.sleep(1)
    written = commits(bench, server, regions)
    time.sleep(1)
    memory = memory_kib(server.pid) / 1024
    ended = bench.result(client.communicate("")[0])
    if ended["lost"]:
        raise RuntimeError(f"{ended['lost']} of {agents} streams ended meanwhile")
    return {**written, "memory, MiB": memory}


def on_each_store(bench, parts, source, settings, measure):
    """`measure` with the source, whose store is a file, then with a copy in PostgreSQL. The source has ended then."""
    measure("SQLite", source)
    source.process.stop()
    copy = Server(bench, parts, store=settings, started=False)
    try:
        files = [word for option, server in (("--from", source), ("--to", copy)) for file in server.process.argv[2:]
                 for word in (option, file)]
        copy.world.davit("storage", "copy", *files, "--finish", seconds=COPY_SECONDS_MAX)
        measure("PostgreSQL", copy)
    finally:
        copy.close()


def flat(bench, found):
    """The agents of the last step beside those before it. Differences of servers: what does not depend on the number of
    agents is in neither."""
    first, middle, last = found.sizes[0], *found.sizes[-2:]
    ratios, notes = [], []
    for run in found.wanted():
        memory = dict(zip(found.sizes, found.figures("memory, MiB", run)))
        before = (memory[middle] - memory[first]) * 1024 / (middle - first)
        after = (memory[last] - memory[middle]) * 1024 / (last - middle)
        ratios.append(after / before)
        notes.append(f"{after:.1f} and {before:.1f} KiB")
    bench.line(f"{found.title}: memory of each agent from {middle} to {last}", f"each from {first} to {middle}", ratios,
               lambda r: r <= A_AGENT_MAX, f"<= {A_AGENT_MAX}", ", ".join(notes))


def scale(bench, parts):
    """Records and agents by powers of ten, on each store."""
    from postgres import Postgres  # needs the parts
    database = Postgres(max_connections=50, max_wal_size="4GB")
    try:
        with_records(bench, parts, database)
        with_agents(bench, parts, database)
    finally:
        database.close()
