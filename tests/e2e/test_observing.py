"""What operators see of a running server: changes as they come, metrics, readiness; and the purge of tombstones."""

import json
import re
import signal
import socket
import time
import unittest

from parts import REGION, Case, deployment, get, policy, wait_until
from stores import on_a_file


class Scrape:
    """The metrics of one process at one moment."""

    SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
    LABEL = re.compile(r'([a-z_]+)="([^"]*)"')

    def __init__(self, port):
        self.samples = {}
        for line in get(port, "/metrics")[1].splitlines():
            if match := self.SAMPLE.match(line):
                labels = frozenset(self.LABEL.findall(match[2] or ""))
                self.samples[match[1], labels] = float(match[3])

    def value(self, name, **labels):
        """None when it is not there."""
        return self.samples.get((name, frozenset(labels.items())))

    def names(self):
        return {name for name, labels in self.samples}


class Observed(Case):
    def start_server(self, extra="", host=""):
        server = self.world.server()
        self.metrics_port = self.world.with_metrics(server, host + extra)
        server.start()
        self.world.wait_ready(server)
        return server

    def scrape(self):
        return Scrape(self.metrics_port)


class Watching(Observed):
    """davit get --watch."""

    def wait_lines(self, process, count):
        return wait_until(lambda: f"{count} lines of {process.text()}",
                          lambda: len(process.text().splitlines()) >= count and process.text().splitlines())

    def test_prints_what_is_there_and_each_change(self):
        server = self.start_server()
        self.world.apply([deployment(1), deployment(2), policy(1)])
        watch = self.world.watch("deployment", "-o", "json")
        documents = [json.loads(line) for line in self.wait_lines(watch, 2)]
        self.assertEqual([(d["id"], d["state"]) for d in documents], [("d_1", "running"), ("d_2", "running")])
        self.world.apply([deployment(2, replicas=7)])
        self.assertEqual(json.loads(self.wait_lines(watch, 3)[2])["spec"]["replicas"], 7)
        self.world.apply([{**deployment(1), "state": "archived"}])
        self.assertEqual(json.loads(self.wait_lines(watch, 4)[3])["state"], "archived")
        self.world.delete("deployment", "d_2")
        self.assertEqual(json.loads(self.wait_lines(watch, 5)[4])["state"], "deleted")
        self.world.apply([policy(2)])
        self.world.apply([deployment(3)])
        lines = self.wait_lines(watch, 6)
        self.assertEqual([json.loads(line)["id"] for line in lines[5:]], ["d_3"], "a policy is no deployment")
        self.check_clean_end(server)

    def test_table_has_one_heading_and_goes_on_below_it(self):
        server = self.start_server()
        self.world.apply([deployment(1)])
        watch = self.world.watch()
        self.wait_lines(watch, 2)
        self.world.delete("deployment", "d_1")
        lines = self.wait_lines(watch, 3)
        self.assertRegex(lines[0], r"^KIND +ID +REGION")
        self.assertRegex(lines[1], r"^deployment +d_1 +\S+ .*running")
        self.assertRegex(lines[2], r"^deployment +d_1 +\S+ .*deleted")
        self.check_clean_end(server)

    def documents(self, watch):
        return [(d["id"], d["state"]) for d in map(json.loads, filter(lambda line: line.startswith("{"), watch.lines()))]

    def wait_documents(self, watch, expected):
        wait_until(lambda: f"{expected} of {watch.text()}", lambda: len(self.documents(watch)) >= len(expected))
        self.assertEqual(self.documents(watch), expected)

    def wait_line(self, watch, line):
        wait_until(lambda: f"{line} in {watch.text()}", lambda: re.search(line, watch.text(), re.M))

    def test_goes_on_after_its_server_was_away(self):
        server = self.start_server()
        self.world.apply([deployment(1), deployment(2), deployment(3)])
        self.world.delete("deployment", "d_3")
        watch = self.world.watch("deployment", "-o", "json")
        expected = [("d_1", "running"), ("d_2", "running")]
        self.wait_documents(watch, expected)
        # An open watch does not hold the server up.
        self.check_clean_end(server)
        self.wait_line(watch, r"^davit get: server unix:\S+ has ended the stream: the server is shutting down; "
                              r"connecting again$")
        # What happens before the watch is back is not lost, and what it has printed does not come again.
        watch.process.send_signal(signal.SIGSTOP)
        server.start()
        self.world.wait_ready(server)
        self.world.apply([{**deployment(1), "state": "archived"}])
        self.world.delete("deployment", "d_2")
        watch.process.send_signal(signal.SIGCONT)
        expected += [("d_1", "archived"), ("d_2", "deleted")]
        self.wait_documents(watch, expected)
        self.wait_line(watch, "^davit get: connected again$")
        self.world.apply([deployment(4)])
        self.wait_documents(watch, expected + [("d_4", "running")])
        self.assertEqual(len(re.findall("connecting again", watch.text())), 1, watch.text())
        self.check_clean_end(server)

    def test_says_what_a_store_has_lost_meanwhile(self):
        server = self.start_server()
        self.world.apply([deployment(1)])
        watch = self.world.watch("-o", "json")
        self.wait_documents(watch, [("d_1", "running")])
        server.kill()
        self.wait_line(watch, r"^davit get: server unix:\S+ has ended the stream.*; connecting again$")
        self.world.store.empty()
        server.start()
        self.wait_documents(watch, [("d_1", "running"), ("d_1", "absent")])
        self.world.apply([deployment(1)])
        self.wait_documents(watch, [("d_1", "running"), ("d_1", "absent"), ("d_1", "running")])
        self.check_clean_end(server)

    def test_ends_at_its_timeout_though_the_server_is_away(self):
        server = self.start_server()
        self.world.apply([deployment(1)])
        watch = self.world.watch("--timeout", "10s")
        self.wait_lines(watch, 2)
        server.kill()
        wait_until("the watch ends", lambda: not watch.alive())
        self.assertEqual(watch.process.returncode, 6)

    def test_interrupt_ends_it(self):
        self.start_server()
        watch = self.world.watch()
        self.world.apply([deployment(1)])
        self.wait_lines(watch, 2)
        watch.process.send_signal(signal.SIGINT)
        wait_until("the watch ends", lambda: not watch.alive())
        self.assertEqual(watch.process.returncode, -signal.SIGINT)  # 130 in a shell

    def test_what_is_mistyped_is_said_so(self):
        self.start_server()
        for words, expected, said in ((("deploymnt",), 4, "is not known to this server"),
                                      (("deployment", "d_404"), 5, 'no deployment "d_404" in any region')):
            code, out, err = self.world.davit("get", *words, "--watch", check=False)
            self.assertEqual((code, out), (expected, ""), err)
            self.assertIn(said, err)


