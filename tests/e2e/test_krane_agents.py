"""Krane agents on our server, call by call as Krane makes them: replayed cursors, cursors that go back to 0, a point
query and a report for each object each minute (here: each second), streams that are left open and not read.

The peers are written with the Connect client library for Node (tests/node/krane_agent.mjs). Classes whose name does not
say Connect speak gRPC. DAVIT_LONG=1: 200 of them.
"""

import os
import signal
import unittest

import parts
from krane import Agents
from parts import Case, deployment, metrics, policy, sentinel, wait_until

LONG = os.environ.get("DAVIT_LONG") == "1"
AGENTS = 200 if LONG else 12
DEPLOYMENTS = 1000
STREAMS_EACH = 3
REGIONS = ("krane-1", "krane-2")
CONNECT = 'transport = "connect"'
QUICK = {"reconnect_min_ms": 50, "reconnect_max_ms": 200}


class ServerCase(Case):
    """Our server, and agents that speak `protocol` to it."""

    protocol, listener = "grpc", 'transport = "grpc"'  # listener: of [rpc.server.main]
    keepalive = ""  # of the same

    def setUp(self):
        super().setUp()
        self.server = self.world.server(regions=REGIONS)
        self.metrics_port = parts.free_port()
        self.server.argv.append(self.world.write("more.toml", f"""
[host]
metrics_listen = "127.0.0.1:{self.metrics_port}"
log_level = "info"
[rpc.server.main]
{self.keepalive}
{self.listener}
"""))
        self.server.start()
        self.world.wait_ready(self.server)

    def agents(self, count=AGENTS, **options):
        agents = Agents(self.world.port, [REGIONS[n % len(REGIONS)] for n in range(count)], protocol=self.protocol,
                        **{**QUICK, **options})
        self.addCleanup(agents.close)
        return agents

    def apply(self, *documents):
        """The same in each region."""
        self.world.apply([{**d, "region": region} for region in REGIONS for d in documents])

    def wait_objects(self, agents, kind, count, seconds=60):
        def all_have():
            found[:] = [c["objects"][kind] for c in agents.counters()]
            return all(n == count for n in found)
        found = []
        wait_until(lambda: f"each has {count} of {kind}: {found}, {agents.failures()}\n{self.server.tail()}",
                   all_have, seconds, pause=0.5)

    def streams(self):
        return metrics(self.metrics_port)["davit_streamer_streams"]

    def wait_streams(self, count, seconds=30):
        wait_until(lambda: f"{count} streams, not {self.streams()}\n{self.server.tail()}",
                   lambda: self.streams() == count, seconds)

    def check_end(self, agents):
        self.assertEqual(agents.failures(), {})
        agents.end()
        self.wait_streams(0)
        self.check_clean_end(self.server)


