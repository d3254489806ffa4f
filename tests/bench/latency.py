"""Single changes through one agent on a real API server, each beside a peer that does the least that could be done.

Both take turns, see the API server with the same watch, and write through one kept-alive connection.
"""

import json
import math
import os
import signal
import sqlite3
import threading
import time

from clients import APPLY, REPLICA_SETS, STRATEGIC, Api, Operator, Watch
from convergence import as_applied, in_namespace, leave

BARE = "bare-1"  # the region of the peer, which no agent has
STRANGE = "registry.example/strange:1"  # of somebody who edits what is not his


class Bare:
    """What the peer has in the cluster: the agent's ReplicaSets again, in a namespace and under labels of its own."""

    def __init__(self, kubernetes, namespace, bodies):
        self.api, self.path, self.bodies = Api(kubernetes), REPLICA_SETS.format(namespace), {}
        self.container = bodies[0]["spec"]["template"]["spec"]["containers"][0]["name"]
        kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        for body in in_namespace(json.loads(json.dumps(bodies)), namespace):
            for metadata in (body["metadata"], body["spec"]["template"]["metadata"]):
                metadata["labels"] = dict(metadata["labels"])
                metadata["labels"].pop("app.kubernetes.io/managed-by", None)
            self.bodies[body["metadata"]["name"]] = body
            self.apply(body["metadata"]["name"])

    def apply(self, name, image=None):
        body = self.bodies[name]
        if image:
            body["spec"]["template"]["spec"]["containers"][0]["image"] = image
        self.api.call("PATCH", f"{self.path}/{name}?fieldManager=bare&force=true", body, APPLY)


class Images:
    """What a bare watch has shown of the ReplicaSets of a namespace: by name, one image after the other."""

    def __init__(self, kubernetes, namespace, names):
        self.seen, self.on_change = {name: [] for name in names}, lambda name, image: None
        self.watch = Watch(kubernetes, REPLICA_SETS.format(namespace), self.see)

    def see(self, _, replica_set):
        images = self.seen.get(replica_set["metadata"]["name"])
        image = replica_set["spec"]["template"]["spec"]["containers"][0]["image"]
        if images is not None and images[-1:] != [image]:
            images.append(image)
            self.on_change(replica_set["metadata"]["name"], image)

    def time(self, name, act, image):
        """Seconds from the end of `act` until a change shows this image."""
        before = len(self.seen[name])
        act()
        begin = time.monotonic()
        return self.watch.wait(lambda: image in self.seen[name][before:]) - begin


class Peer(threading.Thread):
    """Does the peer's apply away from the thread that watches, as a program would."""

    def __init__(self, bare):
        super().__init__(daemon=True)
        self.bare, self.due, self.wanted, self.ended = bare, threading.Condition(), [], False
        self.start()

    def want(self, name, image):
        with self.due:
            self.wanted.append((name, image))
            self.due.notify()

    def run(self):
        while True:
            with self.due:
                self.due.wait_for(lambda: self.wanted or self.ended)
                if self.ended:
                    return
                name, image = self.wanted.pop(0)
            self.bare.apply(name, image)

    def close(self):
        with self.due:
            self.ended = True
            self.due.notify()
        self.join()


def for_peer(document):
    return {**document, "region": BARE, "spec": {**document["spec"], "k8s_namespace": "bench-bare"}}


