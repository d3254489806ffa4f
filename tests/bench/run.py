#!/usr/bin/env python3
"""`make bench`: what the code does, as ratios against peers measured in the same run.

Every line names its peer, prints the ratio with its interval and PASS or FAIL, and goes to build/bench/result.json.
Runs of product and peer alternate. The interval is that of the ratios of paired runs (lowest to highest); a target is
met only if the whole interval is beyond it. The mirror (streamer setting `mirror`) does what the original does: polls
once a second, pages of 100, one record a message. It counts as a peer only if it reaches the original's own figures.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import fleet  # noqa: E402  beside this file

# The original, measured on two cores: krane-measured in the project's notes. The mirror must not be slower.
ORIGINAL_RECEIPT_P50_MS = (350, 650)       # one-second poll: about 500
ORIGINAL_BOOTSTRAP_RECORDS_S = 8_700       # 100,000 rows, uncompressed
RECORD_BYTES = 1024
MIB = 1 << 20


class Bench:
    def __init__(self, build, short):
        self.build, self.short = Path(build), short
        self.lines = []

    def line(self, name, peer, ratios, holds, target, note=""):
        low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
        passed = all(holds(r) for r in ratios)
        self.lines.append({"name": name, "peer": peer, "ratio": middle, "low": low, "high": high, "runs": len(ratios),
                           "target": target, "pass": passed, "note": note})
        print(f"{'PASS' if passed else 'FAIL'}  {name}: {middle:.3g} [{low:.3g}, {high:.3g}] of {peer}, target {target}"
              f"{'; ' + note if note else ''}", flush=True)

    def unusable(self, name, why):
        self.lines.append({"name": name, "pass": False, "note": why})
        print(f"FAIL  {name}: {why}", flush=True)

    def client(self, program, *arguments, stdin=None):
        done = subprocess.run([str(self.build / "tests/bench" / program), *map(str, arguments)], text=True,
                              capture_output=True, check=False, input=stdin, timeout=900)
        if done.returncode != 0:
            raise RuntimeError(f"{program} {arguments[0]}: {done.stderr.strip()}")
        return self.result(done.stdout)

    @staticmethod
    def result(text):
        return json.loads(text)


def serve(parts, mirror, database=None):
    """A world with one server; mirror or product. `database`: a store to begin with."""
    world = parts.World(log_level="warn")
    if database is not None:
        world.database = database
    server = world.server(extra=f"[plugin.streamer]\nmirror = {'true' if mirror else 'false'}\n").start()
    world.wait_ready(server)
    return world, server


def receipt(bench, parts):
    """From the operator's commit to the receipt by an agent."""
    name = "commit to the agent's receipt, p50"
    # Changes spread evenly over whole seconds, so that every moment of the mirror's sleep is met alike.
    count, pause, runs = (28, 69, 2) if bench.short else (84, 69, 3)
    ratios, notes = [], []
    for _ in range(runs):
        p50 = {}
        for mirror in (True, False):
            world, server = serve(parts, mirror)
            try:
                found = bench.client("stream-bench", "receipt", "ctrl.v1" if mirror else "davit.v1",
                                     f"127.0.0.1:{world.port}", world.folder / "agent.token", parts.REGION,
                                     f"unix:{world.socket}", count, pause)
                p50[mirror] = found["p50_ms"]
            finally:
                server.stop()
                world.close()
        low, high = ORIGINAL_RECEIPT_P50_MS
        if not low <= p50[True] <= high:
            bench.unusable(name, f"the mirror's p50 is {p50[True]:.0f} ms, the original's about 500: no peer")
            return
        ratios.append(p50[False] / p50[True])
        notes.append(f"{p50[False]:.2f} and {p50[True]:.0f} ms")
    bench.line(name, "the one-second-poll mirror", ratios, lambda r: r <= 1 / 100, "<= 0.01", ", ".join(notes))


