"""Many deployments onto a real API server, beside those who only apply, and beside one who only looks."""

import json
import subprocess
import time

from clients import REPLICA_SETS, Operator, Watch


def converge(bench, parts):
    """Deployments onto a real API server, beside a bare client and kubectl, which apply the same bodies."""
    count = 200 if bench.short else 1000
    kubernetes = parts.Kubernetes()
    seconds = {"davit": [], "bare": [], "kubectl": []}
    late = []
    try:
        # The first turn gives the bodies and warms the API server up; it is not counted. Then each goes first in turn.
        bodies = with_davit(bench, parts, kubernetes, "bench-davit", count)["bodies"]
        for turn in range(1 if bench.short else 4):
            order = list(seconds)
            for who in order[turn % 3:] + order[:turn % 3]:
                namespace = f"bench-{who}-{turn}"
                if who == "davit":
                    found = with_davit(bench, parts, kubernetes, namespace, count)
                    seconds[who].append(found["applied"])
                    late.append(found["stored"] / found["seen"])
                else:
                    peer = with_bare_client if who == "bare" else with_kubectl
                    seconds[who].append(peer(bench, kubernetes, namespace, bodies))
    finally:
        kubernetes.close()
    name = f"{count} deployments applied, time"
    for who, peer, most in (("bare", "a bare client, 16 parallel server-side applies", 1.1),
                            ("kubectl", "kubectl apply --server-side of one List", 0.5)):
        bench.line(name, peer, [a / b for a, b in zip(seconds["davit"], seconds[who])], lambda r, most=most: r <= most,
                   f"<= {most}", ", ".join(f"{a:.1f} and {b:.1f} s" for a, b in zip(seconds["davit"], seconds[who])))
    bench.line(f"{count} deployments, until the last status is stored", "a bare watch that sees the last pod ready",
               late, lambda r: r <= 1.1, "<= 1.1")


def with_davit(bench, parts, kubernetes, namespace, count):
    """Seconds from the agent's start until the last ReplicaSet exists, the last pod is ready, its status stored."""
    world = parts.World(log_level="warn")
    server = world.server().start()
    world.wait_ready(server)
    world.apply([parts.deployment(n, namespace) for n in range(count)])
    kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    operator, ready = Operator(world), set()

    def see(kind, pod):
        conditions = pod.get("status", {}).get("conditions", [])
        if kind != "DELETED" and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            ready.add(pod["metadata"]["name"])
    watch = Watch(kubernetes, f"/api/v1/namespaces/{namespace}/pods", see)
    agent = world.agent(kubeconfig=kubernetes.kubeconfig)
    try:
        begin = time.monotonic()
        agent.start()
        # Asking costs the API server something, so ask seldom and cheaply.
        path = REPLICA_SETS.format(namespace)
        while (found := how_many(kubernetes, path)) < count:
            if time.monotonic() - begin > 600:
                raise RuntimeError(f"{found} of {count} after 600 s; {agent.tail()}")
            time.sleep(0.1)
        applied = time.monotonic() - begin
        seen = watch.wait(lambda: len(ready) >= count, 300) - begin
        while operator.running(parts.REGION) < count:
            if time.monotonic() - begin > 900:
                raise RuntimeError(f"the store has not all statuses after 900 s; {agent.tail()}")
            time.sleep(0.02)
        stored = time.monotonic() - begin
        bodies = [as_applied(r) for r in kubernetes.items(path)]
    finally:
        watch.close()
        operator.close()
        agent.stop()
        server.stop()
        world.close()
    clear(bench, kubernetes, namespace)
    return {"bodies": bodies, "applied": applied, "seen": seen, "stored": stored}


def how_many(kubernetes, path):
    status, page = kubernetes.request("GET", path + "?limit=1")
    return len(page["items"]) + page["metadata"].get("remainingItemCount", 0) if status == 200 else 0


def as_applied(live):
    """The body that was applied: what the managed fields say is ours."""
    ours = next(m["fieldsV1"] for m in live["metadata"]["managedFields"]
                if m["manager"] == "krane" and m["operation"] == "Apply" and "subresource" not in m)
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", **owned(live, ours),
            "metadata": {**owned(live["metadata"], ours["f:metadata"]), "name": live["metadata"]["name"]}}


def owned(value, fields):
    """The part of a value that a fieldsV1 set names ("f:" a field, "k:" a list's element by its keys)."""
    named = {k: f for k, f in fields.items() if k != "."}
    if not named:
        return value
    if isinstance(value, dict):
        return {k[2:]: owned(value[k[2:]], f) for k, f in named.items() if k[2:] in value}
    keys = [(json.loads(k[2:]), f) for k, f in named.items() if k.startswith("k:")]
    return [owned(item, f) for item in value for key, f in keys if key.items() <= item.items()] if keys else value


def in_namespace(bodies, namespace):
    return [{**body, "metadata": {**body["metadata"], "namespace": namespace}} for body in bodies]


def with_bare_client(bench, kubernetes, namespace, bodies):
    kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    lines = [f"{REPLICA_SETS.format(namespace)}/{body['metadata']['name']}?fieldManager=bare&force=true\t"
             + json.dumps(body) for body in in_namespace(bodies, namespace)]
    found = bench.client("apply-bench", kubernetes.url, kubernetes.ca, kubernetes.token_file, 16,
                         stdin="\n".join(lines) + "\n")
    clear(bench, kubernetes, namespace)
    return found["seconds"]


def with_kubectl(bench, kubernetes, namespace, bodies):
    kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    everything = json.dumps({"apiVersion": "v1", "kind": "List", "items": in_namespace(bodies, namespace)})
    begin = time.monotonic()
    subprocess.run([f"{kubernetes.state['assets']}/kubectl", f"--kubeconfig={kubernetes.kubeconfig}", "apply",
                    "--server-side", "--field-manager=bare", "-f", "-"], input=everything, text=True, check=True,
                   stdout=subprocess.DEVNULL, timeout=900)
    seconds = time.monotonic() - begin
    clear(bench, kubernetes, namespace)
    return seconds


def leave(bench, kubernetes, *namespaces):
    """After the last run. A cluster of its own goes with what is in it."""
    if not kubernetes.own:
        for namespace in namespaces:
            clear(bench, kubernetes, namespace)
    kubernetes.close()


def clear(bench, kubernetes, namespace):
    """Leaves no work behind for what comes next."""
    kubernetes.request("DELETE", REPLICA_SETS.format(namespace))
    deadline = time.monotonic() + 300
    while kubernetes.items(f"/api/v1/namespaces/{namespace}/pods?limit=1"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"pods of {namespace} do not end")
        time.sleep(0.5)
    # The controllers go on for a while. A machine with other work never rests: its interval will show it.
    deadline = time.monotonic() + (2 if bench.short else 30)
    while busy_share(1.0) > 0.15 and time.monotonic() < deadline:
        pass


def busy_share(seconds):
    """The share of the machine's processor time that was used while this waited."""
    def read():
        with open("/proc/stat", encoding="utf-8") as file:
            times = [int(t) for t in file.readline().split()[1:9]]
        return times[3] + times[4], sum(times)  # idle and waiting for disks; all
    idle, everything = read()
    time.sleep(seconds)
    idle_now, everything_now = read()
    return 1 - (idle_now - idle) / max(1, everything_now - everything)