def percentile(values, share):
    """By nearest rank."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def interleaved(bench, name, peer_name, runs):
    """Prints p50 and p99; `runs` are (ours, peer's) lists of seconds."""
    for share, word in ((0.5, "p50"), (0.99, "p99")):
        pairs = [(percentile(ours, share), percentile(peer, share)) for ours, peer in runs]
        bench.line(f"{name}, {word}", peer_name, [a / b for a, b in pairs], lambda r: r <= 1.5, "<= 1.5",
                   ", ".join(f"{a * 1000:.1f} and {b * 1000:.1f} ms" for a, b in pairs))


def latencies(bench, parts):
    """A changed record in the API server, a drift repaired, a pod's readiness in the store; each beside its peer."""
    deployments, rounds, runs = (10, 10, 1) if bench.short else (100, 100, 9)
    kubernetes = parts.Kubernetes()
    world = parts.World(log_level="warn")
    server = world.server(regions=(parts.REGION, BARE)).start()
    world.wait_ready(server)
    wanted = [parts.deployment(n, "bench-ours", replicas=0) for n in range(deployments)]
    pods = [parts.deployment("pod", "bench-ours")]
    world.apply([*wanted, *pods, *map(for_peer, wanted + pods)])
    agent = world.agent(kubeconfig=kubernetes.kubeconfig).start()
    operator = None
    try:
        world.wait_running(["d_pod"])
        parts.wait_until("all ReplicaSets", lambda: len(kubernetes.replica_sets({"bench-ours"})) == deployments + 1)
        bodies = [as_applied(r) for name, r in kubernetes.replica_sets({"bench-ours"}).items() if name[1] != "app-pod"]
        operator, bare = Operator(world), Bare(kubernetes, "bench-bare", bodies)
        ours, peers = (Images(kubernetes, f"bench-{who}", bare.bodies) for who in ("ours", "bare"))
        peer = Peer(bare)
        changed, repaired = [], []
        for run in range(runs):
            changed.append(change_records(parts, operator, wanted, ours, peers, peer, rounds, run))
            repaired.append(repair_drift(kubernetes, ours, peers, peer, rounds))
        stored = [see_readiness(parts, world, kubernetes, operator, rounds, run) for run in range(runs)]
        peer.close()
    finally:
        if operator:
            operator.close()
        agent.stop()
        server.stop()
        world.close()
        leave(bench, kubernetes, "bench-ours", "bench-bare")
    interleaved(bench, "a changed record in the API server", "a bare watch of the server and one server-side apply",
                changed)
    interleaved(bench, "a drift repaired", "a bare watch and one server-side apply", repaired)
    interleaved(bench, "a pod's readiness in the store", "a bare watch and one commit", stored)


def change_records(parts, operator, wanted, ours, peers, peer, rounds, run):
    """From the operator's commit until a watch shows the new image."""
    follower = Follower(operator, BARE, peer)
    found = ([], [])
    try:
        for n in range(rounds):
            image = f"registry.example/app:{run}-{n}"
            document = wanted[n % len(wanted)]
            spec, name = {**document["spec"], "image": image}, document["spec"]["k8s_name"]

            of_ours = {**document, "spec": spec}
            turns = ((ours, of_ours, found[0]), (peers, for_peer(of_ours), found[1]))
            for images, changed, times in turns if n % 2 else reversed(turns):
                times.append(images.time(name, lambda changed=changed: operator.apply(changed), image))
    finally:
        follower.close()
    return found


class Follower(threading.Thread):
    """The bare watch of the server: a client in a few lines that has each change applied."""

    def __init__(self, operator, region, peer):
        super().__init__(daemon=True)
        request = operator.agent_pb.WatchRequest(agent="bare")
        request.subscriptions.add(kind="deployment")
        self.call = operator.agents.start("AgentService/Watch", request.SerializeToString(),
                                          metadata=operator.headers(region), seconds=None)
        self.live, self.peer, self.message = threading.Event(), peer, operator.cluster_pb.ApplyDeployment
        self.start()
        if not self.live.wait(30):
            raise RuntimeError("the bare watch of the server did not become live")

    def run(self):
        try:
            for frame in self.call:
                for record in frame.records if self.live.is_set() else ():
                    self.peer.want(record.name, self.message.FromString(record.apply).image)
                if frame.bookmark.type == frame.bookmark.TYPE_SNAPSHOT_END:
                    self.live.set()
        except Exception:  # noqa: BLE001  cancelled, below
            pass

    def close(self):
        self.call.cancel()
        self.join()


def repair_drift(kubernetes, ours, peers, peer, rounds):
    """From somebody's edit until a watch shows the image that was there before."""
    editor, found = Api(kubernetes), ([], [])
    container = peer.bare.container

    def edit(namespace, name, image):
        editor.call("PATCH", f"{REPLICA_SETS.format(namespace)}/{name}?fieldManager=somebody",
                    {"spec": {"template": {"spec": {"containers": [{"name": container, "image": image}]}}}}, STRATEGIC)

    def repair(name, image):
        if image == STRANGE:
            peer.want(name, None)
    peers.on_change = repair
    names = sorted(peers.seen)
    for n in range(rounds):
        name = names[n % len(names)]
        turns = ((ours, "bench-ours", found[0]), (peers, "bench-bare", found[1]))
        for images, namespace, times in turns if n % 2 else reversed(turns):
            times.append(images.time(name, lambda namespace=namespace: edit(namespace, name, STRANGE),
                                     images.seen[name][-1]))
    peers.on_change = lambda name, image: None
    editor.close()
    return found


class Stored:
    """What the store has of a deployment, seen past the server: an answer of its own would take longer than the way."""

    def __init__(self, world, region, identity):
        if world.store.postgres:
            import psycopg2  # which only a run on PostgreSQL needs
            self.database = psycopg2.connect(host=str(world.store.postgres.folder), user="davit", dbname="postgres")
            self.database.autocommit = True
            self.table, self.place = "davit.statuses", "%s"
        else:
            self.database = sqlite3.connect(f"file:{world.store.path}?mode=ro", uri=True, isolation_level=None)
            self.table, self.place = "statuses", "?"
        self.key = (region, identity)

    @property
    def ready(self):
        asked = self.database.cursor()
        asked.execute(f"SELECT ready FROM {self.table} WHERE kind = 'deployment' AND region = {self.place} "
                      f"AND id = {self.place}", self.key)
        return asked.fetchone()[0]

    def wait(self, ready, seconds=60):
        """Until it has this count of ready pods; when that was."""
        end = time.monotonic() + seconds
        while self.ready != ready:
            if time.monotonic() > end:
                raise RuntimeError("the pod's readiness does not reach the store")
            time.sleep(0.0005)
        return time.monotonic()

    def close(self):
        self.database.close()


def see_readiness(parts, world, kubernetes, operator, rounds, run):
    """From a pod's change until the store has it. The simulated kubelet would undo the change, and is halted."""
    path = "/api/v1/namespaces/bench-ours/pods"
    pod = kubernetes.items(path)[0]["metadata"]["name"]
    kubelet, editor, found, seen = kubernetes.state["processes"]["kwok"]["pid"], Api(kubernetes), ([], []), {}

    def see(_, observed):
        seen["ready"] = any(c["type"] == "Ready" and c["status"] == "True" for c in observed["status"]["conditions"])

    def change(ready):
        status = "True" if ready else "False"
        editor.call("PATCH", f"{path}/{pod}/status", {"status": {"conditions": [
            {"type": word, "status": status} for word in ("ContainersReady", "Ready")]}}, STRATEGIC)
        return time.monotonic()

    watch, stored = Watch(kubernetes, path, see), Stored(world, parts.REGION, "d_pod")
    os.kill(kubelet, signal.SIGSTOP)
    try:
        for n in range(2 * rounds):
            ready = n % 2 == 1
            begin = change(ready)
            if n // 2 % 2:
                found[0].append(stored.wait(int(ready)) - begin)
            else:
                watch.wait(lambda ready=ready: seen.get("ready") == ready)
                operator.report(BARE, "d_pod", int(ready), run * 10 * rounds + n + 1)
                found[1].append(time.monotonic() - begin)
            # What is measured is a change after a pause: the reporter's window is 200 ms, and it may have more to say
            # when the ReplicaSet's controller has counted, too.
            time.sleep(0.5)
    finally:
        os.kill(kubelet, signal.SIGCONT)
        stored.close()
        watch.close()
        editor.close()
    return found
