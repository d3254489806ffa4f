"""A change that is asked for until who watches has it, beside a Kubernetes API server: a custom resource of the same size
that is created until its watch says so. Both are written and watched by the same few lines, in turn."""

import threading
import time

from clients import Api, Operator, Watch
from latency import BARE, percentile

NAMESPACE = "bench-created"
POLICIES = f"/apis/cilium.io/v2/namespaces/{NAMESPACE}/ciliumnetworkpolicies"
BYTES = 1024


class Records(threading.Thread):
    """The least of an agent: one stream, and when each record came."""

    def __init__(self, operator):
        super().__init__(daemon=True)
        request = operator.agent_pb.WatchRequest(agent="bare")
        request.subscriptions.add(kind="cilium_network_policy")
        self.call = operator.agents.start("AgentService/Watch", request.SerializeToString(),
                                          metadata=operator.headers(BARE), seconds=None)
        self.changed, self.live, self.seen = threading.Condition(), False, {}
        self.start()
        with self.changed:
            if not self.changed.wait_for(lambda: self.live, 30):
                raise RuntimeError("the bare watch of the server did not become live")

    def run(self):
        try:
            for frame in self.call:
                now = time.monotonic()
                with self.changed:
                    self.seen.update((record.name, now) for record in frame.records)
                    self.live = self.live or frame.bookmark.type == frame.bookmark.TYPE_SNAPSHOT_END
                    self.changed.notify_all()
        except Exception:  # noqa: BLE001  cancelled, below
            pass

    def wait(self, name, seconds=60):
        with self.changed:
            if not self.changed.wait_for(lambda: name in self.seen, seconds):
                raise RuntimeError(f"the stream did not bring {name} within {seconds} s")
            return self.seen[name]

    def close(self):
        self.call.cancel()
        self.join()


def policy_of(name):
    policy = {"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "metadata": {"name": name},
              "spec": {"endpointSelector": {"matchLabels": {"app": name}}, "description": "x" * BYTES}}
    return policy


def document_of(parts, number, name):
    document = parts.policy(number, NAMESPACE, region=BARE)
    document["spec"].update(k8s_name=name, policy=policy_of(name))
    return document


def created(bench, parts):
    """p99 of both; ours contains the commit, theirs etcd's."""
    rounds, runs = (50, 1) if bench.short else (200, 9)
    kubernetes, world = parts.Kubernetes(), parts.World(log_level="warn")
    server = world.server(regions=(BARE,)).start()
    world.wait_ready(server)
    kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    operator, api = Operator(world), Api(kubernetes)
    records, seen = Records(operator), {}
    watch = Watch(kubernetes, POLICIES, lambda _, policy: seen.setdefault(policy["metadata"]["name"], time.monotonic()))

    def ours(number, name):
        begin = time.monotonic()
        operator.apply(document_of(parts, number, name))
        return records.wait(name) - begin

    def theirs(_, name):
        begin = time.monotonic()
        api.call("POST", POLICIES, policy_of(name))
        watch.wait(lambda: name in seen)
        return seen[name] - begin

    pairs = []
    try:
        for run in range(runs):
            found = {ours: [], theirs: []}
            for n in range(rounds):
                for way in (ours, theirs) if n % 2 else (theirs, ours):
                    found[way].append(way(run * rounds + n, f"p-{run}-{n}"))
            pairs.append((percentile(found[ours], 0.99), percentile(found[theirs], 0.99)))
    finally:
        records.close()
        watch.close()
        operator.close()
        api.close()
        server.stop()
        world.close()
        kubernetes.request("DELETE", POLICIES)
        kubernetes.close()
    bench.line("a change from the request to who watches, p99", "a custom resource of an API server, the same size",
               [a / b for a, b in pairs], lambda r: r <= 0.5, "<= 0.5",
               ", ".join(f"{a * 1000:.1f} and {b * 1000:.1f} ms" for a, b in pairs))
