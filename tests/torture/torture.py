#!/usr/bin/env python3
"""Kills a server under load again and again, and lets server-torture judge what its clients were told.

`torture.py --build DIR`: DAVIT_TORTURE_SECONDS (20) of it, with the seed DAVIT_TORTURE_SEED (a random one, printed).
README.md says what is checked.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

REGIONS = 3
NAMES = 60  # of each kind and region; a few of them are written very often
PAUSE_MS = 40  # of a writer at most, between two calls
FILLER = 4000  # bytes in a deployment: a region's snapshot has several pages (of 128 KiB)
LIFE_SECONDS = (0.02, 3.0)  # of a server, from the moment its operators are answered
KILLED_AT_START = 0.2  # share of the servers whose life counts from their birth

# Little memory for recent changes, so that whoever is slow reads the store. Bookmarks tell idle readers how far they
# are.
SERVER = """
[host]
plugin_dirs = ["{plugins}"]
[plugin.streamer]
ring_bytes_max = 131072
bookmark_interval_ms = 300
ctrl_bookmarks = true
[plugin.purger]
module = "torture_purger"
storage = "main"
"""


class Purge:
    """`davit storage maintain`, as an operator has it; the plugin torture_purger purges at all other times."""

    def __init__(self, world):
        self.world, self.count, self.error = world, 0, ""

    def __call__(self):
        code, _, error = self.world.davit("storage", "maintain", check=False)
        self.count += code == 0
        self.error = self.error if code == 0 else error.strip()

    def __str__(self):
        return f"{self.count} purges by an operator" + (f", refused: {self.error}" if self.error else "")


def torture(parts, build, seconds, seed):
    moments = random.Random(seed)
    world = parts.World(log_level="warn")
    server = world.server(regions=[f"r{n}" for n in range(REGIONS)])
    server.argv.append(str(world.write("torture.toml", SERVER.format(plugins=build / "tests/torture"))))
    failed = True
    try:
        server.start()
        world.wait_ready(server)
        purge = Purge(world)
        clients = start_clients(parts, world, build, seed, PAUSE_MS, FILLER)
        kills = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end and clients.poll() is None:
            time.sleep(moments.uniform(*LIFE_SECONDS))
            if moments.random() < 0.3:
                purge()
            if not server.alive():
                raise AssertionError(f"the server ended by itself: {server.tail()}")
            server.kill()
            kills += 1
            server.start()
            if moments.random() > KILLED_AT_START:
                world.wait_ready(server)
        world.wait_ready(server)
        print(f"seed {seed}: {kills} kills in {seconds:.0f} s; {purge}", flush=True)
        code = rest(clients, 300 * parts.PATIENCE)
        failed = code != 0 or kills == 0
        if server.stop() != 0:
            failed = True
            print(f"the server did not end well: {server.tail()}")
    finally:
        world.close(failed)
    print("FAIL" if failed else "PASS")
    return failed


def start_clients(parts, world, build, seed, pause_ms, filler):
    """server-torture on a world's server."""
    argv = [build / "tests/torture/server-torture", f"127.0.0.1:{world.port}", world.folder / "agent.token", world.socket,
            world.database, seed, int(parts.PATIENCE), REGIONS, NAMES, pause_ms, filler]
    return subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, text=True,
                            preexec_fn=parts.die_with_parent)


def rest(clients, seconds):
    """Tells the clients to come to rest and judge; returns their exit code."""
    try:
        clients.communicate("rest\n", timeout=seconds)
    except subprocess.TimeoutExpired:
        clients.kill()
        clients.wait()
        print(f"the clients did not come to an end in {seconds} s")
    return clients.returncode


def main():
    parser = argparse.ArgumentParser(description="kills a server under load and judges what its clients were told")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    os.environ["DAVIT_STAGE"] = str(arguments.build / "stage")
    import parts  # after the stage is known

    seconds = float(os.environ.get("DAVIT_TORTURE_SECONDS", "20"))
    seed = int(os.environ.get("DAVIT_TORTURE_SEED", random.SystemRandom().randrange(1_000_000)))
    return torture(parts, arguments.build.resolve(), seconds, seed)


if __name__ == "__main__":
    sys.exit(main())
