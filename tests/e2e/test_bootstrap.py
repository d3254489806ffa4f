"""What an agent does first, over both protocols and by clients that are not ours: it takes up 1,000 deployments while
they change, and reports. Agents of Krane do it in test_krane_agents.py.

OverGrpc is by grpcio, the others by whom they are named after.
"""

import unittest

import requests_table as table
from connect_client import NodeClient
from grpcurl_client import ByGrpcurl
from parts import deployment, wait_until
from requests_case import RequestCase, setUpModule
from wire import SECONDS, agent

__all__ = ["setUpModule", "OverGrpc"]
REGION = "empty"  # but for the test's own
NUMBERS = range(1000, 2000)
CONNECT = 'transport = "connect"'
WATCHES = [("ClusterService/WatchDeployments", ""), ("AgentService/Watch", "subscriptions { kind: 'deployment' }")]
IMAGE, NEXT_IMAGE = "registry.example/app:1", "registry.example/app:2"


class Holding:
    """What an agent holds of what its stream has said: names and images."""

    def __init__(self, apply_type, stream):
        self.apply_type, self.stream = apply_type, stream
        self.images, self.versions = {}, []

    def changes(self, message):
        """Version, name and image (None: it is deleted) of each record in a message of either protocol."""
        if hasattr(message, "records"):
            return [(r.version, r.name, self.apply_type.FromString(r.apply).image if r.HasField("apply") else None)
                    for r in message.records]
        state = getattr(message, message.WhichOneof("state"))
        return [(message.version, state.k8s_name, getattr(state, "image", None))]

    def read_until(self, enough):
        """The stream's own deadline ends the wait."""
        for message in self.stream:
            for version, name, image in self.changes(message):
                self.versions.append(version)
                if image is None:
                    self.images.pop(name, None)  # it may have gone before it was told of
                else:
                    self.images[name] = image
            if enough(self):
                return
        raise AssertionError(f"the stream ended and had named {len(self.versions)} records")


class OverGrpc(RequestCase):
    def change_some(self):
        """Some change, one comes and one goes, which is the last; returns what is there then."""
        changed, last = NUMBERS[::50], NUMBERS[-1]
        self.world.apply([*(deployment(n, region=REGION, image=NEXT_IMAGE) for n in changed),
                          deployment(5000, region=REGION)])
        self.world.delete("deployment", f"d_{last}", REGION)
        names = {f"app-{n}": NEXT_IMAGE if n in changed else IMAGE for n in NUMBERS if n != last}
        return {**names, "app-5000": IMAGE}

    def test_a_thousand_records_that_change_meanwhile(self):
        self.world.apply([deployment(n, region=REGION) for n in NUMBERS])
        streams = [self.client.start(*watch, agent(REGION), seconds=4 * SECONDS) for watch in WATCHES]
        held = [Holding(self.cluster.ApplyDeployment, stream) for stream in streams]
        for holding in held:
            holding.read_until(lambda h: len(h.images) >= len(NUMBERS) // 2)
        wanted = self.change_some()
        head = self.at().version
        for (name, _), holding in zip(WATCHES, held):
            with self.subTest(name):
                holding.read_until(lambda h: h.versions[-1:] == [head])
                self.assertEqual(holding.images, wanted)
                self.assertEqual(holding.versions, sorted(set(holding.versions)))
        # One more, when both have caught up and wait.
        self.world.apply([deployment(5001, region=REGION)])
        for (name, _), holding in zip(WATCHES, held):
            with self.subTest(f"{name}, later"):
                holding.read_until(lambda h: "app-5001" in h.images)
                holding.stream.cancel()
        wait_until("no stream is left", lambda: self.metric("davit_streamer_streams") == 0)

    def test_what_is_reported_is_stored(self):
        self.world.apply([deployment(n, region=REGION) for n in NUMBERS[:2]])
        reports = [("ClusterService/ReportDeploymentStatus",
                    "update { k8s_name: 'app-1000' instances { k8s_name: 'p' status: STATUS_RUNNING } }"),
                   ("AgentService/Report", "statuses { kind: 'deployment' id: 'd_1001' epoch: 1 sequence: 1 "
                                           "children { name: 'p' status: 'running' } }")]
        for number, (name, request) in zip(NUMBERS, reports):
            with self.subTest(name):
                self.assertEqual(self.pods_of(f"d_{number}"), "")
                self.assertEqual(self.outcome(name, request, region=REGION), "ok")
                self.assertEqual(self.pods_of(f"d_{number}"), "p running")

    def test_nothing_is_told_without_a_token(self):
        for name, request in WATCHES:
            for what, token, text in (("none", None, table.MISSING), ("another", "nobody", table.WRONG)):
                with self.subTest(f"{name}: {what}"):
                    metadata = agent(REGION, token) if token else agent(REGION)[1:]
                    answer = self.call(name, request, metadata=metadata)
                    self.assertEqual((answer.code, answer.text, answer.messages), ("UNAUTHENTICATED", text, []))


class ByNodeOverHttp1(OverGrpc):
    listener, http = CONNECT, "1.1"

    def connect(self):
        return NodeClient(f"http://127.0.0.1:{self.world.port}", self.defined, http=self.http)


class ByNodeOverHttp2(ByNodeOverHttp1):
    http = "2"


class ByGrpcurlOverGrpc(ByGrpcurl, OverGrpc):
    pass


class ByGrpcurlOverConnect(ByGrpcurl, OverGrpc):
    listener = CONNECT


if __name__ == "__main__":
    unittest.main(verbosity=2)