LIVE_MS = 3000
RING_BYTES = 65536
IMPATIENT = f"""
[rpc.server.main]
keepalive_interval_ms = 1000
keepalive_timeout_ms = 1000
[plugin.desired]
agent_live_ms = {LIVE_MS}
[plugin.streamer]
ring_bytes_max = {RING_BYTES}
"""


class Maintenance(Observed):
    """davit storage maintain."""

    def maintain(self, *options):
        return json.loads(self.world.davit("storage", "maintain", "-o", "json", *options)[1])

    def test_says_what_it_does_and_what_holds_the_rest(self):
        server = self.start_server()
        self.assertEqual(self.world.davit("storage", "maintain")[1],
                         "nothing to purge; the purge mark is 0; no tombstone is left\n")
        self.world.apply([deployment(1), deployment(2)])
        self.world.delete("deployment", "d_1")
        out = self.world.davit("storage", "maintain")[1]
        self.assertRegex(out, r"^nothing to purge; the purge mark is 0\nkept from version 3 on, deleted \d+s ago: "
                              r"it is younger than the retention\n$")
        out = self.world.davit("storage", "maintain", "--retention", "0s", "--dry-run")[1]
        self.assertEqual(out, "would purge 1 tombstone; the purge mark would be 3; no tombstone is left\n")
        out = self.world.davit("storage", "maintain", "--retention", "0s")[1]
        self.assertEqual(out, "purged 1 tombstone; the purge mark is 3; no tombstone is left\n")
        self.assertEqual(self.scrape().value("davit_desired_purged_through_version"), 3)
        self.assertEqual(self.scrape().value("davit_desired_tombstones_purged_total"), 1)
        # What was purged can be applied again.
        self.assertRegex(self.world.apply([deployment(1)]), "created")
        for bad in (["maintain", "--retention", "soon"], ["mantain"], []):
            self.assertEqual(self.world.davit("storage", *bad, check=False)[0], 2)
        self.check_clean_end(server)

    def test_never_passes_a_live_agent_and_an_absent_one_recovers(self):
        server = self.start_server(IMPATIENT)
        agent = self.world.agent()
        agent_port = self.world.with_metrics(agent)
        agent.start()
        self.world.apply([deployment(n) for n in range(6)])
        self.world.wait_running([f"d_{n}" for n in range(6)])
        # It stops, and does not hear of anything from now on.
        agent.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "its streams end", lambda: self.scrape().value("davit_streamer_streams") == 0, 60)
        for n in range(3):
            self.world.delete("deployment", f"d_{n}")
        self.world.apply([deployment(3, replicas=3)])
        # One change that leaves no room for others in the memory of the streams: who comes back asks the store.
        large = policy(1)
        large["spec"]["policy"]["spec"]["endpointSelector"]["matchLabels"] = {
            f"label-{n}": "v" * 60 for n in range(RING_BYTES // 60)}
        self.world.apply([large])

        # As long as it counts as live, it holds its own tombstones.
        held = self.maintain("--retention", "0s", "--dry-run")
        if int(held["tombstones"]) == 0:  # unless this machine took longer than it may be silent
            self.assertEqual((held["held_by"], held["agent"], held["region"]), ("agent", "agent", REGION))
        purged = wait_until("all three are purged", lambda: self.purge_all(3))
        self.assertGreaterEqual(int(purged["purged_through"]), 9)

        agent.process.send_signal(signal.SIGCONT)
        seen = self.world.wait_running(["d_3", "d_4", "d_5"])
        self.assertEqual(set(seen), {"d_3", "d_4", "d_5"})
        self.assertEqual(int(seen["d_3"]["observed"]["ready"]), 3)
        # Nothing is left in the cluster: the three were removed, and nothing is orphaned.
        wait_until(lambda: f"three deletes; {agent.tail()}",
                   lambda: Scrape(agent_port).value("davit_applier_deletes_total") >= 3)
        self.assertEqual([i for a in self.world.status()["agents"] for i in a.get("issues", [])], [])
        self.assertRegex(agent.text(), "the server refuses the position.*below the purge mark")
        self.check_clean_end(agent, server)

    def test_a_live_agent_lets_go_of_what_it_has_applied(self):
        server = self.start_server()
        agent = self.world.agent().start()
        self.world.apply([deployment(1), deployment(2)])
        self.world.wait_running(["d_1", "d_2"])
        self.world.delete("deployment", "d_1")
        wait_until(lambda: f"purged; {self.maintain('--retention', '0s', '--dry-run')}", lambda: self.purge_all(1))
        self.assertEqual(set(self.world.wait_running(["d_2"])), {"d_2"})
        self.check_clean_end(agent, server)

    def purge_all(self, count):
        """The answer once all are gone."""
        self.purged = getattr(self, "purged", 0)
        answer = self.maintain("--retention", "0s")
        self.purged += int(answer["tombstones"])
        return self.purged == count and answer

    def test_forgets_an_agent_when_another_is_in_its_place(self):
        server = self.start_server("[plugin.desired]\nagent_retention_ms = 0\n")
        self.world.apply([deployment(1)])
        first = self.world.agent("first").start()
        self.world.wait_running(["d_1"])
        self.check_clean_end(first)
        self.assertEqual(int(self.maintain()["agents_forgotten"]), 0, "nobody is in its place")
        second = self.world.agent("second").start()
        wait_until("the second is heard of", lambda: len(self.world.status()["agents"]) == 2)
        self.assertRegex(self.world.davit("storage", "maintain", "--dry-run")[1], "^would forget 1 agent, which is long")
        self.assertEqual(int(self.maintain()["agents_forgotten"]), 1)
        self.assertEqual([a["agent"] for a in self.world.status()["agents"]], ["second"])
        self.check_clean_end(second, server)

    def test_a_timer_does_it_too(self):
        server = self.start_server("[plugin.desired]\npurge_interval_ms = 200\npurge_retention_ms = 0\n")
        self.world.apply([deployment(1)])
        self.world.delete("deployment", "d_1")
        wait_until("purged", lambda: self.scrape().value("davit_desired_purged_through_version") == 2)
        self.check_clean_end(server)


class Metrics(Observed):
    def test_a_trip_shows_in_them(self):
        server = self.start_server()
        agent = self.world.agent().start()
        self.world.apply([deployment(n) for n in range(3)])
        self.world.wait_running([f"d_{n}" for n in range(3)])
        self.world.apply([{**deployment(0), "annotations": {"davit.dev/pause": "true"}}])
        # Two frames: the delete comes when the agent has the pause.
        wait_until("held", lambda: self.scrape().value("davit_recorder_issues", region=REGION, condition="held") == 1)
        self.world.delete("deployment", "d_2")

        labels = {"region": REGION, "agent": "agent"}
        wait_until(lambda: f"all applied and one held: {self.scrape().samples}",
                   lambda: self.scrape().value("davit_recorder_issues", region=REGION, condition="held") == 1
                   and self.scrape().value("davit_recorder_agent_lag_records", **labels) == 0
                   and self.scrape().value("davit_recorder_applied_seconds_count") >= 2)
        seen = self.scrape()
        self.assertGreaterEqual(seen.value("davit_streamer_streams"), 1)
        self.assertEqual(seen.value("davit_host_commit_seconds_count", storage="main"), 5)
        self.assertEqual(seen.value("davit_storage_records_committed_total"), 5)
        self.assertGreater(seen.value("davit_host_commit_seconds_sum", storage="main"), 0)
        self.assertGreaterEqual(seen.value("davit_streamer_propagation_seconds_count"), 2)
        self.assertGreaterEqual(seen.value("davit_streamer_ring_hits_total"), 2)
        self.assertGreaterEqual(seen.value("davit_streamer_ring_misses_total"), 1)
        self.assertGreaterEqual(seen.value("davit_recorder_statuses_total"), 3)
        self.assertAlmostEqual(seen.value("davit_recorder_agent_seen_timestamp_seconds", **labels), time.time(),
                               delta=120)
        for condition in ("parked", "orphaned"):
            self.assertEqual(seen.value("davit_recorder_issues", region=REGION, condition=condition), 0)
        for errors in ("davit_streamer_storage_errors_total", "davit_recorder_storage_errors_total",
                       "davit_desired_purge_errors_total"):
            self.assertEqual(seen.value(errors), 0)
        self.check_clean_end(agent, server)

    def test_every_log_line_is_json_when_told_to(self):
        server = self.start_server(host='log_format = "json"\n')
        agent = self.world.agent().start()
        self.world.apply([deployment(1)])
        self.world.wait_running(["d_1"])
        # What others send may stand in the log.
        self.world.apply([{**deployment(2), "annotations": {"davit.dev/pause": "true", "note": 'a "b" \\ \n \x01'}}])
        with socket.create_connection(("127.0.0.1", self.world.port)) as raw:
            raw.sendall(b"\xff\xfe\"\x00 nonsense\r\n")
        self.check_clean_end(agent, server)
        lines = server.text().splitlines()
        self.assertGreater(len(lines), 5)
        for line in lines:
            self.assertGreaterEqual(json.loads(line).keys(), {"time", "level", "instance", "message"}, line)

    def test_an_agent_that_went_leaves_them(self):
        server = self.start_server("[plugin.recorder]\nagent_stale_after_ms = 3000\n")
        agent = self.world.agent().start()
        self.world.apply([deployment(1)])
        shown = lambda: "davit_recorder_agent_lag_records" in self.scrape().names()
        wait_until("the agent is shown", shown)
        self.check_clean_end(agent)
        wait_until("the agent is not shown any more", lambda: not shown())
        self.check_clean_end(server)

    @on_a_file
    def test_ready_while_the_store_can_be_read(self):
        server = self.start_server()
        self.assertEqual(get(self.metrics_port, "/readyz"), (200, "serving\n"))
        self.world.apply([deployment(1)])
        with open(self.world.store.path, "r+b") as file:
            file.write(b"\xff" * self.world.store.path.stat().st_size)

        def ready():
            # A commit makes readers look at the file again.
            self.world.davit("apply", "-f", "-", stdin=json.dumps(deployment(2)), check=False)
            return get(self.metrics_port, "/readyz")
        status, body = wait_until("not ready", lambda: (r := ready())[0] == 503 and r)
        self.assertRegex(body, r'^not serving: (main|streamer): .*database')
        self.assertEqual(get(self.metrics_port, "/healthz"), (200, "ok\n"))
        self.assertTrue(server.alive())


if __name__ == "__main__":
    unittest.main(verbosity=2)
