"""The suite of role actuator with `davit clusters join-regions` as the program of actuator_exec: it is called twice, late,
for Clusters of others, killed at random moments, and without its folder. kubectl is scripted; the server is real."""

import json
import os
import subprocess
import unittest

from parts import DAVIT, KUBECONFIG, PATIENCE, REPOSITORY, STAGE, free_port
from regions_case import RegionsCase

# DAVIT_SUITE_FILTER: only these of its tests.
FILTER = os.environ.get("DAVIT_SUITE_FILTER", "Actuator*")
# A region is named after its Cluster, so two of one name cannot be, in whatever namespaces.
NOT_MEANT = "*T6_NamespacesKeepNamesApart"


class Suite(RegionsCase):
    def test_the_rules_of_the_role(self):
        port = free_port()
        self.server.argv.append(self.world.write("reports.toml", f"""[rpc.server.reports]
listen = "127.0.0.1:{port}"
transport = "connect"
agent_tokens_dir = "{self.tokens}"
"""))
        self.set("reports_to", f"http://127.0.0.1:{port}")
        self.begin()
        value = {"apiVersion": "regions.example/v1", "kubeconfig": KUBECONFIG}
        secret = "hunter2-hunter2"
        hidden = KUBECONFIG.replace("token: t", f"token: {secret}")
        self.world.write("clusters.json", json.dumps({"valid": value, "hidden": [
            {"value": {**value, "kubeconfig": text}, "text": secret}
            for text in (hidden, hidden + "a: [\n", hidden.replace("token:", "exec:"), secret)]}))
        command = [str(DAVIT), "clusters", "join-regions", "--server", f"unix:{self.world.socket}", "--tokens",
                   str(self.tokens), "--kubectl", str(self.kubectl), "--url", f"http://127.0.0.1:{self.world.port}",
                   "--kubeconfig-at", "/spec/providerSpec/value/kubeconfig", str(REPOSITORY / "etc/agent.toml")]
        configuration = self.world.write("suite.conf", f"""command = {json.dumps(command)}
concurrency_max = 8
conformance.actuator = "{self.world.folder}/clusters.json"
conformance.inventory = "cd {self.tokens} && find . -type f -name '*.token' -o -type f -name '.*.owner'"
conformance.damage = "find {self.tokens} -name '*.token' -exec rm {{}} +"
conformance.away = "mv {self.tokens} {self.tokens}.away"
conformance.back = "mv {self.tokens}.away {self.tokens}"
""")
        done = subprocess.run(
            [STAGE / "bin/davit-conformance", "--config", configuration, "--timeout", str(int(180 * PATIENCE)),
             "--jobs", "1", "--filter", f"{FILTER}-{NOT_MEANT}",
             STAGE / "lib/davit/plugins/actuator_exec.so"],
            text=True, capture_output=True, timeout=1400, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:] + self.server.tail())
        self.assertIn("PASSED", done.stdout)
        self.assertEqual((self.files(), self.records()), ([], []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
