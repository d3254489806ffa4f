"""One region's normal day beside another region's hostile agent."""

import json
import subprocess

from server import Server  # beside this file

HONEST, EVIL = "honest", "evil"


class Flood:
    """The hostile agent, while it is at it. It stands for other machines: it gets the time that all others leave."""

    def __init__(self, bench, server, records):
        self.process = subprocess.Popen(
            ["nice", "-n", "19", bench.build / "tests/bench/hostile-bench", "flood", server.address,
             server.world.folder / f"{EVIL}.token", EVIL, str(records), "all"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if self.process.stdout.readline().strip() != "flooding":
            raise RuntimeError("the hostile agent did not begin")
        return self

    def __exit__(self, *_):
        self.calls = json.loads(self.process.communicate("", timeout=120)[0])


def hostile(bench, parts):
    """Latencies of an agent of one region, while one of another does all that its token allows as fast as it can."""
    records, count, pairs = (1_000, 50, 1) if bench.short else (10_000, 300, 9)
    server = Server(bench, parts, regions=(HONEST, EVIL))
    measured = {False: [], True: []}
    calls = {}
    try:
        bench.client("stream-bench", "seed", server.writer, EVIL, 0, records, 1024)
        for pair in range(pairs):
            for attacked in (False, True) if pair % 2 == 0 else (True, False):
                if not attacked:
                    measured[False].append(neighbour(bench, server, count))
                    continue
                with Flood(bench, server, records) as flood:
                    measured[True].append(neighbour(bench, server, count))
                for habit, ended in flood.calls.items():
                    calls[habit] = calls.get(habit, 0) + ended
    finally:
        server.close()
    print("      ended by the hostile agent: " + ", ".join(f"{n} {habit}" for habit, n in calls.items()), flush=True)
    for what, key in (("commit to the agent's receipt", "receipt_p99_ms"), ("a status report", "report_p99_ms")):
        found = [(beside[key], alone[key]) for beside, alone in zip(measured[True], measured[False])]
        bench.line(f"{what} beside a hostile agent of another region, p99", "the same without it",
                   [a / b for a, b in found], lambda r: r <= 1.5, "<= 1.5",
                   ", ".join(f"{a:.2f} and {b:.2f} ms" for a, b in found))


def neighbour(bench, server, count):
    return bench.client("stream-bench", "neighbour", server.wire, server.address,
                        server.world.folder / f"{HONEST}.token", HONEST, server.writer, count, 5)
