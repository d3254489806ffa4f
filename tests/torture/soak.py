#!/usr/bin/env python3
"""A server and agents under steady change for a long time: memory, descriptors and threads stay where they are.

`soak.py --build DIR`: DAVIT_SOAK_SECONDS (1200) of it. The load is server-torture's, without kills: writers, readers
that come and go, progress; and at the end its audit. The agents (clusters in their memory) apply and report, and their
connections are cut every few seconds. Prints a table, PASS or FAIL for each line (README.md has the rule); every sample
goes to build/soak/samples.csv.
"""

import argparse
import asyncio
import os
import random
import sys
import threading
import time
from pathlib import Path

import flat
import torture

SAMPLE_SECONDS = 3.0
CONNECTION_SECONDS = (4.0, 12.0)
PAUSE_MS = 300  # some fifty writes a second
FILLER = 400
MIB = 1 << 20

# Tombstones are purged and recent changes kept in little memory, so that what the process holds is always the same.
SERVER = """
[host]
plugin_dirs = ["{plugins}"]
[plugin.streamer]
ring_bytes_max = 1048576
bookmark_interval_ms = 1000
ctrl_bookmarks = true
[plugin.purger]
module = "torture_purger"
storage = "main"
interval_ms = 2000
versions_kept = 2000
"""


class Cutter:
    """A TCP proxy whose connections end when they like, so that whoever uses it connects again and again."""

    def __init__(self, port, target):
        self.port, self.target, self.cuts = port, target, 0
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.accept, "127.0.0.1", self.port))
        self.loop.run_forever()

    async def accept(self, reader, writer):
        try:
            onward_reader, onward_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        both = asyncio.gather(pump(reader, onward_writer), pump(onward_reader, writer))
        try:
            await asyncio.wait_for(both, random.uniform(*CONNECTION_SECONDS))
        except (asyncio.TimeoutError, OSError):
            self.cuts += 1
        for side in (writer, onward_writer):
            side.close()


async def pump(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


class Samples:
    """What a process holds, over time."""

    # Name, how it is read, how much more of it is still flat: so many, and this share of the median. The store opens its
    # eight reading connections when it first needs them, two descriptors each; thousands of streams come and go meanwhile.
    MEASURES = (("memory", lambda p: p.memory_bytes(), 2 * MIB, 0.05),
                ("descriptors", lambda p: len(os.listdir(f"/proc/{p.process.pid}/fd")), 8, 0.0),
                ("threads", lambda p: len(os.listdir(f"/proc/{p.process.pid}/task")), 1, 0.0))

    def __init__(self, process):
        self.process = process
        self.values = {name: [] for name, *_ in self.MEASURES}

    def take(self, now, table):
        if not self.process.alive():
            raise AssertionError(f"{self.process.name} ended by itself: {self.process.tail()}")
        for name, read, *_ in self.MEASURES:
            self.values[name].append((now, read(self.process)))
            print(f"{self.process.name},{name},{now:.1f},{self.values[name][-1][1]}", file=table, flush=True)

    def show(self):
        """Prints a line for each measure; returns whether all are flat."""
        flat_all = True
        for name, _, absolute, share in self.MEASURES:
            found = flat.judge(self.values[name], absolute, share)
            unit, places = (MIB, 2) if name == "memory" else (1, 1)
            numbers = (f"{n / unit:>10.{places}f}" for n in (found.first, found.last, found.rise, found.bound))
            print(f"{'PASS' if found.flat else 'FAIL'}  {self.process.name:<8} {name:<12}" + "".join(numbers), flush=True)
            flat_all &= found.flat
        return flat_all


def soak(parts, build, seconds, seed):
    world = parts.World(log_level="warn")
    server = world.server(regions=[f"r{n}" for n in range(torture.REGIONS)])
    server.argv.append(str(world.write("soak.toml", SERVER.format(plugins=build / "tests/torture"))))
    failed = True
    try:
        server.start()
        world.wait_ready(server)
        cutter = Cutter(parts.free_port(), world.port)
        agents = [world.agent(f"agent-{n}", parts.PROTOCOLS[n % 2], region=f"r{n}", port=cutter.port).start()
                  for n in range(torture.REGIONS)]
        clients = torture.clients_of(parts, world, build, seed, PAUSE_MS, FILLER)
        sampled = [Samples(p) for p in (server, *agents)]
        folder = torture.ROOT / "build/soak"
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        with open(folder / "samples.csv", "w", encoding="utf-8") as table:
            print("process,measure,seconds,value", file=table)
            while time.monotonic() < begin + seconds and clients.poll() is None:
                time.sleep(SAMPLE_SECONDS)
                for samples in sampled:
                    samples.take(time.monotonic() - begin, table)
        print(f"seed {seed}: {seconds:.0f} s, connections of agents cut: {cutter.cuts}", flush=True)
        failed = clients.rest(300 * parts.PATIENCE) != 0
        print(f"      {'':<8} {'':<12}" + "".join(f"{h:>10}" for h in ("first", "last", "rise", "bound")) +
              "   (memory in MiB; medians of the first and the last third after the warm-up)")
        for samples in sampled:
            failed |= not samples.show()
        for process in (*agents, server):
            if process.stop() != 0:
                failed = True
                print(f"FAIL  {process.name} did not end well: {process.tail()}")
    finally:
        world.close(failed)
    print("FAIL" if failed else "PASS")
    return failed


def main():
    parser = argparse.ArgumentParser(description="a server and agents under steady change for a long time")
    parser.add_argument("--build", type=Path, default=torture.ROOT / "build/release")
    arguments = parser.parse_args()
    os.environ["DAVIT_STAGE"] = str(arguments.build / "stage")
    import parts  # after the stage is known

    seconds = float(os.environ.get("DAVIT_SOAK_SECONDS", "1200"))
    return soak(parts, arguments.build.resolve(), seconds, random.SystemRandom().randrange(1_000_000))


if __name__ == "__main__":
    sys.exit(main())
