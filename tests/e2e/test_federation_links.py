"""Federation over links that are away, half-open or cut, and at rest: what it asks of the API servers then.

DAVIT_LONG=1: at rest for an hour, instead of some seconds.
"""

import os
import time
import unittest
from collections import Counter
from urllib.parse import urlsplit

from api_proxy import Refuse
from federation_parts import ROBOT, federation, path_of, wait_in_step
from link import Link
from parts import get, metrics, wait_until
from test_federation_bugs import MISSIONS, Proxied

REST_SECONDS = 3600 if os.environ.get("DAVIT_LONG") == "1" else 4
OBJECTS = 20
ONES = tuple(f"/o-{n}" for n in range(OBJECTS))
IDLE = "watch_idle_timeout_ms = 2000"


def shown(calls):
    return [str(call) for call in calls]


class OnKubernetes(Proxied):
    def counted(self):
        """What both API servers have counted of our resources, but for watches."""
        out = {}
        for cluster in (self.cloud, self.robot):
            for (verb, resource), count in cluster.counted().items():
                if resource in ("missions", "charts", "tasks", "customresourcedefinitions") and verb != "WATCH":
                    out[cluster.name, verb, resource] = count
        return out

    def test_ten_changes_while_a_side_is_away_are_one_write(self):
        self.start()
        self.make_all(MISSIONS, OBJECTS)
        for away in (self.wan, self.lan):
            wait_in_step(self.process)  # also after the first one: each watch comes back by itself
            up = metrics(self.process.port)["davit_federation_watch_up"]
            away.down()
            wait_until("it is noticed", lambda n=up: metrics(self.process.port)["davit_federation_watch_up"] == n - 3)
            for proxy in (self.wan, self.lan):
                proxy.begin_counting()
            for n in range(1, 11):
                for one in range(3):
                    self.cloud.patch(f"{MISSIONS}/o-{one}", {"spec": [away is self.wan, n]})
                    self.report(MISSIONS, f"o-{one + 3}", [away is self.wan, n])
            before = self.counted()
            away.up()
            last = [away is self.wan, 10]
            for one in range(3):
                self.wait(self.robot, f"{MISSIONS}/o-{one}", "the last spec", lambda o: o["spec"] == last)
                self.wait(self.cloud, f"{MISSIONS}/o-{one + 3}", "the last status", lambda o: o.get("status") == last)
            # What reached the API server is done; the others saw each change as it came and could not write it.
            down, up = self.answered(self.lan), self.answered(self.wan)
            few = Counter(c.path for c in (down if away is self.wan else up))
            self.assertEqual(len(few), 3, (shown(down), shown(up)))
            # Two: the last changes came when the backlog was taken for done.
            self.assertLessEqual(max(few.values()), 2, (shown(down), shown(up)))
            # Nothing was listed: the watches went on where they were.
            self.assertEqual([c for proxy in (self.wan, self.lan) for c in self.lists(proxy, MISSIONS)], [])
            # Each first asked whether the API server's store is the one of before: a list of one object's metadata.
            # The API servers' counts are read before the calls, since a watch may still be on its way back.
            after = self.counted()
            plain = [c for proxy in (self.wan, self.lan) for c in list(proxy.calls)
                     if not c.watch and c.method == "GET" and not c.path.endswith(ONES)]
            self.assertEqual({c.query.get("limit") for c in plain}, {"1"}, shown(plain))
            grown = {key: n - before.get(key, 0) for key, n in after.items() if n > before.get(key, 0)}
            self.assertLessEqual(sum(n for key, n in grown.items() if key[1] == "LIST"), len(plain), grown)
        self.check_clean_end(self.process)

    def says(self, word):
        try:
            return word in self.health()[1]
        except OSError:
            return False  # it has not begun to listen

    def answered(self, proxy):
        """The writes that the API server has taken. An object shows its last write before the proxy has the answer."""
        wait_until("each write is answered", lambda: all(c.status for c in self.writes(proxy, MISSIONS)))
        return [c for c in self.writes(proxy, MISSIONS) if c.status == 200]

    def test_it_lists_anew_once_and_only_when_its_version_has_expired(self):
        self.start()
        self.make_all(MISSIONS, OBJECTS)
        for proxy in (self.wan, self.lan):
            proxy.begin_counting()
        self.wan.cut_watches()
        self.cloud.patch(f"{MISSIONS}/o-1", {"spec": "cut"})
        self.wait(self.robot, f"{MISSIONS}/o-1", "the spec", lambda o: o["spec"] == "cut")
        self.assertEqual(self.lists(self.wan, MISSIONS), [])
        expired = []

        def rule(call):
            if call.watch and not call.lists and call.path.endswith("/missions") and not expired:
                expired.append(call)
                return Refuse(410)
            return None
        self.wan.rule = rule
        self.wan.cut_watches()
        wait_until("the version has expired", lambda: expired)
        self.cloud.patch(f"{MISSIONS}/o-2", {"spec": "expired"})
        self.wait(self.robot, f"{MISSIONS}/o-2", "the spec", lambda o: o["spec"] == "expired")
        self.assertEqual(len(self.lists(self.wan, MISSIONS)), 1)
        self.assertEqual(self.lists(self.lan, MISSIONS), [])
        self.assertEqual(shown(self.writes(self.lan, MISSIONS)),
                         shown([c for c in self.writes(self.lan, MISSIONS) if c.path[-3:] in ("o-1", "o-2")]))
        self.check_clean_end(self.process)

    def test_at_rest_nothing_is_asked_but_for_watches(self):
        self.start()
        self.make_all(MISSIONS, OBJECTS)
        for n in range(OBJECTS):
            self.report(MISSIONS, f"o-{n}", n)
        for n in range(OBJECTS):
            self.wait(self.cloud, f"{MISSIONS}/o-{n}", "its status is up", lambda o, n=n: o.get("status") == n)
        time.sleep(1)  # what is still on its way
        for proxy in (self.wan, self.lan):
            proxy.begin_counting()
        before = self.counted()
        time.sleep(REST_SECONDS / 2)
        for proxy in (self.wan, self.lan):
            proxy.cut_watches()  # renewals, as each comes after some minutes
        time.sleep(REST_SECONDS / 2)
        wait_until("the watches are renewed", lambda: all(len(p.calls) >= 3 for p in (self.wan, self.lan)))
        after = self.counted()
        for proxy in (self.wan, self.lan):
            # A watch that is resumed asks first whether the API server's store is the one of before.
            self.assertEqual(shown(c for c in proxy.calls if not c.watch and c.query.get("limit") != "1"), [])
            self.assertEqual(shown(c for c in proxy.calls if c.lists), [])
        grown = {key: n - before.get(key, 0) for key, n in after.items() if n > before.get(key, 0)}
        self.assertEqual([key for key in grown if key[1] != "LIST"], [], grown)
        self.check_clean_end(self.process)

    def linked(self, cluster):
        kubernetes = cluster.kubernetes
        link = Link(urlsplit(kubernetes.url).netloc, kubernetes.kubeconfig, self.world.folder)
        self.addCleanup(link.close)
        return link

    def start_on(self, wan, lan):
        self.process = federation(self.world, wan.kubeconfig, lan.kubeconfig, f'robot_name = "{ROBOT}"', "linked")
        extra = self.world.write("idle.toml", f"[plugin.cloud]\n{IDLE}\n[plugin.robot]\n{IDLE}\n"
                                              "[plugin.federation]\nrequest_timeout_ms = 2000\n")
        self.process.argv.append(str(extra))
        self.start()

    def both_ways(self, what):
        """A change of each side is at the other one."""
        self.cloud.patch(f"{MISSIONS}/o-1", {"spec": what})
        self.report(MISSIONS, "o-2", what)
        self.wait(self.robot, f"{MISSIONS}/o-1", f"{what}: the spec", lambda o: o["spec"] == what)
        self.wait(self.cloud, f"{MISSIONS}/o-2", f"{what}: the status", lambda o: o.get("status") == what)

    def test_half_open_slow_and_short_lived_connections(self):
        wan, lan = self.linked(self.cloud), self.linked(self.robot)
        self.start_on(wan, lan)
        uids = self.make_all(MISSIONS, 5)
        for link in (wan, lan):
            link.hole = True
            self.cloud.patch(f"{MISSIONS}/o-0", {"spec": "in the hole"})
            self.report(MISSIONS, "o-3", "in the hole")
            wait_until("somebody has noticed", lambda n=link.opened, one=link: one.opened > n)
            link.hole = False
            self.wait(self.robot, f"{MISSIONS}/o-0", "the spec", lambda o: o["spec"] == "in the hole")
            self.wait(self.cloud, f"{MISSIONS}/o-3", "the status", lambda o: o.get("status") == "in the hole")
            self.both_ways(f"after the hole {link.port}")
        wan.delay = 0.25
        self.both_ways("slow")
        wan.mend()
        wan.life = lan.life = 1.0
        for link in (wan, lan):
            link.cut()
        began = wan.opened
        for turn in range(3):
            self.both_ways(f"short {turn}")
            time.sleep(0.5)
        self.assertGreater(wan.opened, began)
        for link in (wan, lan):
            link.mend()
        wait_until("all is well", lambda: get(self.process.port, "/readyz")[0] == 200)
        self.assertEqual(self.uids(MISSIONS), uids)
        self.check_clean_end(self.process)

    def test_a_cluster_that_is_away_at_the_start(self):
        """Nothing is deleted by somebody who has not seen both sides."""
        self.make(self.robot, MISSIONS, "orphan")
        self.make(self.cloud, MISSIONS, "new")
        self.wan.down()
        self.process.start()
        wait_until("it is said", lambda: self.says("cloud"))
        self.assertIsNotNone(self.robot.get(f"{MISSIONS}/orphan"))
        self.wan.rule = lambda call: Refuse(403) if call.path.endswith("/missions") else None
        self.wan.up()
        wait_until(lambda: f"the refusal is said, and not {self.health()}", lambda: self.says("a fault of the tests"))
        self.assertIsNotNone(self.robot.get(f"{MISSIONS}/orphan"))
        self.wan.reset()
        self.wait(self.robot, f"{MISSIONS}/new", "it is there", lambda o: o)
        self.wait(self.robot, f"{MISSIONS}/orphan", "it is gone", lambda o: o is None)
        wait_in_step(self.process)
        self.assertIsNone(self.robot.get(path_of("missions", name="orphan")))
        self.check_clean_end(self.process)


if __name__ == "__main__":
    unittest.main(verbosity=2)
