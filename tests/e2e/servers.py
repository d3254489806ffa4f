"""Two servers in front of one PostgreSQL, a balancer in front of them, an agent in each of three regions, and an operator
who works without a pause. What the tests of several servers begin with.

DAVIT_SEED repeats a plan. DAVIT_LONG=1: more rounds, and ten minutes of outage.
"""

import json
import os
import random
import threading
import time

from balancer import Balancer
from parts import PATIENCE, Case, deployment, free_port, wait_until
from postgres import Postgres

LONG = os.environ.get("DAVIT_LONG") == "1"
REGIONS = ("eu-1", "eu-2", "us-1")
RECORDS = 5  # of each region
ROUNDS = 20 if LONG else 4
STOP_DELAY_MS = 5000  # many times what the balancer needs, also when a look of it takes two seconds


class Server:
    """One of several servers. Each has an address of its own, for agents, for operators and for its health."""

    def __init__(self, world, name, store, extra=""):
        world.port, world.socket = self.port, self.socket = free_port(), world.folder / f"{name}.sock"
        self.process = world.server(name, REGIONS, extra, store=store)
        self.health = world.with_metrics(self.process, f"stop_delay_ms = {int(STOP_DELAY_MS * PATIENCE)}\n"
                                                       f"stop_timeout_ms = {int(10_000 * PATIENCE)}\n")


class Load(threading.Thread):
    """An operator who changes, deletes and makes records without a pause, each time by another server."""

    def __init__(self, world, servers, seed):
        super().__init__(daemon=True)
        self.world, self.servers, self.dice = world, servers, random.Random(seed)
        self.wanted = {}  # by id: the document; None: deleted. What a server has acknowledged
        self.said = 0     # requests that were acknowledged
        self.over = threading.Event()
        self.error = None

    def ask(self, *arguments, stdin=None):
        """Until a server has done it. What fails may have been done: it is asked for again, which changes nothing."""
        deadline = time.monotonic() + 90 * PATIENCE
        while True:
            server = self.dice.choice(self.servers)
            code, out, why = self.world.davit(*arguments, "--server", f"unix:{server.socket}", stdin=stdin, check=False)
            if code == 0 or "not found" in why:
                return out
            if time.monotonic() > deadline:
                raise AssertionError(f"davit {arguments}: {code} {out} {why}")

    def change(self, number, region, image):
        document = deployment(number, f"shop-{number}", region=region, image=f"registry.example/app:{image}")
        self.ask("apply", "-f", "-", stdin=json.dumps(document))
        self.wanted[document["id"]] = document

    def run(self):
        try:
            while not self.over.is_set():
                number = self.dice.randrange(RECORDS * len(REGIONS))
                region = REGIONS[number % len(REGIONS)]
                if self.dice.random() < 0.15 and self.wanted.get(f"d_{number}"):
                    self.ask("delete", "deployment", f"d_{number}", "--region", region)
                    self.wanted[f"d_{number}"] = None
                else:
                    self.change(number, region, self.said)
                self.said += 1
        except AssertionError as error:
            self.error = error

    def end(self):
        self.over.set()
        self.join()
        if self.error:
            raise self.error


class Servers(Case):
    DISK_MIB, STANDBYS, SETTINGS = None, 0, {}
    EXTRA = ""  # tables of the servers' configuration

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("DAVIT_SEED", random.randrange(1 << 30)))
        print(f"DAVIT_SEED={self.seed}", flush=True)
        self.database = self.make_database()
        self.addCleanup(self.database.close)
        self.standbys = [Postgres(standby_of=self.database) for _ in range(self.STANDBYS)]
        for standby in self.standbys:
            self.addCleanup(standby.close)
        store = self.settings()
        self.servers = [Server(self.world, name, store, self.EXTRA) for name in ("one", "two")]
        for server in self.servers:
            self.start(server)
        self.balancer = Balancer([(s.port, s.health) for s in self.servers])
        self.addCleanup(self.balancer.close)
        wait_until("the balancer sees both", lambda: len(self.balancer.ready) == 2)
        self.health = {}
        self.agents = [self.agent(region) for region in REGIONS]

    def make_database(self):
        return Postgres(disk_mib=self.DISK_MIB, **self.SETTINGS)

    def settings(self):
        return self.database.settings("davit", *self.standbys)

    def start(self, server):
        server.process.start()
        self.world.socket = server.socket
        self.world.wait_ready(server.process)

    def agent(self, region):
        agent = self.world.agent(f"agent-{region}", region=region, port=self.balancer.port)
        self.health[region] = self.world.with_metrics(agent)
        return agent.start()

    def load(self):
        self.watch = self.world.watch("deployment", "-o", "json")
        load = Load(self.world, self.servers, self.seed)
        for number in range(RECORDS * len(REGIONS)):
            load.change(number, REGIONS[number % len(REGIONS)], 0)
        self.world.wait_running(set(load.wanted))
        load.start()
        return load

    def watched(self):
        """What an operator who watches has heard last of each record: its image; None: it was deleted."""
        heard = [json.loads(line) for line in self.watch.lines() if line.startswith("{")]
        return {d["id"]: None if d["state"] == "deleted" else d["spec"]["image"] for d in heard}

    def check_equal(self, load):
        """What was acknowledged is what either server says, and what every agent has made of it."""
        wanted = {i: d and d["spec"]["image"] for i, d in load.wanted.items()}
        wait_until(lambda: f"who watches hears of all: {self.watched()}, not {wanted}; {self.watch.tail()}",
                   lambda: self.watched() == wanted)
        live = {i for i, d in load.wanted.items() if d}
        for server in self.servers:
            self.world.socket = server.socket
            objects = self.world.wait_running(live, seconds=120)
            self.assertEqual(set(objects), live)
            shown = json.loads(self.world.davit("get", "deployment", "-o", "json")[1])
            self.assertEqual({d["id"]: d["spec"]["image"] for d in shown}, {i: wanted[i] for i in live})
            self.world.wait_gone()
            self.assertEqual([a["issues"] for a in self.world.status()["agents"] if a.get("issues")], [])

    def check_streams(self):
        """Each stream went on at its cursor: with another server, too."""
        for agent in self.agents:
            self.assertNotIn("begins with a snapshot", agent.text())
