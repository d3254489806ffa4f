#!/usr/bin/env python3
"""Kills a server under load again and again, and lets server-torture judge what its clients were told.

`torture.py --build DIR`: DAVIT_TORTURE_SECONDS (20) of it, and until DAVIT_TORTURE_COMMITS (0) were acknowledged,
with the seed DAVIT_TORTURE_SEED (a random one, printed). --several: of two servers on one PostgreSQL, with intents, and
then with a storage that must lose. README.md says what is checked.
"""

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

REGIONS = 3
NAMES = 60  # of each kind and region; a few of them are written very often
PAUSE_MS = 40  # of a writer at most, between two calls
FILLER = 4000  # bytes in a deployment: a region's snapshot has several pages (of 128 KiB)
LIFE_SECONDS = (0.02, 3.0)  # of a server, from the moment its operators are answered
LIFE_SECONDS_BY_COUNT = (0.02, 10.0)  # the same in a run that counts commits, so that it comes to an end
KILLED_AT_START = 0.2  # share of the servers whose life counts from their birth
WRITERS = 64  # at several servers
TELL_SECONDS = 60  # how often a long run says how far it is
LOST = 3  # server-torture's exit code
# The storage that must lose (storage_sequence/). It does in each run of this length; then it has not missed its chance.
SEQUENCE_SECONDS = 4
SEQUENCE_RUNS_MAX = 5
# Its versions have gaps: those of a commit begin at a multiple of this.
SEQUENCE = "CREATE SEQUENCE public.versions START 1000 INCREMENT 1000"

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
INTENTS = """
[plugin.intents]
module = "intents"
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


class Clients:
    """server-torture. What it prints is shown, but for how far it is."""

    def __init__(self, argv, before, shows):
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=before)
        self.commits, self.lines, self.shows = 0, [], shows
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("commits "):
                self.commits = int(line.split()[1])
                continue
            self.lines.append(line.rstrip())
            if self.shows:
                print(line, end="", flush=True)

    def poll(self):
        return self.process.poll()

    def rest(self, seconds):
        """Tells them to come to rest and judge; returns their exit code."""
        try:
            try:
                self.process.stdin.write("rest\n")
                self.process.stdin.close()
            except BrokenPipeError:
                pass  # they have ended
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            print(f"the clients did not come to an end in {seconds} s")
        self.reader.join()
        return self.process.returncode


class Servers:
    """Those that clients come to: one on SQLite, or two on one PostgreSQL."""

    def __init__(self, parts, build, count, store=None, extra=""):
        self.parts, self.world, self.all = parts, parts.World(log_level="warn"), []
        for n in range(count):
            self.world.port, self.world.socket = parts.free_port(), self.world.folder / f"s{n}.sock"
            server = self.world.server(f"s{n}", regions=[f"r{n}" for n in range(REGIONS)], store=store)
            overlay = SERVER.format(plugins=build / "tests/torture") + extra
            server.argv.append(str(self.world.write(f"torture{n}.toml", overlay)))
            self.all.append((server, self.world.port, self.world.socket))

    def start(self, n, wait=True):
        server, _, self.world.socket = self.all[n]
        server.start()
        if wait:
            self.world.wait_ready(server)

    def clients(self, build, seed, database, writers=6, pause_ms=PAUSE_MS, filler=FILLER, shows=True):
        """server-torture on all of them."""
        return clients_of(self.parts, self.world, build, seed, pause_ms, filler,
                          ",".join(f"127.0.0.1:{port}" for _, port, _ in self.all),
                          ",".join(str(socket) for _, _, socket in self.all), database, writers, shows)

    def kill_some(self, clients, seconds, commits, moments):
        """Until the time is over and so many commits were acknowledged, or the clients have found something. Returns
        how many were killed."""
        purge = Purge(self.world)
        begin, kills, told = time.monotonic(), 0, time.monotonic()
        while clients.poll() is None and (time.monotonic() < begin + seconds or clients.commits < commits):
            time.sleep(moments.uniform(*(LIFE_SECONDS_BY_COUNT if commits else LIFE_SECONDS)))
            if moments.random() < 0.3:
                purge()
            n = moments.randrange(len(self.all))
            server = self.all[n][0]
            if not server.alive():
                raise AssertionError(f"the server ended by itself: {server.tail()}")
            server.kill()
            kills += 1
            if time.monotonic() > told + TELL_SECONDS:
                told = time.monotonic()
                print(f"{clients.commits} commits after {told - begin:.0f} s", flush=True)
            self.start(n, moments.random() > KILLED_AT_START)
        for n, (server, _, self.world.socket) in enumerate(self.all):
            self.world.wait_ready(server)
        print(f"{kills} kills in {time.monotonic() - begin:.0f} s; {purge}", flush=True)
        return kills

    def ended_well(self):
        for server, _, _ in self.all:
            if server.stop(60) != 0:
                print(f"a server did not end well: {server.tail()}")
                return False
        return True


def torture(parts, build, seconds, commits, seed, database=None, module="storage_postgres", right=0):
    """One server on SQLite, or two on the PostgreSQL `database`, until they have run for that long and acknowledged so
    many commits. The clients should end with the code `right`. Returns whether all is so, and their last line."""
    store = database and database.settings("davit").replace("storage_postgres", module)
    servers = Servers(parts, build, 2 if database else 1, store, INTENTS if database else "")
    well = False
    try:
        for n in range(len(servers.all)):
            servers.start(n)
        place = f"host={database.folder} user=davit dbname=postgres" if database else servers.world.store.path
        clients = servers.clients(build, seed, place, WRITERS if database else 6, 0 if database else PAUSE_MS,
                                  400 if database else FILLER, right == 0)
        kills = servers.kill_some(clients, seconds, commits, random.Random(seed))
        code = clients.rest(300 * parts.PATIENCE)
        well = servers.ended_well() and code == right and kills > 0
    finally:
        servers.world.close(not well)
    if not well and right != 0:
        print("\n".join(clients.lines), flush=True)
    return well, clients.lines[-1] if clients.lines else "nothing was judged"


def several(parts, build, seconds, commits, seed):
    """Two servers on one PostgreSQL: ours lose nothing, and those whose numbers come from a sequence do. Returns
    whether it is so."""
    ours, said = on_postgres(parts, build, seconds, commits, seed, "storage_postgres", 0)
    verdicts = [("storage_postgres", ours, said)]
    for n in range(SEQUENCE_RUNS_MAX):
        loses, said = on_postgres(parts, build, SEQUENCE_SECONDS, 0, seed + n, "storage_sequence", LOST)
        if loses:
            break
    verdicts.append(("storage_sequence, which must lose", loses, said))
    for name, well, said in verdicts:
        print(f"{'PASS' if well else 'FAIL'}  {name}: {said}", flush=True)
    return ours and loses


def on_postgres(parts, build, seconds, commits, seed, module, right):
    """torture() on a PostgreSQL of its own."""
    from postgres import Postgres  # parts must be known
    database = Postgres(max_connections=100)
    try:
        if right == LOST:
            database.sql(SEQUENCE)
        return torture(parts, build, seconds, commits, seed, database, module, right)
    finally:
        database.close()


def clients_of(parts, world, build, seed, pause_ms, filler, servers=None, sockets=None, database=None, writers=6,
               shows=True):
    """server-torture on a world's server, or on several."""
    argv = [build / "tests/torture/server-torture", servers or f"127.0.0.1:{world.port}", world.folder / "agent.token",
            sockets or world.socket, world.store.path if database is None else database, seed, int(parts.PATIENCE),
            REGIONS, NAMES, pause_ms, filler, writers]
    return Clients(argv, parts.die_with_parent, shows)


def main():
    parser = argparse.ArgumentParser(description="kills a server under load and judges what its clients were told")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--several", action="store_true")
    arguments = parser.parse_args()
    os.environ["DAVIT_STAGE"] = str(arguments.build / "stage")
    import parts  # after the stage is known

    seconds = float(os.environ.get("DAVIT_TORTURE_SECONDS", "20"))
    commits = int(os.environ.get("DAVIT_TORTURE_COMMITS", "0"))
    seed = int(os.environ.get("DAVIT_TORTURE_SEED", random.SystemRandom().randrange(1_000_000)))
    build = arguments.build.resolve()
    print(f"seed {seed}", flush=True)
    if arguments.several:
        well = several(parts, build, seconds, commits, seed)
    else:
        well, _ = torture(parts, build, seconds, commits, seed)
    print("PASS" if well else "FAIL")
    return not well


if __name__ == "__main__":
    sys.exit(main())
