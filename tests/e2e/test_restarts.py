"""Server, agent and API server end in any order and come back in any order, while things change.

DAVIT_SEED repeats a plan, DAVIT_LONG=1 tries all 36 orders.
"""

import itertools
import os
import random
import time
import unittest

import expected
import parts
from api_proxy import ApiProxy
from converge import Rounds

LONG = os.environ.get("DAVIT_LONG") == "1"


class OnKubernetes(parts.KubernetesCase):
    def test_every_order(self):
        proxy = ApiProxy(self.kubernetes, self.world.folder)
        seed = int(os.environ.get("DAVIT_SEED", random.SystemRandom().randrange(1_000_000)))
        print(f"seed {seed}", flush=True)
        rounds = Rounds(parts, expected, self.world, self.kubernetes, seed,
                        {"deployment": 6, "sentinel": 2, "cilium_network_policy": 3}, proxy.kubeconfig, eagerness=3.0)
        rounds.from_nothing()
        ends = {"server": rounds.server.kill, "agent": rounds.agent.kill, "API server": proxy.down}
        begins = {"server": rounds.server.start, "agent": rounds.restart, "API server": proxy.up}
        orders = list(itertools.product(itertools.permutations(ends), itertools.permutations(begins)))
        dice = random.Random(seed)
        for down, up in orders if LONG else dice.sample(orders, 3):
            # What the operator wants is in work when they end.
            ours = rounds.ours()
            rounds.operate()
            for part in down:
                ends[part]()
            rounds.vandal.rampage(ours, ())
            for part in up:
                begins[part]()
            self.world.wait_ready(rounds.server)
            rounds.wait_equal(f"down {', '.join(down)}; up {', '.join(up)}", time.monotonic())
        rounds.end()
        self.check_clean_end(rounds.agent, rounds.server)
        proxy.down()


if __name__ == "__main__":
    unittest.main(verbosity=2)
