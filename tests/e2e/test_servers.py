"""Several servers in front of one PostgreSQL: agents and operators come to any of them, and any may end at any moment.

DAVIT_SEED repeats a plan. DAVIT_LONG=1: more rounds, and ten minutes of outage.
"""

import json
import os
import random
import threading
import time
import unittest

from balancer import Balancer
from parts import PATIENCE, Case, deployment, free_port, metrics, wait_until
from postgres import Postgres

LONG = os.environ.get("DAVIT_LONG") == "1"
REGIONS = ("eu-1", "eu-2", "us-1")
RECORDS = 5  # of each region
ROUNDS = 20 if LONG else 4
OUTAGE_S = 600 if LONG else 5
STOP_DELAY_MS = 1500  # many times what the balancer needs


class Server:
    """One of several servers. Each has an address of its own, for agents, for operators and for its health."""

    def __init__(self, world, name, store):
        world.port, world.socket = self.port, self.socket = free_port(), world.folder / f"{name}.sock"
        self.process = world.server(name, REGIONS, store=store)
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
    DISK_MIB, SETTINGS = None, {}

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("DAVIT_SEED", random.randrange(1 << 30)))
        print(f"DAVIT_SEED={self.seed}", flush=True)
        self.database = Postgres(disk_mib=self.DISK_MIB, **self.SETTINGS)
        self.addCleanup(self.database.close)
        store = self.database.settings("davit")
        self.servers = [Server(self.world, name, store) for name in ("one", "two")]
        for server in self.servers:
            self.start(server)
        self.balancer = Balancer([(s.port, s.health) for s in self.servers])
        self.addCleanup(self.balancer.close)
        wait_until("the balancer sees both", lambda: len(self.balancer.ready) == 2)
        self.health = {}
        self.agents = [self.agent(region) for region in REGIONS]

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
        heard = [json.loads(line) for line in self.watch.text().splitlines() if line.startswith("{")]
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


class Several(Servers):
    def test_a_change_at_one_is_at_the_agents_of_the_other(self):
        one, two = self.servers
        near = self.world.agent("agent-near", region="us-1", port=one.port).start()
        for number, server in enumerate((one, two, one)):
            self.world.socket = server.socket
            self.world.apply([deployment(number, region=REGIONS[number])], "--wait")
            other = two if server is one else one
            self.world.socket = other.socket
            self.world.wait_running({f"d_{n}" for n in range(number + 1)})
        self.check_clean_end(near, *self.agents, one.process, two.process)

    def test_no_stream_misses_a_change_when_a_server_ends_under_load(self):
        load = self.load()
        dice = random.Random(self.seed)
        for round_ in range(ROUNDS):
            server = self.servers[dice.randrange(2)]
            said, refused = load.said, self.balancer.refused
            if round_ % 2 == 0:
                self.assertEqual(server.process.stop(60), 0, server.process.tail())
                # The balancer had the time to notice: nobody was sent to a server that takes no connections.
                self.assertEqual(self.balancer.refused, refused)
            else:
                server.process.kill()
            wait_until("the other one goes on", lambda said=said: load.error or load.said >= said + 10, 90)
            self.start(server)
            wait_until("the balancer sees both", lambda: len(self.balancer.ready) == 2)
        load.end()
        print(f"{load.said} requests, {ROUNDS} ends of a server", flush=True)
        self.check_equal(load)
        self.check_streams()
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


class Database(Servers):
    """The database ends and comes back while two servers and their agents work."""

    def test_a_database_that_is_killed_under_load_loses_nothing(self):
        load = self.load()
        for _ in range(ROUNDS // 2):
            said = load.said
            self.database.kill()
            self.database.start()
            wait_until("it goes on", lambda said=said: load.error or load.said >= said + 10, 90)
        load.end()
        self.check_equal(load)
        self.assertGreaterEqual(int(self.database.sql("SELECT count(*) FROM davit.incarnations")), 1 + ROUNDS // 2)
        self.check_streams()
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))

    def test_an_outage_is_shown_and_costs_nothing(self):
        load = self.load()
        load.end()
        deletes = {r: metrics(p).get("davit_applier_deletes_total", 0) for r, p in self.health.items()}
        self.database.kill()
        wait_until("no server is ready", lambda: not self.balancer.ready)
        code, _, why = self.world.davit("apply", "-f", "-", stdin=json.dumps(deployment(99, region=REGIONS[0])),
                                        check=False)
        self.assertNotEqual(code, 0)
        self.assertIn("the database cannot be reached", why)
        self.assertNotIn(str(self.database.folder), why)
        time.sleep(OUTAGE_S)
        self.database.start()
        wait_until("both servers are ready", lambda: len(self.balancer.ready) == 2, 90)
        load.change(98, REGIONS[0], "after")
        self.check_equal(load)
        self.check_streams()
        for region, port in self.health.items():
            self.assertEqual(metrics(port).get("davit_applier_deletes_total", 0), deletes[region])
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


@unittest.skipIf(os.getuid() != 0, "only root may make a file system for the database")
class FullDisk(Servers):
    DISK_MIB, SETTINGS = 160, {"max_wal_size": "64MB", "min_wal_size": "32MB"}

    def test_a_full_disk_takes_nothing_and_loses_nothing(self):
        load = self.load()
        filler = self.database.fill_disk()
        wait_until("a server takes no writes", lambda: any("takes no writes" in s.process.text() for s in self.servers))
        # The operator goes on asking, and is told why.
        document = json.dumps(deployment(99, region=REGIONS[0], image="registry.example/" + "x" * 200_000))
        why = wait_until("an operator is told", lambda: self.world.davit("apply", "-f", "-", stdin=document,
                                                                         check=False)[2])
        self.assertIn("the server's disk is full", why)
        self.assertEqual(len(self.balancer.ready), 2, "reads go on")
        time.sleep(OUTAGE_S)
        filler.unlink()
        said = load.said
        wait_until("it goes on", lambda: load.error or load.said >= said + 10, 90)
        wait_until("both say so", lambda: all("database works again" in s.process.text() for s in self.servers), 60)
        load.end()
        self.check_equal(load)
        self.check_streams()
        for server in self.servers:
            self.assertLess(server.process.text().count("takes no writes"), 4, server.process.tail(60))
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


if __name__ == "__main__":
    unittest.main(verbosity=2)