class OnServer(ServerCase):
    def test_bootstrap_changes_and_reports(self):
        documents = [deployment(n) for n in range(DEPLOYMENTS)]
        self.apply(*documents, sentinel(1), policy(1))
        agents = self.agents()
        self.wait_objects(agents, "deployment", DEPLOYMENTS, 600 if LONG else 120)
        self.wait_objects(agents, "sentinel", 1)
        self.wait_objects(agents, "cilium_network_policy", 1)
        self.assertEqual(self.streams(), STREAMS_EACH * AGENTS)

        changed = [deployment(n, image="registry.example/app:2", replicas=3) for n in range(20)]
        self.apply(*changed, deployment(5000))
        for document in documents[-10:]:
            for region in REGIONS:
                self.world.delete("deployment", document["id"], region)
        count = DEPLOYMENTS + 1 - 10

        def changes_are_there():
            at = [agents.objects(n)["deployment"] for n in range(0, AGENTS, max(1, AGENTS // 4))]
            return all(objects[f"shop/app-{n}"]["image"].endswith(":2") for objects in at for n in range(20))
        wait_until(lambda: f"the changes are there; {agents.failures()}", changes_are_there, 60)
        self.wait_objects(agents, "deployment", count)

        seen = [o for o in self.world.status()["objects"] if o["kind"] == "deployment"]
        pods = {(o["region"], o["id"]): len(o.get("observed", {}).get("children", [])) for o in seen if o.get("live")}
        self.assertEqual(pods, {(region, f"d_{n}"): 3 if n < 20 else 1 for region in REGIONS
                                for n in (*range(DEPLOYMENTS - 10), 5000)})
        self.assertEqual({(a["agent"], a["region"]) for a in self.world.status()["agents"]},
                         {(f"aws/{region}", region) for region in REGIONS})
        self.check_end(agents)

    def test_what_they_would_refuse_is_held_and_shown(self):
        """Krane's agent wants a pod at least, and stops at what it refuses."""
        self.apply(deployment(1, replicas=0), deployment(2), sentinel(1, replicas=0))
        agents = self.agents()
        self.wait_objects(agents, "deployment", 1)
        self.wait_objects(agents, "sentinel", 1)

        def conditions():
            return {(o["region"], o["id"]): (o.get("condition", ""), o.get("reason", "")[:40])
                    for o in self.world.status()["objects"]}
        why = "not sent on ctrl.v1: replicas: no pods cannot be said"[:40]
        wait_until(lambda: f"it is shown: {conditions()}", lambda: conditions() == {
            **{(region, "d_1"): ("held", why) for region in REGIONS},
            **{(region, key): ("", "") for region in REGIONS for key in ("d_2", "s_1")}})
        self.apply(deployment(1, replicas=2))
        self.wait_objects(agents, "deployment", 2)
        self.check_end(agents)

    def test_a_query_and_a_report_for_each_object_again_and_again(self):
        self.apply(*(deployment(n) for n in range(50)), sentinel(1), policy(1))
        agents = self.agents(resync_ms=1000)
        self.wait_objects(agents, "deployment", 50)
        wait_until("each has asked for each five times", lambda: all(
            c["queries"] > 5 * 52 for c in agents.counters()), 120)
        self.assertEqual((agents.total("not_found"), agents.failures()), (0, {}))
        # A record that is gone is told of by the query, too, when it comes before the stream's message.
        for region in REGIONS:
            self.world.delete("deployment", "d_7", region)
        self.wait_objects(agents, "deployment", 49)
        self.check_end(agents)

    def test_cursors_that_go_back_to_nothing(self):
        self.apply(*(deployment(n) for n in range(100)))
        for region in REGIONS:
            self.world.delete("deployment", "d_9", region)
        agents = self.agents(reset_ms=1000)
        wait_until("each has begun anew thrice", lambda: all(c["resets"] >= 3 for c in agents.counters()), 60)
        self.wait_objects(agents, "deployment", 99)
        wait_until("each time they are told all", lambda: agents.total("messages") > 3 * AGENTS * 99, 60)
        # A stream that was given up by its agent is no more.
        wait_until(lambda: f"{self.streams()} streams", lambda: self.streams() <= STREAMS_EACH * AGENTS)
        agents.end()
        self.wait_streams(0)
        self.check_clean_end(self.server)

    def test_restarts_of_the_server(self):
        self.apply(*(deployment(n) for n in range(100)))
        agents = self.agents()
        self.wait_objects(agents, "deployment", 100)
        before = agents.total("messages")
        for turn in range(3):
            self.server.kill()
            self.server.start()
            self.world.wait_ready(self.server)
            self.apply(deployment(1000 + turn))
            self.wait_objects(agents, "deployment", 101 + turn)
        # Cursors that are replayed are answered with what is new.
        counters = agents.counters()
        again = sum(c["abandoned"] for c in counters)  # the report of such a message met the restart
        self.assertEqual(sum(c["messages"] for c in counters), before + 3 * AGENTS + again)
        agents.end()
        self.check_clean_end(self.server)


class StandingStill(ServerCase):
    """A process that is stopped: its connections are open, and nothing answers."""

    keepalive = "keepalive_interval_ms = 1000\nkeepalive_timeout_ms = 1000"

    def test_agents_that_stand_still_are_found_and_come_back(self):
        self.apply(*(deployment(n) for n in range(10)))
        agents = self.agents()
        self.wait_objects(agents, "deployment", 10)
        self.wait_streams(STREAMS_EACH * AGENTS)
        agents.process.send_signal(signal.SIGSTOP)
        self.wait_streams(0, 60)
        agents.process.send_signal(signal.SIGCONT)
        self.apply(deployment(100))
        self.wait_objects(agents, "deployment", 11)
        self.wait_streams(STREAMS_EACH * AGENTS)
        agents.end()
        self.check_clean_end(self.server)


class Abandoned(ServerCase):
    """Streams that are left open: their connection lives and answers, and nobody reads them."""

    def test_they_are_found_and_ended(self):
        self.apply(*(deployment(n) for n in range(500)))
        agents = self.agents(4, abandon_every=25)
        wait_until("streams were abandoned", lambda: agents.total("abandoned") >= 4 * 10, 60)
        self.wait_objects(agents, "deployment", 500)
        self.wait_streams(STREAMS_EACH * 4, 120)
        # Those that are read go on.
        self.apply(deployment(1000))
        self.wait_objects(agents, "deployment", 501)
        agents.end()
        self.wait_streams(0)
        self.check_clean_end(self.server)


class OnServerConnect(OnServer):
    protocol, listener = "connect", CONNECT


class StandingStillConnect(StandingStill):
    protocol, listener = "connect", CONNECT


class AbandonedConnect(Abandoned):
    protocol, listener = "connect", CONNECT


if __name__ == "__main__":
    unittest.main(verbosity=2)
