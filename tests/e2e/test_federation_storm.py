"""Federation of a cloud and several robots, changes on all sides, bad links, kills: afterwards all is as it should be.

DAVIT_SEED repeats the plan, not the timing. DAVIT_LONG=1: ten robots and five definitions for ten minutes.
DAVIT_STORM="robots definitions objects seconds" chooses another size.
"""

import os
import random
import time
import unittest
from collections import Counter
from urllib.parse import urlsplit

import parts
from api_proxy import ApiProxy, Cut, Refuse, Slow
from federation_parts import definition, federation, install, start_clusters
from federation_storm import Storm
from link import Link
from parts import get, wait_until
from test_api_faults import Sometimes, expired, is_mutation, is_watch

LONG = os.environ.get("DAVIT_LONG") == "1"
# Robots, definitions, objects of each definition, seconds.
SIZE = [int(n) for n in os.environ.get("DAVIT_STORM", "10 5 1000 600" if LONG else "2 2 20 15").split()]
QUICK = """
[plugin.cloud]
watch_idle_timeout_ms = 3000
request_timeout_ms = 3000
backoff_max_ms = 1000
[plugin.robot]
watch_idle_timeout_ms = 3000
request_timeout_ms = 3000
backoff_max_ms = 1000
[plugin.federation]
request_timeout_ms = 3000
# While a link is down, people may delete more than half of a robot's objects, and no operator is here to release them.
deletes_max_percent = 100
"""
ANSWERS = {
    "lost": lambda: Sometimes(0.3, Cut(late=True), is_mutation),
    "no answer": lambda: Sometimes(0.3, Cut(), is_mutation),
    "slow": lambda: Sometimes(0.3, Slow(0.5)),
    "500": lambda: Sometimes(0.4, Refuse(500)),
    "429": lambda: Sometimes(0.4, Refuse(429, retry_after=1), is_mutation),
    "409": lambda: Sometimes(0.4, Refuse(409), is_mutation),
    "403": lambda: Sometimes(0.4, Refuse(403)),
    "410": lambda: Sometimes(0.7, Refuse(410), is_watch),
    "expired": lambda: Sometimes(0.7, expired, is_watch),
}


def shown(differences):
    return "\n".join(one[:2000] for one in differences[:3])


class Robot:
    """The process of one robot, and both its links: a proxy that loses answers, behind a link that loses bytes."""

    def __init__(self, world, cloud, cluster):
        self.cluster, self.name = cluster, cluster.name
        self.folder = world.folder / cluster.name
        self.proxies, self.links, self.struck = [], [], False
        for side in (cloud, cluster):
            folder = self.folder / side.name
            folder.mkdir(parents=True)
            proxy = ApiProxy(side.kubernetes, folder)
            self.proxies.append(proxy)
            host = urlsplit(side.kubernetes.url).hostname
            self.links.append(Link(f"{host}:{proxy.port}", proxy.kubeconfig, folder))
        wan, lan = self.links
        self.process = federation(world, wan.kubeconfig, lan.kubeconfig, f'robot_name = "{self.name}"',
                                  f"federation-{self.name}")
        self.process.argv.append(str(world.write(f"{self.name}-quick.toml", QUICK)))

    def kill_at_a_call(self, dice):
        """Just before the API server hears it, or when its answer is there and has not gone out."""
        proxy, left = dice.choice(self.proxies), [dice.randrange(1, 6)]

        def strike(call):
            if call.mutation:
                left[0] -= 1
                if left[0] == 0:
                    self.struck = True
                    self.process.process.kill()
        if dice.random() < 0.5:
            proxy.rule = strike
        else:
            proxy.answered = strike

    def revive(self):
        if self.struck:  # it may still be on its way out
            self.process.process.wait()
            self.struck = False
        if not self.process.alive():
            self.process.start()

    def says(self):
        lines = get(self.process.port, "/metrics")[1].splitlines()
        return "\n".join([get(self.process.port, "/readyz")[1], *[
            line for line in lines if line.startswith(("davit_federation_watch_up", "davit_federation_objects",
                                                       "davit_federation_stuck"))], ""])

    def mend(self):
        for proxy in self.proxies:
            proxy.reset()
        for link in self.links:
            link.mend()

    def close(self):
        for one in (*self.links, *self.proxies):
            one.down()


