"""Pairs that the configuration names: ConfigMaps and Secrets for edge clusters, one to many and one to one, what edges
say of themselves, and bad input.

ConfigMaps with the label `to` go to every edge whose selector names it; those with the label of one edge go to that one.
"""

import base64
import json
import unittest

import parts
from federation_parts import (DEFINITIONS, ROBOT, UPSTREAM_CLUSTER, UPSTREAM_UID, definition, federation, install, path_of,
                              start_clusters, wait_in_step)
from parts import get, metrics, wait_until

CONFIG_MAPS, SECRETS = path_of("configmaps", group=""), path_of("secrets", group="")
STRICT, REPORTS = path_of("stricts"), path_of("reports")
MEBIBYTE = 1 << 20
# A little less than what an API server takes of a ConfigMap's data.
LARGE = "x" * (MEBIBYTE - 4096)


def resources(edge):
    """To all edges by `to=edges`, and to this one alone by `edge=NAME`."""
    return f"""
[[plugin.federation.resource]]
version = "v1"
resource = "configmaps"
selector = "to in (edges, {edge})"
fields = ["data", "binaryData"]
[[plugin.federation.resource]]
version = "v1"
resource = "secrets"
selector = "to in (edges, {edge})"
fields = ["data", "type"]
"""


def upward(edge):
    """What this edge says of itself, and its reports, whose status the cloud writes."""
    return f"""
[[plugin.federation.resource]]
version = "v1"
resource = "configmaps"
direction = "up"
selector = "site={edge}"
fields = ["data"]
[[plugin.federation.resource]]
group = "example.com"
version = "v1"
resource = "reports"
direction = "up"
selector = "site={edge}"
status = "subresource"
"""


