"""A bad link in front of an API server: bytes pass as they are, TLS included, until it is told to do worse."""

import random
import threading
import time

from tcp_proxy import Passing, TcpProxy


class Link(TcpProxy):
    """Listens while it exists; `kubeconfig` leads through it.

    `delay`: seconds that each piece of data takes. `life`: seconds after which a connection is closed, as many proxies do.
    `hole`: nothing passes any more and nobody is told; those that connect are taken, and hear nothing (half-open).
    """

    def __init__(self, address, kubeconfig, folder):
        """`address`: host:port that `kubeconfig` names."""
        self.mend()
        self.opened = 0
        host, _, target = address.rpartition(":")
        super().__init__(host, target)
        self.kubeconfig = self.kubeconfig_through(kubeconfig, folder)

    def admits(self):
        self.opened += 1
        return self.is_up

    def passing(self, client, onward):
        if self.life:
            timer = threading.Timer(self.life * random.uniform(0.5, 1), self.end, (client, onward))
            timer.daemon = True
            timer.start()
        return Slow(self)

    def down(self):
        self.is_up = False
        self.cut()

    def up(self):
        self.is_up = True

    def mend(self):
        self.delay, self.life, self.hole, self.is_up = 0.0, None, False, True


class Slow(Passing):
    """What the hole has swallowed once leaves a gap: such a connection never works again."""

    def __init__(self, link):
        self.link, self.silent = link, link.hole

    def forward_up(self, data, sink):
        if self.link.delay:
            time.sleep(self.link.delay)
        self.silent = self.silent or self.link.hole
        return self.silent or super().forward_up(data, sink)

    forward_down = forward_up
