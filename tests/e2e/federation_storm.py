"""Everybody who changes objects of federation at once, and who sees whether something is wrong meanwhile.

People make, change, move, delete and make anew objects in the cloud. At each robot a controller counts in the statuses,
and a vandal edits, relabels, holds and deletes. Nobody of them goes over the links that are bad. What a request has
done that got no answer, its sender finds out afterwards, so that the model is always what the cloud should have.
"""

import itertools
import random
import threading
import time

from federation_parts import ROBOT_LABEL, UPSTREAM_UID, Eye, path_of

HOLD = ["example.com/hold"]


def made_of(o):
    return o["metadata"].get("annotations", {}).get(UPSTREAM_UID)


class Actor(threading.Thread):
    """Does one thing after another until it is told to end."""

    def __init__(self, storm, seed, pause):
        super().__init__(daemon=True)
        self.storm, self.dice, self.pause = storm, random.Random(seed), pause
        self.over, self.done, self.fault = threading.Event(), 0, None

    def run(self):
        while not self.over.is_set():
            try:
                self.act()
                self.done += 1
            except OSError:
                time.sleep(0.1)  # the API server is away
            except Exception as error:
                self.fault = error
                raise
            time.sleep(self.pause)

    def end(self):
        self.over.set()
        self.join()
        if self.fault:
            raise self.fault


