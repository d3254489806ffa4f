"""What third parties write, built outside of this tree against the installed SDK (test examples.outside_the_tree):
a kind of their own goes the whole way to a real API server and back, and a plugin in plain C works beside the others."""

import os
import unittest
from pathlib import Path

from parts import PROTOCOLS, REGION, REPOSITORY, KubernetesCase, deployment, wait_until

INSTALLED = Path(os.environ.get("DAVIT_INSTALLED", "/does/not/exist"))


def widget(number, namespace, size=12):
    return {"kind": "widget", "region": REGION, "id": f"w-{number}",
            "spec": {"namespace": namespace, "name": f"knob-{number}", "widget_id": f"w-{number}", "size": size,
                     "colour": "green", "options": {"glow": "yes"}}}


class Outside(KubernetesCase):
    PLUGINS = '[plugin.widget]\nmodule = "kind_widget"\n'

    def host_keys(self):
        folders = [p for p in INSTALLED.glob("lib*/**/davit/plugins") if p.is_dir()]
        self.assertEqual(len(folders), 1, f"examples are not installed in {INSTALLED}")
        return f'[host]\nplugin_dirs = ["{folders[0]}"]\n'

    def start(self, agent_extra="", **options):
        world = self.world
        third = world.write("third.toml", self.host_keys() + self.PLUGINS)
        server = world.server()
        server.argv.append(str(third))
        server.start()
        world.wait_ready(server)
        agent = world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=agent_extra, **options)
        agent.argv.append(str(third))
        return server, agent.start()

    def config_map(self, namespace, number):
        return self.kubernetes.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/knob-{number}")

    def test_the_shipped_document_is_taken(self):
        self.start()
        text = (REPOSITORY / "sdk/examples/kind_widget/widget.yaml").read_text(encoding="utf-8")
        self.assertIn("created", self.world.davit("apply", "-f", "-", stdin=text.replace("local ", REGION + " "))[1])

    def test_kind_goes_the_whole_way(self):
        namespace = "third-kind"
        self.kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        server, agent = self.start()
        self.world.apply([widget(n, namespace) for n in range(3)])
        self.world.wait_running([f"w-{n}" for n in range(3)], kind="widget")
        self.assertEqual(self.config_map(namespace, 1)[1]["data"]["size"], "12")

        self.assertIn("Millimetres, 1 to 10000.", self.world.davit("explain", "widget.size")[1])
        self.world.apply([widget(1, namespace, size=99)])
        self.world.wait_running(["w-1"], kind="widget")
        self.assertEqual(self.config_map(namespace, 1)[1]["data"]["size"], "99")

        # Edited behind our back: repaired.
        path = f"/api/v1/namespaces/{namespace}/configmaps/knob-0"
        self.kubernetes.request("PATCH", path, {"data": {"size": "1"}}, "application/merge-patch+json")
        wait_until("repaired", lambda: self.config_map(namespace, 0)[1]["data"]["size"] == "12")

        for number in range(3):
            self.world.delete("widget", f"w-{number}")
        wait_until("all are gone", lambda: self.config_map(namespace, 2)[0] == 404)
        self.check_clean_end(agent, server)

    def test_plugin_in_c_works_beside_the_others(self):
        tee = ('[plugin.tee]\nmodule = "status_tee"\nnext = "reporter"\nsummary_interval_ms = 500\n'
               '[plugin.applier]\nstatus = "tee"\n')
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                namespace = "tee-" + protocol.replace(".", "-")
                server, agent = self.start(tee, protocol=protocol)
                self.world.apply([deployment(n, namespace) for n in range(3)])
                self.world.wait_running(["d_0", "d_1", "d_2"])
                wait_until(lambda: f"the tee counts; {agent.tail()}", lambda: "statuses passed on" in agent.text())
                for number in range(3):
                    self.world.delete("deployment", f"d_{number}")
                wait_until("all are gone", lambda: not self.kubernetes.replica_sets([namespace]))
                self.check_clean_end(agent, server)
                self.tearDown()
                self.setUp()


if __name__ == "__main__":
    unittest.main(verbosity=2)