def bootstrap(bench, parts):
    """100,000 records of 1 KB over one stream, and what it costs the server's memory."""
    count = 20_000 if bench.short else 100_000
    name = f"bootstrap of {count} records of 1 KB, records/s"
    seeded = parts.World(log_level="warn")
    server = seeded.server().start()
    seeded.wait_ready(server)
    took = bench.client("stream-bench", "seed", f"unix:{seeded.socket}", parts.REGION, count, RECORD_BYTES)
    print(f"      seeded {took['records']} records at {took['records'] / took['seconds']:.0f}/s")
    server.stop()
    rates, growth = {True: [], False: []}, []
    for _ in range(2 if bench.short else 5):
        for mirror in (True, False):
            world, server = serve(parts, mirror, seeded.database)
            before = server.memory_bytes()
            try:
                found = bench.client("stream-bench", "bootstrap", "ctrl.v1" if mirror else "davit.v1",
                                     f"127.0.0.1:{world.port}", world.folder / "agent.token", parts.REGION, count)
                rates[mirror].append(found["records"] / found["seconds"])
                if not mirror:
                    growth.append(server.memory_bytes() - before)
            finally:
                server.stop()
                world.close()
    seeded.close()
    slowest = min(rates[True])
    if slowest < ORIGINAL_BOOTSTRAP_RECORDS_S:
        bench.unusable(name, f"the mirror reaches {slowest:.0f}/s, the original {ORIGINAL_BOOTSTRAP_RECORDS_S}: no peer")
    else:
        ratios = [a / b for a, b in zip(rates[False], rates[True])]
        bench.line(name, "the mirror", ratios, lambda r: r >= 5, ">= 5",
                   f"{statistics.median(rates[False]):.0f}/s and {statistics.median(rates[True]):.0f}/s")
    bench.line("server memory growth of that bootstrap", "32 MiB", [g / (32 * MIB) for g in growth],
               lambda r: r <= 1, "<= 1", ", ".join(f"{g / MIB:.1f} MiB" for g in growth))


def converge(bench, parts):
    """Deployments onto a real API server, beside a bare client that applies the same bodies."""
    count = 200 if bench.short else 1000
    kubernetes = parts.Kubernetes()
    ratios, notes = [], []
    try:
        # The first turn gives the bodies and warms the API server up; it is not counted. Then each goes first in turn.
        bodies, _ = with_davit(parts, kubernetes, "bench-davit", count)
        for turn in range(2 if bench.short else 4):
            seconds = {}
            for who in ("davit", "bare") if turn % 2 else ("bare", "davit"):
                namespace = f"bench-{who}-{turn}"
                seconds[who] = (with_davit(parts, kubernetes, namespace, count)[1] if who == "davit" else
                                with_bare_client(bench, kubernetes, namespace, bodies))
            ours, bare = seconds["davit"], seconds["bare"]
            ratios.append(ours / bare)
            notes.append(f"{ours:.1f} and {bare:.1f} s")
    finally:
        kubernetes.close()
    bench.line(f"{count} deployments applied, time", "a bare client, 16 parallel server-side applies", ratios,
               lambda r: r <= 1.25, "<= 1.25", ", ".join(notes))


def with_davit(parts, kubernetes, namespace, count):
    """Returns (bodies as applied, seconds from the agent's start until the last ReplicaSet exists)."""
    world = parts.World(log_level="warn")
    server = world.server().start()
    world.wait_ready(server)
    world.apply([parts.deployment(n, namespace) for n in range(count)])
    path = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    agent = world.agent(kubeconfig=kubernetes.kubeconfig)
    begin = time.monotonic()
    agent.start()
    # Asking costs the API server something, so ask seldom and cheaply.
    while True:
        status, page = kubernetes.request("GET", path + "?limit=1")
        found = len(page["items"]) + page["metadata"].get("remainingItemCount", 0) if status == 200 else 0
        if found >= count:
            break
        if time.monotonic() - begin > 600:
            raise RuntimeError(f"{found} of {count} after 600 s; {agent.tail()}")
        time.sleep(0.1)
    seconds = time.monotonic() - begin
    world.wait_running([f"d_{n}" for n in range(count)], seconds=300)
    bodies = [as_applied(r) for r in kubernetes.items(path)]
    agent.stop()
    server.stop()
    world.close()
    clear(kubernetes, namespace)
    return bodies, seconds