class People(Actor):
    """`model`: by (plural, name), the spec and the robot of what is in the cloud, and its uid."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.model, self.numbers = {}, itertools.count(1)

    def act(self):
        key = self.dice.choice(self.storm.keys)
        had = self.model.get(key)
        chance = self.dice.random()
        if had is None:
            self.make(key)
        elif chance < 0.70:
            self.change(key, {"spec": {"v": next(self.numbers)}})
        elif chance < 0.80:
            self.leave(had)
            robot = self.dice.choice(self.storm.robots).name
            self.change(key, {"metadata": {"labels": {ROBOT_LABEL: robot}}})
        else:
            self.leave(had)
            again = self.dice.random() < 0.7
            try:
                self.storm.cloud.request("DELETE", self.path(key))
            finally:
                self.settle(key)  # also when the API server was killed before it answered
            if again:
                self.make(key)
        self.settle(key)

    def path(self, key):
        return path_of(key[0], name=key[1])

    def leave(self, had):
        """From now on its robot may lose it."""
        self.storm.may_go.add((had["robot"], had["uid"]))

    def make(self, key):
        robot = self.dice.choice(self.storm.robots).name
        try:
            self.storm.cloud.request("POST", path_of(key[0]), {
                "apiVersion": "example.com/v1", "kind": key[0].capitalize(),
                "metadata": {"name": key[1], "labels": {ROBOT_LABEL: robot}}, "spec": {"v": next(self.numbers)}})
        finally:
            self.settle(key)

    def change(self, key, patch):
        try:
            self.storm.cloud.request("PATCH", self.path(key), patch, "application/merge-patch+json")
        finally:
            self.settle(key, patch)

    def settle(self, key, patch=None):
        """What the cloud has now is what people want, whatever was answered; nobody else may write it."""
        while True:
            try:
                status, found = self.storm.cloud.request("GET", self.path(key))
            except OSError:
                status = 0
            if status in (200, 404):
                break
            time.sleep(0.1)
        if status == 404:
            self.model.pop(key, None)
            return
        now = {"uid": found["metadata"]["uid"], "spec": found["spec"], "robot": found["metadata"]["labels"][ROBOT_LABEL]}
        had = self.model.get(key)
        if had and had["uid"] == now["uid"]:
            wanted = {**had, "spec": (patch or {}).get("spec", had["spec"]),
                      "robot": (patch or {}).get("metadata", {}).get("labels", {}).get(ROBOT_LABEL, had["robot"])}
            if now not in (had, wanted):
                self.storm.wrong(f"{key} in the cloud was changed by somebody: {now}, not {had} or {wanted}")
        self.model[key] = now


class Controller(Actor):
    """Writes a count that never goes back, with its robot and the uid of the upstream object for which it counts."""

    def __init__(self, storm, seed, pause, robot):
        super().__init__(storm, seed, pause)
        self.robot = robot

    def act(self):
        plural = self.dice.choice(self.storm.plurals)
        mine = [o for o in list(self.storm.seen_at[self.robot.name, plural].known.values()) if made_of(o)]
        if not mine:
            return
        path = path_of(plural, name=self.dice.choice(mine)["metadata"]["name"])
        status, found = self.robot.request("GET", path)
        if status != 200 or not made_of(found):
            return
        found["status"] = {"count": next(self.storm.counter), "of": made_of(found), "by": self.robot.name,
                           "observedGeneration": found["metadata"]["generation"]}
        self.robot.request("PUT", path + self.storm.sub(plural), found)


class Vandal(Actor):
    def __init__(self, storm, seed, pause, robot):
        super().__init__(storm, seed, pause)
        self.robot, self.held = robot, set()

    def act(self):
        plural = self.dice.choice(self.storm.plurals)
        there = list(self.storm.seen_at[self.robot.name, plural].known.values())
        chance = self.dice.random()
        if chance < 0.1:
            name = f"orphan-{self.robot.name}-{self.done}"
            self.robot.request("POST", path_of(plural), {
                "apiVersion": "example.com/v1", "kind": plural.capitalize(), "spec": {},
                "metadata": {"name": name, "labels": {ROBOT_LABEL: self.robot.name}}})
            return
        if chance < 0.25 and self.held:
            self.let_go(self.held.pop())
            return
        if not there:
            return
        one = self.dice.choice(there)
        path = path_of(plural, name=one["metadata"]["name"])
        if chance < 0.45:
            self.patch(path, {"spec": {"v": "mine"}})
        elif chance < 0.60 and made_of(one):  # an orphan with another label would be nobody's
            self.patch(path, {"metadata": {"labels": {ROBOT_LABEL: "another", "own": "x"}}})
        elif chance < 0.75:
            self.held.add(path)
            self.patch(path, {"metadata": {"finalizers": HOLD}})
        else:
            self.storm.vandalized.add(one["metadata"]["uid"])
            self.robot.request("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1",
                                                "preconditions": {"uid": one["metadata"]["uid"]}})

    def patch(self, path, body):
        return self.robot.request("PATCH", path, body, "application/merge-patch+json")

    def let_go(self, path):
        status = 0
        while status not in (200, 404, 422):
            try:
                status, _ = self.patch(path, {"metadata": {"finalizers": None}})
            except OSError:
                time.sleep(0.1)

    def let_all_go(self):
        for path in self.held:
            self.let_go(path)


class Storm:
    """`plurals`: of definitions that filter by the robot's name; those in `whole` have no /status."""

    def __init__(self, cloud, robots, plurals, whole, objects, seed):
        self.cloud, self.robots, self.plurals, self.whole = cloud, robots, plurals, whole
        self.keys = [(plural, f"o-{n}") for plural in plurals for n in range(objects)]
        self.may_go, self.vandalized = set(), set()  # (robot, uid upstream); uid at a robot
        self.counter, self.counts, self.problems = itertools.count(1), {}, []
        self.seen_at = {(robot.name, plural): Eye(robot, path_of(plural), self.at_robot(robot.name))
                        for robot in robots for plural in plurals}
        self.eyes = [Eye(cloud, path_of(plural), self.in_cloud) for plural in plurals]
        self.people = People(self, seed, 0.01)
        pause = 0.03 * len(robots)
        self.controllers = [Controller(self, seed + n, pause, robot) for n, robot in enumerate(robots, 1)]
        self.vandals = [Vandal(self, -seed - n, 2 * pause, robot) for n, robot in enumerate(robots, 1)]

    def sub(self, plural):
        return "" if plural in self.whole else "/status"

    def wrong(self, what):
        self.problems.append(what)

    def in_cloud(self, _, o):
        """No status goes back, and none is of an object that was there before.

        An object may move to another robot and back before the first has seen it. Then its copy is still there, with
        a status older than that of the other: so the statuses of each robot are compared with one another.
        """
        status = o.get("status") or {}
        uid, count = o["metadata"]["uid"], status.get("count", 0)
        by = uid, status.get("by")
        if count < self.counts.get(by, 0):
            self.wrong(f"the status of {o['metadata']['name']} went back from {self.counts[by]} to {count}: {o}")
        self.counts[by] = max(count, self.counts.get(by, 0))
        if status.get("of", uid) != uid:
            self.wrong(f"{o['metadata']['name']} {uid} has the status of {status['of']}")
        if o["metadata"].get("finalizers"):
            self.wrong(f"{o['metadata']['name']} upstream has a finalizer")

    def at_robot(self, robot):
        def each(kind, o):
            """What lives in the cloud and what no vandal has deleted is not deleted."""
            if kind != "DELETED" or made_of(o) is None or o["metadata"]["uid"] in self.vandalized:
                return
            if (robot, made_of(o)) not in self.may_go:
                self.wrong(f"{o['metadata']['name']} was deleted at {robot}, and should live: {o['metadata']}")
        return each

    def actors(self):
        return [self.people, *self.controllers, *self.vandals]

    def begin(self):
        for key in self.keys:
            self.people.make(key)
        for actor in self.actors():
            actor.start()

    def end(self):
        for actor in self.actors():
            actor.end()
        for vandal in self.vandals:
            vandal.let_all_go()

    def difference(self):
        """What is not as the model says; empty: all is equal."""
        out = []
        for plural in self.plurals:
            cloud = {name: o for (_, name), o in self.cloud.items(path_of(plural)).items()}
            wanted = {name: want for (of, name), want in self.people.model.items() if of == plural}
            if {n: (o["metadata"]["uid"], o["spec"]) for n, o in cloud.items()} != {
                    n: (want["uid"], want["spec"]) for n, want in wanted.items()}:
                out.append(f"{plural} in the cloud")
            for robot in self.robots:
                here = {name: want for name, want in wanted.items() if want["robot"] == robot.name}
                # Whose label a vandal has changed, and whose upstream object went before that was mended, is nobody's.
                found = {name: o for (_, name), o in robot.items(path_of(plural)).items()
                         if name in here or o["metadata"]["labels"][ROBOT_LABEL] == robot.name}
                out += [f"{plural} {name} at {robot.name}: {found.get(name)}, wanted {here.get(name)}"
                        for name in found.keys() ^ here.keys()]
                out += [f"{plural} {name} at {robot.name}: {found[name]}, not {want}; {cloud.get(name)}"
                        for name, want in here.items() if name in found and not self.equal(
                            want, found[name], cloud.get(name, {}), plural)]
        return out

    def equal(self, want, down, up, plural):
        labels = down["metadata"].get("labels")
        same = (down["spec"] == want["spec"] and labels == {ROBOT_LABEL: want["robot"]} and made_of(down) == want["uid"]
                and "deletionTimestamp" not in down["metadata"])
        status, above = down.get("status"), up.get("status")
        if status is None:
            return same
        seen = plural not in self.whole and status["observedGeneration"] == down["metadata"]["generation"]
        expected = up["metadata"]["generation"] if seen else 0
        return same and above == {**status, "observedGeneration": expected}

    def close(self):
        for eye in (*self.eyes, *self.seen_at.values()):
            eye.close()
