#!/usr/bin/env python3
"""`make bench`: what the code does, as ratios against peers measured in the same run.

Every line names its peer, prints the ratio with its interval and PASS or FAIL, and goes to build/bench/result.json.
Runs of product and peer alternate. The interval is that of the median of paired runs' ratios (95 % of nine runs and
more, lowest to highest of fewer); a target is met only if the whole interval is beyond it. README.md says who the peers
are.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/kubernetes")]

from at_rest import at_rest, memory  # noqa: E402  beside this file
from convergence import converge  # noqa: E402
from created import created  # noqa: E402
from federation import federation  # noqa: E402
import fleet  # noqa: E402
from hostile import hostile  # noqa: E402
import krane_fleet  # noqa: E402
from latency import latencies  # noqa: E402
from server import ORIGINAL_BOOTSTRAP_RECORDS_S, ORIGINAL_RECEIPT_P50_MS, Server  # noqa: E402
from scale import scale  # noqa: E402
from start import ready  # noqa: E402
from several import other_server  # noqa: E402
from stores import ON_POSTGRES  # noqa: E402
import transports  # noqa: E402
from writes import writes  # noqa: E402


class Bench:
    def __init__(self, build, short):
        self.build, self.short = Path(build), short
        self.lines, self.tables = [], []

    def line(self, name, peer, ratios, holds, target, note=""):
        low, high = interval(ratios)
        middle = statistics.median(ratios)
        passed = holds(low) and holds(high)
        self.lines.append({"name": name, "peer": peer, "ratio": middle, "low": low, "high": high, "runs": len(ratios),
                           "target": target, "pass": passed, "note": note})
        print(f"{'PASS' if passed else 'FAIL'}  {name}: {middle:.3g} [{low:.3g}, {high:.3g}] of {peer}, target {target}"
              f"{'; ' + note if note else ''}", flush=True)

    def table(self, title, columns, rows):
        """Figures without a verdict; None: there is no such figure."""
        self.tables.append({"name": title, "columns": columns, "rows": rows})
        shown = [columns, *([shown_figure(cell) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*shown)]
        print(f"      {title}", flush=True)
        for row in shown:
            print("      " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)), flush=True)

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


def shown_figure(cell):
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)


def interval(ratios):
    """Of the median, by order statistics: of nine runs and more it is the 95 % one (of nine, all but the lowest and the
    highest: 96 %); of fewer the lowest and the highest."""
    ordered, count = sorted(ratios), len(ratios)
    left_out, outside = 0, 2 * 0.5**count
    while True:
        outside += 2 * math.comb(count, left_out + 1) * 0.5**count
        if outside > 0.05 or 2 * (left_out + 1) >= count:
            return ordered[left_out], ordered[-1 - left_out]
        left_out += 1


def receipt(bench, parts):
    """From the operator's commit to the receipt by an agent."""
    name = "commit to the agent's receipt, p50"
    # Changes spread evenly over whole seconds, so that every moment of the mirror's sleep is met alike.
    count, pause, runs = (28, 69, 1) if bench.short else (84, 69, 3)
    ratios, notes = [], []
    for _ in range(runs):
        p50 = {}
        for mirror in (True, False):
            server = Server(bench, parts, mirror=mirror)
            try:
                found = bench.client("stream-bench", "receipt", server.wire, server.address, server.token, parts.REGION,
                                     server.writer, count, pause)
                p50[mirror] = found["p50_ms"]
            finally:
                server.close()
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
    full = {mirror: fleet.seeded(bench, parts, count, mirror) for mirror in (True, False)}
    rates, growth = {True: [], False: []}, []
    for _ in range(1 if bench.short else 9):
        for mirror in full:
            server = Server(bench, parts, mirror=mirror, store=full[mirror].store)
            before = fleet.memory_kib(server.pid)
            try:
                found = bench.client("stream-bench", "bootstrap", server.wire, server.address, server.token, "r-0",
                                     count)
                rates[mirror].append(found["records"] / found["seconds"])
                if not mirror:
                    growth.append((fleet.memory_kib(server.pid) - before) / 1024)
            finally:
                server.close()
    for seeded in full.values():
        seeded.world.close()
    slowest = min(rates[True])
    if slowest < ORIGINAL_BOOTSTRAP_RECORDS_S:
        bench.unusable(
            name, f"the mirror reaches {slowest:.0f}/s, the original {ORIGINAL_BOOTSTRAP_RECORDS_S}: no peer"
        )
    else:
        ratios = [a / b for a, b in zip(rates[False], rates[True])]
        bench.line(name, "the mirror", ratios, lambda r: r >= 5, ">= 5",
                   f"{statistics.median(rates[False]):.0f}/s and {statistics.median(rates[True]):.0f}/s")
    bench.line("server memory growth of that bootstrap", "32 MiB", [g / 32 for g in growth], lambda r: r <= 1, "<= 1",
               ", ".join(f"{g:.1f} MiB" for g in growth))


def main():
    measures = (ready, receipt, bootstrap, other_server, writes, scale, hostile, *fleet.MEASURES, *transports.MEASURES,
                *krane_fleet.MEASURES, converge, created, latencies, at_rest, memory, federation)
    parser = argparse.ArgumentParser(description="measures Davit against named peers")
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--short", action="store_true", help="fewer runs and records: is everything still measured?")
    parser.add_argument("--only", choices=[m.__name__ for m in measures])
    arguments = parser.parse_args()
    os.environ["DAVIT_STAGE"] = str(Path(arguments.build) / "stage")
    import parts  # after the stage is known

    bench = Bench(arguments.build, arguments.short)
    if ON_POSTGRES:  # these choose their stores themselves
        measures = [m for m in measures if m not in (other_server, writes, scale)]
    try:
        for measure in measures:
            if arguments.only in (None, measure.__name__):
                begin = time.monotonic()
                measure(bench, parts)
                print(f"      {measure.__name__} took {time.monotonic() - begin:.0f} s", flush=True)
    finally:
        unittest.doModuleCleanups()  # what the parts made in passing
    result = ROOT / "build/bench/result.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    found = {"short": arguments.short, "lines": bench.lines, "tables": bench.tables}
    result.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(f"written to {result.relative_to(ROOT)}")
    return 0 if all(line["pass"] for line in bench.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
