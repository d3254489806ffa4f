"""What the tests of our agent on a Krane control plane stand on."""

import parts
from krane import PLATFORM, ControlPlane
from parts import REGION, wait_until

QUICK = """
[plugin.watcher]
reconnect_min_ms = 100
reconnect_max_ms = 300
[plugin.reporter]
retry_first_ms = 50
retry_most_ms = 500
breaker_open_ms = 1000
progress_interval_ms = 2000
"""
KINDS = ("deployment", "sentinel", "cilium_network_policy")
PAGE_ROWS = 100


def named(document):
    return document["spec"]["k8s_name"]


class Peer:
    """What the classes below have in common: one control plane, whose first region is there, and our agent."""

    transport = "grpc"  # of [rpc.client.control]
    region_at_first = True

    def setUp(self):
        super().setUp()
        self.krane = ControlPlane(poll_ms=200)
        self.addCleanup(self.krane.close)
        self.wanted = {}
        if self.region_at_first:
            self.krane.ask(do="region", region=REGION, platform=PLATFORM)

    def agent(self, extra="", **options):
        agent = self.world.agent(protocol="ctrl.v1", port=self.krane.port, extra=parts.AT_ONCE + QUICK + extra,
                                 **options)
        agent.argv.append(self.world.write("peer.toml", f"""
[rpc.client.control]
platform = "{PLATFORM}"
transport = "{self.transport}"
"""))
        return agent

    def want(self, *documents):
        self.wanted.update({(d["kind"], d["id"]): d for d in documents})
        self.krane.want(*documents)

    def unwant(self, *documents):
        for d in documents:
            del self.wanted[d["kind"], d["id"]]
        self.krane.stop(*documents)

    def unreported(self):
        """What the control plane has not heard, or not heard the end of."""
        found, sentinels = self.krane.instances(REGION), self.krane.sentinels()
        out = []
        for (kind, _), document in self.wanted.items():
            count = document["spec"].get("replicas", document["spec"].get("autoscaling", {}).get("min_replicas"))
            if kind == "deployment":
                pods = found.pop(named(document), None)
                if pods is None or [status for _, status in pods] != ["running"] * count:
                    out.append(f"{named(document)}: {pods} instead of {count}")
            elif kind == "sentinel":
                seen = sentinels.get(named(document))
                if seen != {"available": count, "health": "healthy" if count else "paused"}:
                    out.append(f"{named(document)}: {seen} instead of {count}")
        return out + [f"{name}: {pods} is one too many" for name, pods in found.items()]

    def wait_reported(self, seconds=60):
        wait_until(lambda: f"all is reported: {self.unreported()[:5]}\n" + self.tails(),
                   lambda: not self.unreported(), seconds, pause=0.2)

    def tails(self):
        return "\n".join(p.tail() for p in self.world.parts)

    def deletes(self, since=0):
        """Names that were reported as deleted."""
        return [c["message"]["delete"]["k8s_name"] for c in self.krane.calls("ReportDeploymentStatus", since)
                if "delete" in c["message"]]

    def wait_watched(self, since=0, kinds=KINDS):
        """Until a stream of each kind was opened."""
        wait_until(lambda: "streams are open\n" + self.tails(),
                   lambda: all(self.krane.streams(k, since) for k in kinds), 30)
