"""Whoever looks at a process of federation between two real clusters: check, status, held deletes, equal names."""

import json
import unittest

from federation_parts import DEFINITIONS, MERGE, Pair, definition
from parts import DAVIT, REPOSITORY, Process, wait_until

MANY = 12
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/davit-federation-robot-18"


class OnKubernetes(Pair):
    def files(self, name="federation", robot=None, more=""):
        kubeconfig = (robot or self.robot).kubeconfig
        return [REPOSITORY / "etc/federation.toml", self.world.write(f"{name}.toml", f"""
[host]
state_dir = "{self.world.folder}/state-{name}"
[rpc.server.operator]
listen = "unix:{self.world.socket if name == 'federation' else self.world.folder / (name + '.sock')}"
[plugin.cloud]
kubeconfig = "{self.cloud.kubeconfig}"
[plugin.robot]
kubeconfig = "{kubeconfig}"
[plugin.federation]
robot_name = "robot-18"
retry_first_ms = 100
retry_most_ms = 1000
{more}
""")]

    def start(self, name="federation", more=""):
        process = self.world.part(Process(name, [DAVIT, "run", *self.files(name, more=more)], self.world.folder))
        process.start()
        return process

    def status(self, *arguments):
        code, out, err = self.world.davit("federation", "status", *arguments, "-o", "json", check=False)
        return json.loads(out) if code == 0 else {"code": code, "error": err}

    def counts(self, resource):
        for found in self.status().get("resources", []):
            if found["resource"] == resource:
                return {count["standing"]: int(count["objects"]) for count in found["counts"]}
        return None

    def wait_counts(self, resource, counts):
        wait_until(lambda: f"{self.counts(resource)} become {counts}", lambda: self.counts(resource) == counts, 60)

    def names(self, path):
        return {item["metadata"]["name"] for item in self.robot.items(path)}

    def test_check_says_what_would_be_done_and_does_nothing(self):
        path = self.install(definition("tasks", spec_source="cloud"))
        self.make(self.cloud, path, "new", spec={"n": 1})
        self.make(self.cloud, path, "both", spec={"n": 1})
        self.make(self.robot, path, "both", spec={"n": 2})
        self.make(self.robot, path, "orphan", spec={})
        code, out, _ = self.world.davit("federation", "check", *self.files(), "-o", "json", check=False)
        found = json.loads(out)
        self.assertEqual(code, 0, out)
        mine = {change["write"]: change["names"] for change in found["changes"]
                if change["resource"] == "tasks.example.com"}
        self.assertEqual(mine, {"create": ["default/new"], "update": ["default/both"], "delete": ["default/orphan"]})
        self.assertEqual(self.names(path), {"both", "orphan"})
        self.assertEqual(self.cloud.request("GET", LEASE)[0], 404, "a check claims no name")
        code, out, _ = self.world.davit("federation", "check", *self.files())
        self.assertIn("default/orphan", out)

        # A definition of which the cloud serves another version; an annotation that is neither.
        for cluster, version in ((self.cloud, "v2"), (self.robot, "v1")):
            made = definition("plans", spec_source="cloud")
            made["spec"]["versions"][0]["name"] = version
            self.assertEqual(cluster.request("POST", DEFINITIONS, made)[0], 201)
        self.assertEqual(self.robot.request("POST", DEFINITIONS, definition("odds", spec_source="mars"))[0], 201)
        code, out, _ = self.world.davit("federation", "check", *self.files(), check=False)
        self.assertEqual(code, 1, out)
        self.assertIn("version v1, which travels, is not served upstream", out)
        self.assertIn('is "mars"', out)
        for name in ("plans", "odds"):
            for cluster in (self.cloud, self.robot):
                cluster.request("DELETE", f"{DEFINITIONS}/{name}.example.com")

    def test_one_cluster_twice_is_a_fault(self):
        code, out, _ = self.world.davit("federation", "check", *self.files(robot=self.cloud), check=False)
        self.assertEqual(code, 1, out)
        self.assertIn("are the same cluster", out)

    def test_an_account_without_rights(self):
        account = {"metadata": {"name": "nobody", "namespace": "default"}}
        self.robot.request("POST", "/api/v1/namespaces/default/serviceaccounts", account)
        more = '[plugin.robot]\nimpersonate_user = "system:serviceaccount:default:nobody"\n'
        self.install(definition("tools", spec_source="cloud"))
        overlay = self.world.write("nobody.toml", more)
        code, out, _ = self.world.davit("federation", "check", *self.files(), overlay,
                                        "-o", "json", check=False)
        texts = [finding["text"] for finding in json.loads(out)["findings"]]
        self.assertEqual(code, 1, out)
        self.assertIn("the account may not list customresourcedefinitions.apiextensions.k8s.io", texts)

    def test_status_and_an_upstream_that_was_restored_empty(self):
        path = self.install(definition("maps", spec_source="cloud"))
        for n in range(MANY):
            self.make(self.cloud, path, f"m-{n}", spec={"n": n})
        process = self.start()
        self.wait_counts("maps.example.com", {"in_step": MANY})
        _, out, _ = self.world.davit("status")
        self.assertIn("maps.example.com", out)
        one = self.status("maps.example.com", "m-0")["resources"][0]["objects"]
        self.assertEqual([o["standing"] for o in one], ["in_step"])
        self.assertEqual(self.status("moons.example.com")["code"], 5)

        # A finalizer at the robot.
        self.robot.request("PATCH", f"{path}/m-0", {"metadata": {"finalizers": ["example.com/hold"]}}, MERGE)
        self.cloud.request("DELETE", f"{path}/m-0")
        self.wait_counts("maps.example.com", {"in_step": MANY - 1, "finalizer": 1})
        self.robot.request("PATCH", f"{path}/m-0", {"metadata": {"finalizers": []}}, MERGE)
        self.make(self.cloud, path, "m-0", spec={"n": 0})
        self.wait_counts("maps.example.com", {"in_step": MANY})

        # All are gone when the process comes back: as of a store that was restored empty.
        process.kill()
        for n in range(MANY):
            self.cloud.request("DELETE", f"{path}/m-{n}")
        for _ in range(2):  # killed while it holds them, it goes on holding them
            process.start()
            self.wait_counts("maps.example.com", {"held": MANY})
            self.assertIn("davit federation release maps.example.com", self.status()["health"])
            self.assertEqual(len(self.names(path)), MANY)
            process.kill()
        # Some come back while it is away, so that the rest is no more than half.
        for n in range(MANY - 2):
            self.make(self.cloud, path, f"m-{n}", spec={"n": n})
        process.start()
        self.wait_counts("maps.example.com", {"in_step": MANY - 2, "held": 2})
        self.world.davit("federation", "release", "maps.example.com")
        self.wait_counts("maps.example.com", {"in_step": MANY - 2})
        self.assertEqual(self.names(path), {f"m-{n}" for n in range(MANY - 2)})
        self.check_clean_end(process)

    def test_two_robots_of_one_name(self):
        first = self.start()
        wait_until("it has claimed its name", lambda: self.cloud.request("GET", LEASE)[0] == 200)
        # Another cluster, which is simulated, goes by the same name.
        text = (REPOSITORY / "etc/federation.toml").read_text(encoding="utf-8")
        shipped = self.world.write("shipped.toml", text.replace(
            '[plugin.robot]\nmodule = "cluster_kubernetes"', '[plugin.robot]\nmodule = "cluster_memory"'))
        overlay = self.files("other")[1]
        overlay.write_text(overlay.read_text(encoding="utf-8").replace(f'kubeconfig = "{self.robot.kubeconfig}"\n', ""),
                           encoding="utf-8")
        other = self.world.part(Process("other", [DAVIT, "run", shipped, overlay], self.world.folder))
        other.start()
        for socket in (self.world.socket, self.world.folder / "other.sock"):
            def said(at=socket):
                code, out, _ = self.world.davit("federation", "status", "--server", f"unix:{at}", check=False)
                return code == 0 and "goes by this name, too" in out
            wait_until(f"both say so: {socket}", said, 60)
        self.check_clean_end(other)
        self.check_clean_end(first)


if __name__ == "__main__":
    unittest.main(verbosity=2)
