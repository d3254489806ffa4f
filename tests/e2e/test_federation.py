"""Objects of two real clusters kept equal: a cloud, a robot, and the process of federation between them."""

import unittest

from federation_parts import MERGE, Pair, definition
from parts import DAVIT, REPOSITORY, Process, wait_until


class OnKubernetes(Pair):
    def setUp(self):
        super().setUp()
        overlay = self.world.write("federation.toml", f"""
[host]
state_dir = "{self.world.folder}/state-federation"
[rpc.server.operator]
listen = "unix:{self.world.socket}"
[plugin.cloud]
kubeconfig = "{self.cloud.kubeconfig}"
[plugin.robot]
kubeconfig = "{self.robot.kubeconfig}"
[plugin.federation]
robot_name = "robot-17"
retry_first_ms = 100
retry_most_ms = 1000
""")
        self.process = self.world.part(Process(
            "federation", [DAVIT, "run", REPOSITORY / "etc/federation.toml", overlay], self.world.folder))

    def wait(self, cluster, path, what, holds):
        """Until the object holds; None: it is not there."""
        def found():
            status, answer = cluster.request("GET", path)
            return answer if status == 200 else None
        wait_until(lambda: f"{what}: {found()}; {self.process.tail()}", lambda: holds(found()), 60)
        return found()

    def test_spec_goes_down_and_status_up(self):
        path = self.install(definition("missions", spec_source="cloud"))
        self.make(self.cloud, path, "before", spec={"goal": "a"})
        self.process.start()
        one = self.wait(self.robot, f"{path}/before", "it is at the robot", lambda o: o and o["spec"] == {"goal": "a"})
        self.robot.request("PATCH", f"{path}/before/status",
                           {"status": {"at": "door", "observedGeneration": one["metadata"]["generation"]}}, MERGE)
        up = self.wait(self.cloud, f"{path}/before", "the status is in the cloud",
                       lambda o: o.get("status", {}).get("at") == "door")
        self.assertEqual(up["status"]["observedGeneration"], up["metadata"]["generation"])
        # A new spec: nobody has observed it yet.
        self.cloud.request("PATCH", f"{path}/before", {"spec": {"goal": "b"}}, MERGE)
        self.wait(self.robot, f"{path}/before", "the new spec", lambda o: o["spec"] == {"goal": "b"})
        self.wait(self.cloud, f"{path}/before", "it is not observed", lambda o: o.get("status", {}).get("observedGeneration") == 0)
        # Edits and deletes at the robot are taken back; what is made there goes.
        self.robot.request("PATCH", f"{path}/before", {"spec": {"goal": "mine"}}, MERGE)
        self.wait(self.robot, f"{path}/before", "the edit is taken back", lambda o: o["spec"] == {"goal": "b"})
        self.robot.request("DELETE", f"{path}/before")
        self.wait(self.robot, f"{path}/before", "it is there again", lambda o: o and "deletionTimestamp" not in o["metadata"])
        self.make(self.robot, path, "own", spec={})
        self.wait(self.robot, f"{path}/own", "nobody has made it in the cloud", lambda o: o is None)
        self.cloud.request("DELETE", f"{path}/before")
        self.wait(self.robot, f"{path}/before", "it is gone", lambda o: o is None)
        self.check_clean_end(self.process)

    def test_killed_it_goes_on_and_deletes_nothing_that_lives(self):
        path = self.install(definition("charts", status=False, spec_source="cloud", filter_by_robot_name="True"))
        mine = {"labels": {"cloudrobotics.com/robot-name": "robot-17"}}
        for n in range(10):
            self.make(self.cloud, path, f"c-{n}", metadata=mine, spec={"n": n})
        self.make(self.cloud, path, "other", metadata={"labels": {"cloudrobotics.com/robot-name": "b"}}, spec={})
        self.make(self.robot, path, "own", spec={})
        self.process.start()
        for n in range(10):
            self.wait(self.robot, f"{path}/c-{n}", "it is at the robot", lambda o: o is not None)
        uids = {n: self.robot.request("GET", f"{path}/c-{n}")[1]["metadata"]["uid"] for n in range(10)}
        self.process.kill()
        # Meanwhile one is deleted, one changed, one is new, and a status has come.
        self.cloud.request("DELETE", f"{path}/c-0")
        self.cloud.request("PATCH", f"{path}/c-1", {"spec": {"n": 100}}, MERGE)
        self.make(self.cloud, path, "c-10", metadata=mine, spec={"n": 10})
        self.robot.request("PATCH", f"{path}/c-2", {"status": {"ready": True}}, MERGE)
        self.process.start()
        self.wait(self.robot, f"{path}/c-0", "it is gone", lambda o: o is None)
        self.wait(self.robot, f"{path}/c-1", "it is new", lambda o: o["spec"] == {"n": 100})
        self.wait(self.robot, f"{path}/c-10", "it is there", lambda o: o is not None)
        self.wait(self.cloud, f"{path}/c-2", "its status is up", lambda o: o.get("status") == {"ready": True})
        self.assertEqual({n: self.robot.request("GET", f"{path}/c-{n}")[1]["metadata"]["uid"] for n in range(1, 10)},
                         {n: uid for n, uid in uids.items() if n > 0})
        self.assertEqual(self.robot.request("GET", f"{path}/own")[0], 200)
        self.assertEqual(self.robot.request("GET", f"{path}/other")[0], 404)
        self.check_clean_end(self.process)


if __name__ == "__main__":
    unittest.main(verbosity=2)
