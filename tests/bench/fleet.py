"""Thousands of streams on one server: latency, memory, a reader that stops, an agent that was away, a herd."""

import functools
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from processes import processor_seconds
from server import ORIGINAL_POLL_SECONDS, ORIGINAL_RECEIPT_P50_MS, Server  # beside this file


class Etcd:
    """The etcd of the Kubernetes rig, alone, with its files where the others have theirs."""

    wire = "etcd"
    token = "/dev/null"

    def __init__(self, parts):
        assets = subprocess.run([parts.REPOSITORY / "tests/kubernetes/build.sh", "--find"], text=True,
                                capture_output=True, check=True).stdout.strip().splitlines()[-1]
        self.folder = Path(tempfile.mkdtemp(prefix="davit-etcd-"))
        client, peer = (f"http://127.0.0.1:{parts.free_port()}" for _ in range(2))
        self.address = self.writer = client.removeprefix("http://")
        self.process = parts.Process("etcd", [
            Path(assets) / "etcd", "--data-dir", self.folder / "data", "--log-level", "error",
            "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], self.folder).start()
        parts.wait_until(lambda: f"etcd answers; {self.process.tail()}", lambda: healthy(client))

    def close(self):
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Watch:
    """Looks at a server ten times a second: what waits and what its memory grows by, once all its streams are open."""

    def __init__(self, server, streams):
        self.server, self.streams, self.pid = server, streams, server.pid
        self.waiting, self.before, self.over = [], None, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.over.wait(0.1):
            if self.before is not None:
                self.waiting.append(self.server.metric("davit_streamer_messages_waiting"))
                self.peak = memory_kib(self.pid, "VmHWM")
            elif self.server.metric("davit_streamer_streams") >= self.streams:
                forget_peak(self.pid)
                self.before = memory_kib(self.pid)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    @property
    def most_waiting(self):
        return max(self.waiting[len(self.waiting) // 2:])  # the first half: a thousand snapshots begin

    @property
    def growth_kib(self):
        return self.peak - self.before


def healthy(url):
    try:
        with urllib.request.urlopen(url + "/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def memory_kib(pid, what="VmRSS"):
    found = re.search(rf"^{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"), re.M)
    return int(found.group(1))


def forget_peak(pid):
    """Its peak counts from now on: the check of the file at the start is not what is measured."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="utf-8")


def open_streams(command, streams, pid):
    """Starts a client of idle streams; returns it, and what gives the memory of each in the server, in KiB."""
    before = memory_kib(pid)
    client = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if client.stdout.readline().strip() != "live":
        raise RuntimeError(f"the {streams} streams of {' '.join(map(str, command[1:4]))} did not become live")
    return client, lambda: (memory_kib(pid) - before) / streams


@functools.cache
def fault_of_polls(bench, parts):
    """Why the mirror is no peer by what an idle stream of it costs; None: it is one."""
    streams, regions, seconds = 500, 10, 5
    server = Server(bench, parts, mirror=True)
    try:
        for region in range(regions):
            bench.client("stream-bench", "seed", server.writer, f"r-{region}", 0, 1, 1024)
        client, _ = open_streams([bench.build / "tests/bench/fleet-bench", "idle", server.wire, server.address,
                                  server.token, streams, 50, regions], streams, server.pid)
        time.sleep(1)
        before, polls = server.processor(), server.reads()
        time.sleep(seconds)
        spent, polls = server.processor() - before, server.reads() - polls
        client.communicate("")
    finally:
        server.close()
    each = spent / polls
    print(f"      a poll of the mirror costs {1e6 * each:.0f} us of processor time, one of the original "
          f"{1e6 * ORIGINAL_POLL_SECONDS:.0f}", flush=True)
    return None if each <= ORIGINAL_POLL_SECONDS else f"the mirror's poll costs {1e6 * each:.0f} us: no peer"


def seeded(bench, parts, count, mirror=False):
    """A server that has ended, with records of 1 KB in the store of its world."""
    server = Server(bench, parts, mirror=mirror)
    bench.client("stream-bench", "seed", server.writer, "r-0", 0, count, 1024)
    server.process.stop()
    return server


def run_fanout(bench, server, streams, connections, regions, seconds, stopped=0):
    return bench.client("fleet-bench", "fanout", server.wire, server.address, server.token, streams, connections,
                        regions, server.writer, 100, seconds, stopped)


def fanout(bench, parts):
    """Commit to wire: 100 regions of ten streams, 100 changes a second."""
    streams, connections, regions = (200, 50, 20) if bench.short else (1000, 250, 100)
    seconds, runs = (4, 1) if bench.short else (15, 9)
    name = f"{streams} streams, 100 changes/s"
    found = {"davit": [], "mirror": [], "etcd": []}
    for _ in range(runs):
        for who, make in (("mirror", lambda: Server(bench, parts, mirror=True)), ("etcd", lambda: Etcd(parts)),
                          ("davit", lambda: Server(bench, parts))):
            server = make()
            try:
                found[who].append(run_fanout(bench, server, streams, connections, regions, seconds))
            finally:
                server.close()
    def shown(figure):
        return ", ".join(f"{who} {statistics.median(r[figure] for r in runs):.2f} ms" for who, runs in found.items())
    def ratios(figure, peer):
        return [a[figure] / b[figure] for a, b in zip(found["davit"], found[peer])]
    low, high = ORIGINAL_RECEIPT_P50_MS
    if any(not low <= r["p50_ms"] <= high for r in found["mirror"]):
        bench.unusable(f"{name}, p50", f"the mirror is no peer: {shown('p50_ms')}")
    else:
        bench.line(f"{name}, commit's answer to receipt, p50", "the one-second-poll mirror",
                   ratios("after_answer_p50_ms", "mirror"), lambda r: r <= 1 / 300, "<= 0.00333",
                   shown("after_answer_p50_ms"))
        bench.line(f"{name}, request to receipt, p50", "the one-second-poll mirror", ratios("p50_ms", "mirror"),
                   lambda r: r <= 1 / 100, "<= 0.01", shown("p50_ms"))
    bench.line(f"{name}, request to receipt, p99", "etcd's watch, same layout", ratios("p99_ms", "etcd"),
               lambda r: r <= 1.3, "<= 1.3", shown("p99_ms"))


def stopped_reader(bench, parts):
    """One of the streams does not read. What do the others notice?"""
    streams, connections, regions = (200, 50, 5) if bench.short else (1000, 250, 10)
    seconds, runs = (6, 1) if bench.short else (20, 5)
    p99, growth, queued, lost = {"none": [], "again none": [], "one": []}, [], [], 0
    for _ in range(runs):
        memory = {}
        for who in p99:
            server = Server(bench, parts)
            try:
                stopped = 1 if who == "one" else 0
                with Watch(server, streams) as watch:
                    found = run_fanout(bench, server, streams, connections, regions, seconds, stopped)
                if stopped:
                    queued.append(watch.most_waiting)
                lost += found["lost"]
                p99[who].append(found["p99_ms"])
                memory[who] = watch.growth_kib
            finally:
                server.close()
        growth.append((memory["one"] - max(memory["none"], memory["again none"])) / 1024)
    usual = [b / a for a, b in zip(p99["none"], p99["again none"])]
    found = [b / a for a, b in zip(p99["none"], p99["one"])]
    bench.line(f"p99 of {streams - 1} streams beside one that stopped reading", "the same without it",
               [statistics.median(found)], lambda r: r <= max(usual), f"<= {max(usual):.3g}, the spread of A/A runs",
               f"A/A {min(usual):.2f} to {max(usual):.2f}")
    bench.line("messages that wait on it", "one", queued, lambda r: r <= 1, "<= 1")
    bench.line("streams that ended meanwhile", "one", [lost], lambda r: r == 0, "0")
    bench.line("server memory that it costs", "1 MiB", growth, lambda r: r <= 1, "<= 1")


def idle(bench, parts):
    """Streams that wait, and what they cost above the bare gRPC stream."""
    streams, connections = (2000, 400) if bench.short else (10_000, 2_000)

    def opened(address, pid, wire, token):
        return open_streams([bench.build / "tests/bench/fleet-bench", "idle", wire, address, token, streams,
                             connections, 100], streams, pid)

    ratios, notes, queries = [], [], []
    for _ in range(1 if bench.short else 3):
        server = Server(bench, parts)
        try:
            floor = subprocess.Popen([bench.build / "tests/bench/floor-server"], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
            client, bare = opened(f"127.0.0.1:{int(floor.stdout.readline())}", floor.pid, "bare", server.token)
            time.sleep(2)
            bare = bare()
            client.communicate("")
            floor.communicate("")
            client, ours = opened(server.address, server.pid, "davit.v1", server.token)
            time.sleep(2)
            ours, reads, begin = ours(), server.reads(), time.monotonic()
            time.sleep(5 if bench.short else 20)
            queries.append((server.reads() - reads) / (time.monotonic() - begin + 1))
            client.communicate("")
        finally:
            server.close()
        ratios.append((ours - bare) / 2)
        notes.append(f"{ours:.1f} and {bare:.1f} KiB")
    bench.line(f"memory of each of {streams} idle streams above the bare gRPC stream's", "2 KiB", ratios,
               lambda r: r <= 1, "<= 1", ", ".join(notes))
    bench.line("storage queries meanwhile", "one a second and one for the ends of the stretch", queries,
               lambda r: r <= 1, "<= 1")


def together(bench, parts):
    """Fifty agents that bootstrap at once, beside one."""
    count = 10_000 if bench.short else 100_000
    before = seeded(bench, parts, count)
    peaks, rates = {1: [], 50: []}, []
    for _ in range(1 if bench.short else 3):
        for agents in peaks:
            server = Server(bench, parts, store=before.store)
            try:
                forget_peak(server.pid)
                found = bench.client("fleet-bench", "drain", server.wire, server.address, server.token, agents, count)
                peaks[agents].append(memory_kib(server.pid, "VmHWM"))
                if agents == 50:
                    rates.append(found["records"] / found["seconds"])
            finally:
                server.close()
    before.world.close()
    bench.line(f"peak server memory of 50 agents that bootstrap {count} records at once", "one agent's",
               [b / a for a, b in zip(peaks[1], peaks[50])], lambda r: r <= 1.1, "<= 1.1",
               f"{statistics.median(peaks[50]) / 1024:.1f} and {statistics.median(peaks[1]) / 1024:.1f} MiB; "
               f"{statistics.median(rates):.0f} records/s together")


def away(bench, parts):
    """An agent is away while a thousand keys change a million times."""
    keys, changes = 1000, 20_000 if bench.short else 1_000_000
    server = Server(bench, parts)
    try:
        found = bench.client("fleet-bench", "away", server.wire, server.address, server.token, server.writer, keys,
                             changes)
    finally:
        server.close()
    bench.line(f"records received after {changes} changes to {keys} keys", f"the {keys} keys",
               [found["records"] / keys], lambda r: r <= 1.05, "<= 1.05", f"in {found['seconds']:.2f} s")


def herd(bench, parts):
    """All agents lose the server at once, and come back after 1 to 5 s. Both servers have the Connect listener."""
    # The short form has as many changes for each agent: a server that reads a change when it is committed does so however
    # few the agents are, and the mirror's polls are those of its agents.
    streams, connections, regions, seconds, rate = (300, 100, 20, 4, 15) if bench.short else (2000, 500, 100, 10, 100)
    took, spent, reads, writers = [], [], [], []
    bare = bare_processor(bench, streams, connections)
    for _ in range(1 if bench.short else 3):
        found = {}
        for mirror in (True, False):
            server = Server(bench, parts, mirror=mirror, transport="connect")
            try:
                found[mirror] = one_herd(bench, server, streams, connections, regions, seconds, rate)
            finally:
                server.close()
        ours, peer = found[False], found[True]
        took.append(ours["seconds"] / peer["seconds"])
        spent.append(ours["processor"] / peer["processor"])
        reads.append(ours["reads"] / peer["reads"])
        writers.append(ours["write_p99_ms"] / ours["write_p99_at_rest_ms"])
    name = f"{streams} agents that lost the server"
    if fault := fault_of_polls(bench, parts):
        bench.unusable(name, fault)
        return
    # Both wait for the last agent, which draws 5 s: a hundredth of it is the machine's.
    bench.line(f"{name}, until all are live", "the mirror's", took, lambda r: r <= 1.02, "<= 1.02",
               f"{ours['seconds']:.2f} and {peer['seconds']:.2f} s")
    bench.line(f"{name}, server processor time", "the mirror's", spent, lambda r: r <= 1 / 5, "<= 0.2",
               f"{ours['processor']:.2f} and {peer['processor']:.2f} s, its database included; bare gRPC takes "
               f"{bare:.2f} s for the streams alone")
    bench.line(f"{name}, storage queries", "the mirror's", reads, lambda r: r <= 1 / 5, "<= 0.2",
               f"{ours['reads']:.0f} and {peer['reads']:.0f}")
    bench.line(f"{name}, p99 of the writers meanwhile", "their p99 at rest", writers, lambda r: r <= 1.5, "<= 1.5")


def bare_processor(bench, streams, connections):
    """Seconds of processor time of a gRPC server that only takes these streams."""
    floor = subprocess.Popen([bench.build / "tests/bench/floor-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
    client = subprocess.Popen([bench.build / "tests/bench/fleet-bench", "idle", "bare",
                               f"127.0.0.1:{int(floor.stdout.readline())}", "/dev/null", str(streams), str(connections),
                               "100"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    client.stdout.readline()  # live
    found = processor_seconds(floor.pid)
    client.communicate("")
    floor.communicate("")
    return found


def one_herd(bench, server, streams, connections, regions, seconds, rate):
    client = subprocess.Popen([bench.build / "tests/bench/fleet-bench", "herd", server.wire, server.address,
                               str(server.token), str(streams), str(connections), str(regions), server.writer, str(rate),
                               str(seconds)], stdout=subprocess.PIPE, text=True)
    if client.stdout.readline().strip() != "live":
        raise RuntimeError(f"the {streams} agents did not become live")
    before = server.database_processor()
    server.process.kill()
    server.process.start()
    if client.stdout.readline().strip() != "stretch over":
        raise RuntimeError("the agents did not come back")
    found = {"processor": server.processor() - before, "reads": server.reads()}
    lines = client.communicate()[0].strip().splitlines()
    return {**found, **bench.result(lines[-1])}


MEASURES = (fanout, stopped_reader, idle, together, away, herd)
