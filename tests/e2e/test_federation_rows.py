"""Every row of the tables of the reference (federation_rows.py), on two real API servers.

All rows of a table run at the same time, each with an object of its own, beside one process of federation.
"""

import time
import unittest
from types import SimpleNamespace

import federation_rows as tables
import federation_steps as steps
import parts
from federation_parts import ROBOT, definition, federation, install, start_clusters, wait_in_step

# What rows are played on, by the name that they say.
KINDS = {
    "missions": {"status": True},
    "charts": {"status": False},
    "sites": {"status": True, "scope": "Cluster"},
    "parts": {"status": True, "status_subtree": "robot"},
    "pieces": {"status": False, "status_subtree": "robot"},
    "tasks": {"status": True, "filter_by_robot_name": "True"},
}


def kind_of(plural, made, definition_of):
    return SimpleNamespace(plural=plural, kind=definition_of["spec"]["names"]["kind"], status=made.get("status", True),
                           namespace=None if made.get("scope") == "Cluster" else "default", definition=definition_of,
                           filtered=bool(made.get("filter_by_robot_name")), subtree=made.get("status_subtree"))


class OnKubernetes(parts.Case):
    @classmethod
    def setUpClass(cls):
        cls.cloud, cls.robot = start_clusters("cloud", "robot")
        cls.kinds, cls.own = {}, []
        for source in ("cloud", "robot"):
            for word, made in KINDS.items():
                plural = word if source == "cloud" else "robot" + word
                cls.kinds[word, source] = kind_of(plural, made, definition(plural, spec_source=source, **made))
        install([kind.definition for kind in cls.kinds.values()], cls.cloud, cls.robot)

    @classmethod
    def tearDownClass(cls):
        cls.cloud.close()
        cls.robot.close()

    def clusters(self, source):
        up, down = (self.cloud, self.robot) if source == "cloud" else (self.robot, self.cloud)
        return {"UP": up, "DOWN": down, "ROBOT": self.robot, "CLOUD": self.cloud, "": None}

    def played(self, rows, process, sources):
        out = []
        for row in rows:
            for on in row.on:
                if isinstance(on, tables.Own):
                    plural = f"own{time.monotonic_ns()}s"
                    annotations = {key: value for key, value in on.annotations.items() if value is not None}
                    kind = kind_of(plural, {"status": on.status}, definition(plural, on.status, **annotations))
                    self.own.append(kind)
                    out.append(steps.Played(row, kind, self.clusters("cloud"), process))
                    continue
                out += [steps.Played(row, self.kinds[on, source], self.clusters(source), process) for source in sources]
        return out

    def play(self, rows, settings, sources=("cloud", "robot")):
        process = federation(self.world, self.cloud.kubernetes.kubeconfig, self.robot.kubernetes.kubeconfig, settings)
        played = self.played(rows, process, sources)
        install([row.kind.definition for row in played if row.kind in self.own], self.cloud, self.robot)
        process.start()
        wait_in_step(process)
        for phase in range(3):
            if phase == 1:
                process.kill()
            if phase == 2:
                process.start()
                wait_in_step(process)
            steps.play(played, phase)
        problems = [row.problem for row in played if row.problem]
        self.assertFalse(problems, f"{len(problems)} of {len(played)} rows\n" + "\n".join(problems))
        self.check_clean_end(process)

    def test_rows_of_what_travels_and_what_lives(self):
        rows = tables.FIELDS + tables.DOWNWARDS + tables.UPWARDS + tables.LIVES
        self.play(rows, f'robot_name = "{ROBOT}"')

    def test_rows_as_before(self):
        self.play(tables.AS_BEFORE, f'robot_name = "{ROBOT}"\nobserved_generation = "copy"\nmatch_uid = false')

    def test_rows_of_definitions(self):
        self.play(tables.DEFINITIONS, f'robot_name = "{ROBOT}"')

    def test_rows_without_a_robot_name(self):
        self.play(tables.WITHOUT_ROBOT_NAME, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