class OnKubernetes(parts.Case):
    @classmethod
    def setUpClass(cls):
        cls.cloud, *cls.edges = start_clusters("cloud", "north", "south")

    @classmethod
    def tearDownClass(cls):
        for cluster in (cls.cloud, *cls.edges):
            cluster.close()

    def begin(self, settings='definitions = "none"', tables=resources):
        self.processes = [federation(self.world, self.cloud.kubernetes.kubeconfig, edge.kubernetes.kubeconfig, settings,
                                     f"federation-{edge.name}", tables(edge.name)) for edge in self.edges]
        for process in self.processes:
            process.start()
        for process in self.processes:
            wait_in_step(process)

    def make(self, cluster, path, name, labels=None, **members):
        kind = {CONFIG_MAPS: "ConfigMap", SECRETS: "Secret", REPORTS: "Reports"}.get(
            path.replace("/depot/", "/default/"), "Stricts")
        version = "v1" if kind in ("ConfigMap", "Secret") else "example.com/v1"
        return cluster.must("POST", path, {"apiVersion": version, "kind": kind,
                                           "metadata": {"name": name, "labels": labels or {}}, **members})

    def wait(self, cluster, path, what, holds):
        def seen():
            found = json.dumps(cluster.get(path))
            return f"{what} in {cluster.name}: {found[:800]}; " + "".join(p.tail(6) for p in self.processes)
        wait_until(seen, lambda: holds(cluster.get(path)), 60)
        return cluster.get(path)

    def test_one_to_many_and_one_to_one(self):
        north, south = self.edges
        self.make(north, CONFIG_MAPS, "own", {"to": "edges"}, data={"a": "theirs"})
        self.make(self.cloud, CONFIG_MAPS, "all", {"to": "edges"}, data={"a": "1"},
                  binaryData={"b": base64.b64encode(b"\0\1").decode()})
        self.make(self.cloud, CONFIG_MAPS, "one", {"to": "south"}, data={"a": "1"})
        self.make(self.cloud, CONFIG_MAPS, "none", data={"a": "1"})
        self.make(self.cloud, SECRETS, "key", {"to": "edges"}, type="example.com/key",
                  data={"k": base64.b64encode(b"secret").decode()})
        self.begin()
        for edge in self.edges:
            found = self.wait(edge, f"{CONFIG_MAPS}/all", "to all", lambda o: o)
            self.assertEqual((found["data"], found["binaryData"]), ({"a": "1"}, {"b": "AAE="}))
            found = self.wait(edge, f"{SECRETS}/key", "to all", lambda o: o)
            self.assertEqual((found["data"], found["type"]), ({"k": "c2VjcmV0"}, "example.com/key"))
        self.wait(south, f"{CONFIG_MAPS}/one", "to one", lambda o: o)
        # Its label changes: it goes to the other one.
        self.cloud.patch(f"{CONFIG_MAPS}/one", {"metadata": {"labels": {"to": "north"}}})
        self.wait(north, f"{CONFIG_MAPS}/one", "to the other one", lambda o: o)
        self.wait(south, f"{CONFIG_MAPS}/one", "no more to this one", lambda o: o is None)
        # Changes and members that go, edits and deletes at an edge.
        self.cloud.patch(f"{CONFIG_MAPS}/all", {"data": {"a": "2"}, "binaryData": None})
        south.patch(f"{CONFIG_MAPS}/all", {"data": {"a": "mine", "x": "y"}})
        for edge in self.edges:
            self.wait(edge, f"{CONFIG_MAPS}/all", "the change", lambda o: o["data"] == {"a": "2"} and "binaryData" not in o)
        south.must("DELETE", f"{SECRETS}/key")
        self.wait(south, f"{SECRETS}/key", "it is made again", lambda o: o)
        self.cloud.must("DELETE", f"{SECRETS}/key")
        for edge in self.edges:
            self.wait(edge, f"{SECRETS}/key", "it is gone", lambda o: o is None)
            self.assertIsNone(edge.get(f"{CONFIG_MAPS}/none"))
        # What the edge has of its own is left alone, and so is its name.
        self.make(self.cloud, CONFIG_MAPS, "own", {"to": "north"}, data={"a": "ours"})
        wait_until("it is said", lambda: "name is taken" in get(self.processes[0].port, "/readyz")[1], 60)
        self.assertEqual(north.get(f"{CONFIG_MAPS}/own")["data"], {"a": "theirs"})
        north.must("DELETE", f"{CONFIG_MAPS}/own")
        self.wait(north, f"{CONFIG_MAPS}/own", "now it is ours", lambda o: o and o["data"] == {"a": "ours"})
        # Secrets are in no log.
        self.assertNotIn("c2VjcmV0", "".join(process.text() for process in self.processes))
        self.check_clean_end(*self.processes)

    def test_specs_go_up_from_many_and_the_status_comes_down(self):
        north, south = self.edges
        install([definition("reports")], self.cloud, *self.edges)
        for edge in self.edges:
            self.make(edge, CONFIG_MAPS, f"site-{edge.name}", {"site": edge.name}, data={"a": edge.name})
            self.make(edge, REPORTS, f"report-{edge.name}", {"site": edge.name}, spec={"n": 1})
        self.make(north, CONFIG_MAPS, "inner", data={"a": "not for the cloud"})
        self.begin(tables=upward)
        for edge in self.edges:
            found = self.wait(self.cloud, f"{CONFIG_MAPS}/site-{edge.name}", "it goes up", lambda o: o)
            self.assertEqual(found["data"], {"a": edge.name})
            origin = edge.get(f"{CONFIG_MAPS}/site-{edge.name}")["metadata"]["uid"]
            self.assertEqual(found["metadata"]["annotations"][UPSTREAM_UID], origin)
            self.assertEqual(found["metadata"]["annotations"][UPSTREAM_CLUSTER],
                             edge.get("/api/v1/namespaces/kube-system")["metadata"]["uid"])
            self.wait(self.cloud, f"{REPORTS}/report-{edge.name}", "it goes up", lambda o: o)
            self.cloud.patch(f"{REPORTS}/report-{edge.name}/status", {"status": {"read": edge.name}})
            self.wait(edge, f"{REPORTS}/report-{edge.name}", "its status comes down",
                      lambda o, e=edge: o.get("status") == {"read": e.name})
        # The edge's word counts: its changes go up, what others do to them in the cloud is put back.
        north.patch(f"{CONFIG_MAPS}/site-north", {"data": {"a": "2"}})
        self.cloud.patch(f"{CONFIG_MAPS}/site-south", {"data": {"a": "mine"}})
        self.cloud.must("DELETE", f"{REPORTS}/report-south")
        self.wait(self.cloud, f"{CONFIG_MAPS}/site-north", "the change", lambda o: o["data"] == {"a": "2"})
        self.wait(self.cloud, f"{CONFIG_MAPS}/site-south", "put back", lambda o: o["data"] == {"a": "south"})
        self.wait(self.cloud, f"{REPORTS}/report-south", "it is made again", lambda o: o and o["spec"] == {"n": 1})
        # A name that the other edge has in the cloud is taken.
        self.make(south, CONFIG_MAPS, "site-north", {"site": "south"}, data={"a": "south's"})
        wait_until(lambda: f"it is said: {get(self.processes[1].port, '/readyz')} {self.processes[1].tail()}",
                   lambda: "name is taken" in get(self.processes[1].port, "/readyz")[1], 10)
        self.assertEqual(self.cloud.get(f"{CONFIG_MAPS}/site-north")["data"], {"a": "2"})
        # An edge that is away takes nothing with it; what it loses meanwhile goes when it is back.
        north.kubernetes.rig_command("kill-apiserver")
        self.processes[0].kill()
        self.processes[0].start()
        south.must("DELETE", f"{CONFIG_MAPS}/site-south")
        self.wait(self.cloud, f"{CONFIG_MAPS}/site-south", "the other one goes on", lambda o: o is None)
        for path in (f"{CONFIG_MAPS}/site-north", f"{REPORTS}/report-north"):
            self.assertTrue(self.cloud.get(path), path)
        north.kubernetes.rig_command("start-apiserver")
        north.must("DELETE", f"{CONFIG_MAPS}/site-north")
        # Then the name is free for the other edge.
        self.wait(self.cloud, f"{CONFIG_MAPS}/site-north", "it is the other's", lambda o: o and o["data"] == {"a": "south's"})
        self.assertIsNone(self.cloud.get(f"{CONFIG_MAPS}/inner"))
        self.check_clean_end(*self.processes)

    def test_edges_under_one_selector_leave_each_other_alone(self):
        """Each sees in the cloud what the others have sent, and has no such object itself."""
        install([definition("reports")], self.cloud, *self.edges)
        for edge in self.edges:
            self.make(edge, CONFIG_MAPS, f"of-{edge.name}", {"to": "cloud"}, data={"a": edge.name})
            self.make(edge, CONFIG_MAPS, "same", {"to": "cloud"}, data={"a": edge.name})
        self.make(self.cloud, CONFIG_MAPS, "the-clouds", {"to": "cloud"}, data={"a": "the cloud's"})
        self.begin(tables=lambda edge: upward(edge).replace(f"site={edge}", "to=cloud"))
        for edge in self.edges:
            self.wait(self.cloud, f"{CONFIG_MAPS}/of-{edge.name}", "it goes up", lambda o: o)
        same = self.wait(self.cloud, f"{CONFIG_MAPS}/same", "that of one goes up", lambda o: o)
        first = ["north", "south"].index(same["data"]["a"])
        loser = self.processes[1 - first]
        wait_until(lambda: f"the other one says so: {loser.tail()}",
                   lambda: "name is taken" in get(loser.port, "/readyz")[1], 60)
        for process in self.processes:
            process.kill()
            process.start()
            wait_in_step(process)
        wait_until("it says so again", lambda: "name is taken" in get(loser.port, "/readyz")[1], 60)
        self.assertEqual(self.cloud.get(f"{CONFIG_MAPS}/same")["metadata"]["uid"], same["metadata"]["uid"])
        self.assertEqual(self.cloud.get(f"{CONFIG_MAPS}/the-clouds")["data"], {"a": "the cloud's"})
        for edge in self.edges:
            self.assertEqual(self.cloud.get(f"{CONFIG_MAPS}/of-{edge.name}")["data"], {"a": edge.name})
            edge.must("DELETE", f"{CONFIG_MAPS}/of-{edge.name}")
        for edge in self.edges:
            self.wait(self.cloud, f"{CONFIG_MAPS}/of-{edge.name}", "it is gone", lambda o: o is None)
        self.check_clean_end(*self.processes)

    def test_objects_of_a_mebibyte(self):
        self.begin()
        for n in range(4):
            self.make(self.cloud, CONFIG_MAPS, f"large-{n}", {"to": "edges"}, data={"a": LARGE[:-1] + str(n)})
        self.make(self.cloud, CONFIG_MAPS, "small", {"to": "edges"}, data={"a": "1"})
        for edge in self.edges:
            for n in range(4):
                self.wait(edge, f"{CONFIG_MAPS}/large-{n}", "large", lambda o, n=n: o and o["data"]["a"] == LARGE[:-1] + str(n))
            self.wait(edge, f"{CONFIG_MAPS}/small", "small", lambda o: o)
        self.cloud.patch(f"{CONFIG_MAPS}/large-0", {"data": {"a": LARGE[:-1] + "!"}})
        for edge in self.edges:
            self.wait(edge, f"{CONFIG_MAPS}/large-0", "the change", lambda o: o["data"]["a"][-1] == "!")
        for process in self.processes:
            process.kill()
            process.start()
            wait_in_step(process)
        for n in range(4):
            self.cloud.must("DELETE", f"{CONFIG_MAPS}/large-{n}")
        for edge in self.edges:
            for n in range(4):
                self.wait(edge, f"{CONFIG_MAPS}/large-{n}", "it is gone", lambda o: o is None)
        self.check_clean_end(*self.processes)

    def test_what_the_other_side_refuses_says_so_and_others_go_on(self):
        """A schema that is stricter at the edges, a namespace that is missing there, and a finalizer that holds."""
        short = {"type": "string", "maxLength": 5}
        install([definition("stricts", spec_source="cloud")], self.cloud)
        install([definition("stricts", spec_source="cloud", spec=short)], *self.edges)
        self.assertIn(self.cloud.request("POST", "/api/v1/namespaces", {"metadata": {"name": "depot"}})[0], (201, 409))
        depot = path_of("configmaps", "depot", group="")
        self.begin(f'robot_name = "{ROBOT}"')
        north, south = self.edges
        self.make(self.cloud, STRICT, "bad", spec="too long for them")
        self.make(self.cloud, STRICT, "good", spec="good")
        self.make(self.cloud, depot, "far", {"to": "edges"}, data={"a": "1"})
        self.make(self.cloud, CONFIG_MAPS, "near", {"to": "edges"}, data={"a": "1"})
        for edge, process in zip(self.edges, self.processes):
            self.wait(edge, f"{STRICT}/good", "others go on", lambda o: o)
            self.wait(edge, f"{CONFIG_MAPS}/near", "others go on", lambda o: o)
            wait_until("both are stuck", lambda p=process: metrics(p.port)["davit_federation_stuck_objects"] == 2)
            for word in ("/bad", "Too long", "depot/far", "not found"):
                wait_until(lambda w=word, p=process: f"{w} is said: {p.tail()}", lambda w=word, p=process: w in p.text())
            self.assertEqual(get(process.port, "/healthz")[0], 200)
        # The cures: a spec that is good, a schema that is wider, a namespace.
        for edge in self.edges:
            edge.must("POST", "/api/v1/namespaces", {"metadata": {"name": "depot"}})
            self.wait(edge, f"{depot}/far", "its namespace is there", lambda o: o)
        self.cloud.patch(f"{STRICT}/bad", {"spec": "ok"})
        for edge in self.edges:
            self.wait(edge, f"{STRICT}/bad", "it is good now", lambda o: o and o["spec"] == "ok")
        self.cloud.patch(f"{STRICT}/bad", {"spec": "too long again"})
        wider = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/maxLength", "value": 50}]
        for edge in self.edges:
            path = f"{DEFINITIONS}/stricts.example.com"
            self.assertEqual(edge.request("PATCH", path, wider, "application/json-patch+json")[0], 200)
            self.wait(edge, f"{STRICT}/bad", "the schema is wider", lambda o: o and o["spec"] == "too long again")
        # A finalizer holds one at one edge: its name is not free, and all others go on.
        north.patch(f"{CONFIG_MAPS}/near", {"metadata": {"finalizers": ["example.com/hold"]}})
        self.cloud.must("DELETE", f"{CONFIG_MAPS}/near")
        self.wait(south, f"{CONFIG_MAPS}/near", "nobody holds it", lambda o: o is None)
        self.wait(north, f"{CONFIG_MAPS}/near", "it is held", lambda o: "deletionTimestamp" in o["metadata"])
        made = self.make(self.cloud, CONFIG_MAPS, "near", {"to": "edges"}, data={"a": "2"})
        self.wait(south, f"{CONFIG_MAPS}/near", "made anew", lambda o: o and o["data"] == {"a": "2"})
        self.assertEqual(north.get(f"{CONFIG_MAPS}/near")["data"], {"a": "1"})
        north.patch(f"{CONFIG_MAPS}/near", {"metadata": {"finalizers": None}})
        found = self.wait(north, f"{CONFIG_MAPS}/near", "made anew", lambda o: o and o["data"] == {"a": "2"})
        self.assertEqual(found["metadata"]["annotations"][UPSTREAM_UID], made["metadata"]["uid"])
        for process in self.processes:
            wait_until("nothing is stuck", lambda p=process: metrics(p.port)["davit_federation_stuck_objects"] == 0)
        self.check_clean_end(*self.processes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