class OnKubernetes(parts.Case):
    def test_all_is_equal_after_a_storm(self):
        count, definitions, objects, seconds = SIZE
        seed = int(os.environ.get("DAVIT_SEED", random.SystemRandom().randrange(1_000_000)))
        print(f"DAVIT_SEED={seed}", flush=True)
        self.dice = random.Random(seed)
        clusters = start_clusters("cloud", *[f"robot-{n}" for n in range(count)])
        for cluster in clusters:
            self.addCleanup(cluster.close)
        self.cloud, *places = clusters
        plurals = [f"things{n}" for n in range(definitions)]
        whole = plurals[1::2]
        install([definition(plural, plural not in whole, spec_source="cloud", filter_by_robot_name="true")
                 for plural in plurals], *clusters)
        self.robots = [Robot(self.world, self.cloud, place) for place in places]
        for robot in self.robots:
            self.addCleanup(robot.close)
            robot.process.start()
        self.storm = Storm(self.cloud, places, plurals, whole, objects, seed)
        self.storm.begin()
        faults = self.trouble(seconds)
        self.storm.end()
        for robot in self.robots:
            robot.mend()
            robot.revive()
        self.check(faults)

    def check(self, faults):
        began = time.monotonic()
        tails = lambda: "\n".join(robot.process.tail(4) + robot.says() for robot in self.robots)
        wait_until(lambda: f"{len(self.storm.difference())} differ: {shown(self.storm.difference())}\n{tails()}",
                   lambda: not self.storm.difference(), 600 if LONG else 60, 0.5)
        took = time.monotonic() - began
        self.storm.close()
        self.assertEqual(self.storm.problems, [])
        done = Counter()
        for actor in self.storm.actors():
            done[type(actor).__name__] += actor.done
        print(f"changes {dict(done)}, faults {dict(faults)}, equal {took:.1f} s after the last", flush=True)
        for kind in ("People", "Controller", "Vandal"):
            self.assertGreater(done[kind], 0)
        self.check_clean_end(*[robot.process for robot in self.robots])

    def trouble(self, seconds):
        """One fault after another, several at a time; this thread starts the processes, because they end with it."""
        faults, until = Counter(), time.monotonic() + seconds
        # Whatever the dice say, both kinds of API servers are killed once in the middle.
        doomed = [(until - 0.7 * seconds, self.cloud), (until - 0.3 * seconds, self.dice.choice(self.robots).cluster)]
        while time.monotonic() < until:
            if doomed and time.monotonic() > doomed[0][0] or self.dice.random() < 0.002:
                victim = doomed.pop(0)[1] if doomed else self.dice.choice([self.cloud, self.robots[0].cluster])
                faults["API server killed"] += 1
                victim.kubernetes.rig_command("kill-apiserver")
                victim.kubernetes.rig_command("start-apiserver")
                continue
            robot = self.dice.choice(self.robots)
            faults[self.strike(robot)] += 1
            time.sleep(self.dice.uniform(0.1, 1.5) / len(self.robots))
            for other in self.robots:
                if other.process.alive() and self.dice.random() < 0.4 / len(self.robots):
                    other.mend()
                if not other.process.alive():
                    other.mend()
                    other.revive()
        return faults

    def strike(self, robot):
        link, proxy = self.dice.choice(robot.links), self.dice.choice(robot.proxies)
        kind = self.dice.choice(["cut", "hole", "delay", "life", "down", "kill", "answers", "answers", "watches"])
        if kind == "cut":
            link.cut()
        elif kind == "hole":
            link.hole = True
        elif kind == "delay":
            link.delay = self.dice.uniform(0.02, 0.3)
        elif kind == "life":
            link.life = self.dice.uniform(0.5, 3)
        elif kind == "down":
            link.down()
        elif kind == "kill":
            robot.kill_at_a_call(self.dice)
        elif kind == "watches":
            proxy.cut_watches()
        else:
            kind = self.dice.choice(list(ANSWERS))
            proxy.rule = ANSWERS[kind]()
        return kind


if __name__ == "__main__":
    unittest.main(verbosity=2)
