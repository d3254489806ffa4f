"""A real Prometheus with the shipped rules scrapes a server and an agent: what the alerts ask for is really there."""

import json
import re
import subprocess
import sys
import unittest
import urllib.parse

import parts
from manifest_objects import made
from parts import REGION, REPOSITORY, Process, deployment, free_port, get, wait_until
from test_manifest import manifest

sys.path.append(str(REPOSITORY / "tests/packaging"))
import alerts  # noqa: E402

MONITORING = REPOSITORY / "packaging/monitoring"

# What a new server on SQLite and an agent on a simulated cluster do not show, and where it comes from.
ELSEWHERE = {
    "davit_storage_checkpoint_timestamp_seconds": "plugins/storage_sqlite/",
    "davit_rpc_certificate_not_after_timestamp_seconds": "host/rpc/certificate_end.cpp",
    "davit_secrets_breaker": "plugins/secret_store/",
    "davit_cluster_token_expiry_timestamp_seconds": "plugins/cluster_kubernetes/",
    "davit_federation_held_deletes": "plugins/federation/",
    "davit_federation_name_contested": "plugins/federation/",
    "davit_federation_watch_up": "plugins/federation/",
    "davit_federation_stuck_objects": "plugins/federation/",
    "davit_federation_faulty_definitions": "plugins/federation/",
    "davit_clusters": "plugins/cluster_controller/",
}


def label_names(labels):
    return set(re.findall(r"(\w+)=", labels))


class Prometheus:
    """One of its own, on loopback; its rules are the shipped ones, without their waits."""

    def __init__(self, world, targets):
        self.port = free_port()
        for name in ("alerts", "recording"):
            text = (MONITORING / f"{name}.rules.yaml").read_text(encoding="utf-8")
            world.write(f"{name}.rules.yaml", re.sub(r"(?m)^ +for: .*\n", "", text))
        # YAML reads JSON.
        configuration = world.write("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(world.folder / "*.rules.yaml")],
            "scrape_configs": [{"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                               for job, port in targets.items()]}))
        self.process = world.part(Process("prometheus", [
            "prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={world.folder}/prometheus",
            f"--web.listen-address=127.0.0.1:{self.port}"], world.folder)).start()
        wait_until(self.process.tail, self.is_ready, 60)

    def is_ready(self):
        try:
            return get(self.port, "/-/ready")[0] == 200
        except OSError:
            return False

    def ask(self, path, **parameters):
        status, body = get(self.port, f"/api/v1/{path}?" + urllib.parse.urlencode(parameters, doseq=True))
        assert status == 200, body
        return json.loads(body)["data"]

    def rules(self):
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]

    def firing(self):
        return {alert["labels"]["alertname"]: alert for alert in self.ask("alerts")["alerts"]
                if alert["state"] == "firing"}


class OnMemory(parts.Case):
    """Everything is well, then a record is parked, then the server is away, then all is well again."""

    def setUp(self):
        super().setUp()
        kinds = '[plugin.manifest]\nmodule = "kind_manifest"\nkinds = ["v1/ConfigMap", "v1/Service"]\n'
        self.server = self.world.server(extra=kinds)
        self.agent = self.world.agent(extra=kinds.replace(', "v1/Service"', ""))
        self.ports = {"davit-server": self.world.with_metrics(self.server),
                      "davit-agent": self.world.with_metrics(self.agent)}
        self.server.start()
        self.world.wait_ready(self.server)
        self.agent.start()
        self.world.apply([deployment(1)])
        self.world.wait_running(["d_1"])
        self.prometheus = Prometheus(self.world, self.ports)

    def wait_firing(self, *names):
        return wait_until(lambda: f"{names}: {sorted(self.prometheus.firing())}",
                          lambda: set(names) <= set(found := self.prometheus.firing()) and found, 60)

    def wait_quiet(self):
        wait_until(lambda: f"quiet: {self.prometheus.firing()}", lambda: not self.prometheus.firing(), 90)

    def wait_scraped(self):
        """Rules are evaluated, without an error, before there is anything to evaluate."""
        def jobs():
            return {series["job"] for series in self.prometheus.ask("series", **{"match[]": "up"})}
        wait_until(lambda: f"scraped: {jobs()}", lambda: jobs() == set(self.ports), 60)

    def test_alerts_follow_what_happens(self):
        wait_until(lambda: f"evaluated: {self.prometheus.rules()}",
                   lambda: all(rule["health"] == "ok" for rule in self.prometheus.rules()), 60)
        self.wait_scraped()
        self.wait_quiet()
        self.check_names_and_labels()
        self.check_metrics_are_well_formed()

        self.world.apply([manifest("bad", [made("Service", 1)], "shop")])
        parked = self.wait_firing("DavitRecordsParked")["DavitRecordsParked"]
        self.assertEqual(parked["labels"]["region"], REGION)
        self.assertEqual(parked["annotations"]["summary"],
                         f"1 records of region {REGION} can never be applied as they are")
        self.world.delete("manifest", "shop.bad")
        self.wait_quiet()

        self.server.stop()
        found = self.wait_firing("DavitDown", "DavitAgentDisconnected", "DavitDegraded")
        self.assertEqual(found["DavitDown"]["labels"]["job"], "davit-server")
        self.assertEqual(found["DavitAgentDisconnected"]["labels"]["job"], "davit-agent")
        for alert in found.values():
            self.assertNotIn("<error", json.dumps(alert["annotations"]))
        self.server.start()
        self.wait_quiet()
        self.assertEqual([rule for rule in self.prometheus.rules() if rule["health"] != "ok"], [])
        self.check_clean_end(self.agent, self.server)

    def check_names_and_labels(self):
        """What the tests of the alerts make up has the names and labels of what is really there."""
        for row in alerts.TABLE:
            for series in (row.series, *(one for one, _ in row.beside)):
                name, labels = series.rstrip("}").split("{")
                if name in ELSEWHERE:
                    self.check_is_written(name, ELSEWHERE[name])
                    continue
                found = self.prometheus.ask("series", **{"match[]": name})
                self.assertTrue(any(label_names(labels) <= set(one) for one in found), f"{series}: {found}")
                self.assertTrue(label_names(labels) or len({len(one) for one in found}) == 1, f"{series}: {found}")

    def check_is_written(self, name, where):
        done = subprocess.run(["grep", "-rqF", f'"{name}"', str(REPOSITORY / where)], check=False)
        self.assertEqual(done.returncode, 0, f"{where} has no {name}")

    def check_metrics_are_well_formed(self):
        for job, port in self.ports.items():
            done = subprocess.run(["promtool", "check", "metrics"], input=get(port, "/metrics")[1], text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), job)


if __name__ == "__main__":
    unittest.main()
