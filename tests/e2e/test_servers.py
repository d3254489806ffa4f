"""Several servers in front of one PostgreSQL: agents and operators come to any of them, and any may end at any moment."""

import random
import unittest

from parts import deployment, wait_until
from servers import REGIONS, ROUNDS, Servers


class Several(Servers):
    def test_a_change_at_one_is_at_the_agents_of_the_other(self):
        one, two = self.servers
        near = self.world.agent("agent-near", region="us-1", port=one.port).start()
        for number, server in enumerate((one, two, one)):
            self.world.socket = server.socket
            self.world.apply([deployment(number, region=REGIONS[number])], "--wait")
            other = two if server is one else one
            self.world.socket = other.socket
            self.world.wait_running({f"d_{n}" for n in range(number + 1)})
        self.check_clean_end(near, *self.agents, one.process, two.process)

    def test_no_stream_misses_a_change_when_a_server_ends_under_load(self):
        load = self.load()
        dice = random.Random(self.seed)
        for round_ in range(ROUNDS):
            server = self.servers[dice.randrange(2)]
            said, refused = load.said, self.balancer.refused
            if round_ % 2 == 0:
                self.assertEqual(server.process.stop(60), 0, server.process.tail())
                # The balancer had the time to notice: nobody was sent to a server that takes no connections.
                self.assertEqual(self.balancer.refused, refused)
            else:
                server.process.kill()
            wait_until("the other one goes on", lambda said=said: load.error or load.said >= said + 10, 90)
            self.start(server)
            wait_until("the balancer sees both", lambda: len(self.balancer.ready) == 2)
        load.end()
        print(f"{load.said} requests, {ROUNDS} ends of a server", flush=True)
        self.check_equal(load)
        self.check_streams()
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


if __name__ == "__main__":
    unittest.main(verbosity=2)
