"""Krane at the other end: its control plane and its agents, played by Node (tests/node)."""

import base64
import json

from node_peer import NodePeer
from parts import PATIENCE, free_port

TOKEN = "agent-secret-of-the-tests"
PLATFORM = "aws"


def applied(document):
    """The apply message, as JSON, of a document of an operator."""
    spec = dict(document["spec"])
    for field in ("policy", "healthcheck", "encrypted_environment_variables"):
        if field in spec:
            spec[field] = base64.b64encode(json.dumps(spec[field]).encode()).decode()
    return spec


class ControlPlane(NodePeer):
    """tests/node/krane_control_plane.mjs; its listener keeps its port."""

    def __init__(self, poll_ms=1000, **options):
        super().__init__("krane_control_plane.mjs", {"token": TOKEN, "port": free_port(), "poll_ms": poll_ms, **options})
        self.port = self.wait_event("it listens", lambda e: e.get("event") == "listening", 60)["port"]

    def want(self, *documents, **more):
        """Rows with desired status running; returns the last one's version."""
        for d in documents:
            done = self.ask(do="set", region=d["region"], kind=d["kind"], id=d["id"], apply=applied(d), **more)
        return done["version"]

    def stop(self, *documents):
        """Rows that say that it is to be gone: the soft delete."""
        for d in documents:
            self.ask(do="set", region=d["region"], kind=d["kind"], id=d["id"],
                     state="stopped" if d["kind"] == "deployment" else "archived")

    def drop(self, *documents):
        """The hard delete, of which no stream hears."""
        for d in documents:
            self.ask(do="drop", region=d["region"], kind=d["kind"], id=d["id"])

    def restart(self):
        self.ask(do="down")
        self.ask(do="up")

    def streams(self, kind=None, since=0):
        """What was asked of the watches that were opened."""
        return self.said("stream", kind, since)

    def said(self, what, kind=None, since=0):
        with self.changed:
            return [e for e in self.events[since:]
                    if e.get("event") == what and (kind is None or e.get("kind") == kind)]

    def calls(self, method, since=0):
        return [e for e in self.said("call", None, since) if e["method"] == method]

    def now(self):
        """A place in the events, to look at later ones only."""
        with self.changed:
            return len(self.events)

    def instances(self, region):
        """Names and statuses of the pods that are stored for each deployment of a region."""
        stored = self.ask(do="reported")["instances"]
        return {key.partition("/")[2]: [(i["name"], i["status"]) for i in pods]
                for key, pods in stored.items() if key.startswith(region + "/")}

    def sentinels(self):
        return self.ask(do="reported")["sentinels"]


class Agents(NodePeer):
    """tests/node/krane_agent.mjs: an agent for each of the regions, which may be named more than once."""

    def __init__(self, port, regions, **options):
        self.regions = list(regions)
        super().__init__("krane_agent.mjs", {"url": f"http://127.0.0.1:{port}", "token": TOKEN, "platform": PLATFORM,
                                             "regions": self.regions, **options})

    def hear(self, event, **command):
        since = len(self.events)
        self.tell(**command)
        return self.wait_event(event, lambda e: e.get("event") == event, 60 * PATIENCE, since)

    def counters(self):
        return self.hear("counters", do="counters")["agents"]

    def objects(self, agent=0):
        """What an agent has, by kind and "namespace/name"."""
        return self.hear("objects", do="objects", agent=agent)["objects"]

    def total(self, what):
        return sum(c[what] for c in self.counters())

    def failures(self):
        out = {}
        for counters in self.counters():
            for what, times in counters["failures"].items():
                out[what] = out.get(what, 0) + times
        return out

    def end(self):
        """Ends them all; returns the last counters."""
        self.close()
        return self.wait_event("the end", lambda e: e.get("event") == "end")["agents"]
