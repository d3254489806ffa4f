"""A Cluster becomes a Kubernetes on this machine, which kubectl can use, and goes without a trace."""

import json
import os
import signal
import subprocess
import unittest
from pathlib import Path

from clusters_parts import ClustersCase
from parts import REPOSITORY, STAGE, kill_all, wait_until

PROGRAM = REPOSITORY / "tests/kubernetes/cluster_actuator.py"
VALUE = {"apiVersion": "rig.davit.dev/v1", "kind": "RigCluster"}


class OnKubernetes(ClustersCase):
    def files(self, *arguments, **options):
        """Pods of one image are run."""
        return super().files(*arguments, **options) + [self.world.write(
            "pods.toml", f'[plugin.exec.environment]\nDAVIT_RUN_PODS = "davit={STAGE}"\n')]

    def rig(self, name):
        return json.loads((self.built / f"default_{name}/rig/rig.json").read_text(encoding="utf-8"))

    def nodes(self, name):
        """Their names, as kubectl shows them."""
        status = self.status(name)["providerStatus"]
        done = subprocess.run([Path(self.rig(name)["assets"]) / "kubectl", "--kubeconfig", status["kubeconfig"], "get",
                               "nodes", "-o", "name"], text=True, capture_output=True, timeout=60, check=False)
        return done.stdout.split() if done.returncode == 0 else []

    def processes(self):
        """All that have to do with what was built."""
        out = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            if str(self.built) in words:
                out.append(int(path.name))
        return out

    def test_kubectl_works_on_it(self):
        self.begin("resync_ms = 1000", actuator=PROGRAM)
        self.addCleanup(lambda: kill_all(self.processes()))
        self.make("a", VALUE)
        wait_until(lambda: f"a is ready: {self.get('a')}", lambda: (self.condition("a") or "").startswith("True"), 120)
        wait_until("kubectl shows its nodes", lambda: "node/general-a" in self.nodes("a"), 60)
        endpoint = self.status("a")["apiEndpoints"][0]
        self.assertTrue(self.rig("a")["url"].endswith(f"{endpoint['host']}:{endpoint['port']}"))
        # Two clusters are two. The second one is small.
        self.make("b", {**VALUE, "bare": True})
        wait_until(lambda: f"b is ready: {self.get('b')}", lambda: (self.condition("b") or "").startswith("True"), 120)
        self.assertNotEqual(self.status("a")["apiEndpoints"], self.status("b")["apiEndpoints"])
        self.assertIn("pod-runner", self.rig("a")["processes"])
        self.assertNotIn("pod-runner", self.rig("b")["processes"])
        # Its supervisor dies, and all its processes with it: the resync brings the cluster back.
        former = self.rig("b")["processes"]["rig"]["pid"]
        os.kill(former, signal.SIGKILL)
        wait_until("b is brought back", lambda: self.rig_pid("b") not in (None, former) and self.rig("b")["ready"], 120)
        self.make("odd", {**VALUE, "bare": "yes"})
        self.wait_said("odd", "spec.providerSpec.value.bare: must be true or false")
        for name in ("a", "b", "odd"):
            self.remove(name)
        for name in ("a", "b", "odd"):
            self.wait_gone(name)
        self.assertEqual(list(self.built.iterdir()), [])
        self.assertEqual(self.processes(), [])

    def rig_pid(self, name):
        try:
            return self.rig(name)["processes"]["rig"]["pid"]
        except (OSError, ValueError):
            return None


if __name__ == "__main__":
    unittest.main(verbosity=2)