def as_applied(live):
    """The body that was applied: what the managed fields say is ours."""
    ours = next(m["fieldsV1"] for m in live["metadata"]["managedFields"]
                if m["manager"] == "krane" and m["operation"] == "Apply" and "subresource" not in m)
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", **owned(live, ours),
            "metadata": {**owned(live["metadata"], ours["f:metadata"]), "name": live["metadata"]["name"]}}


def owned(value, fields):
    """The part of a value that a fieldsV1 set names ("f:" a field, "k:" a list's element by its keys)."""
    named = {k: f for k, f in fields.items() if k != "."}
    if not named:
        return value
    if isinstance(value, dict):
        return {k[2:]: owned(value[k[2:]], f) for k, f in named.items() if k[2:] in value}
    keys = [(json.loads(k[2:]), f) for k, f in named.items() if k.startswith("k:")]
    return [owned(item, f) for item in value for key, f in keys if key.items() <= item.items()] if keys else value


def with_bare_client(bench, kubernetes, namespace, bodies):
    kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    lines = []
    for body in bodies:
        body["metadata"]["namespace"] = namespace
        name = body["metadata"]["name"]
        lines.append(f"/apis/apps/v1/namespaces/{namespace}/replicasets/{name}?fieldManager=bare&force=true\t"
                     + json.dumps(body))
    found = bench.client("apply-bench", kubernetes.url, kubernetes.ca, kubernetes.token_file, 16,
                         stdin="\n".join(lines) + "\n")
    clear(kubernetes, namespace)
    return found["seconds"]


def clear(kubernetes, namespace):
    """Leaves no work behind for what comes next."""
    kubernetes.request("DELETE", f"/apis/apps/v1/namespaces/{namespace}/replicasets")
    deadline = time.monotonic() + 300
    while kubernetes.items(f"/api/v1/namespaces/{namespace}/pods?limit=1"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"pods of {namespace} do not end")
        time.sleep(0.5)
    # The controllers go on for a while. A machine with other work never rests: its interval will show it.
    deadline = time.monotonic() + 30
    while busy_share(1.0) > 0.15 and time.monotonic() < deadline:
        pass


def busy_share(seconds):
    """The share of the machine's processor time that was used while this waited."""
    def read():
        with open("/proc/stat", encoding="utf-8") as file:
            times = [int(t) for t in file.readline().split()[1:9]]
        return times[3] + times[4], sum(times)  # idle and waiting for disks; all
    idle, everything = read()
    time.sleep(seconds)
    idle_now, everything_now = read()
    return 1 - (idle_now - idle) / max(1, everything_now - everything)


def main():
    measures = (receipt, bootstrap, *fleet.MEASURES, converge)
    parser = argparse.ArgumentParser(description="measures Davit against named peers")
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--short", action="store_true", help="fewer runs and records: is everything still measured?")
    parser.add_argument("--only", choices=[m.__name__ for m in measures])
    arguments = parser.parse_args()
    os.environ["DAVIT_STAGE"] = str(Path(arguments.build) / "stage")
    import parts  # after the stage is known

    bench = Bench(arguments.build, arguments.short)
    for measure in measures:
        if arguments.only in (None, measure.__name__):
            measure(bench, parts)
    result = ROOT / "build/bench/result.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({"short": arguments.short, "lines": bench.lines}, indent=2) + "\n", encoding="utf-8")
    print(f"written to {result.relative_to(ROOT)}")
    return 0 if all(line["pass"] for line in bench.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
