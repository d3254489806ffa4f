"""What an agent costs when nothing happens: requests to the API server, and memory for each pod it looks at."""

import ipaddress
import json
import os
import re
import signal
import statistics
import subprocess
import time

import fleet
from clients import Api
from convergence import leave

OURS = ("replicasets", "deployments", "services", "poddisruptionbudgets", "horizontalpodautoscalers",
        "ciliumnetworkpolicies", "namespaces", "pods")
KIB, MIB = 1 << 10, 1 << 20


def requests(kubernetes):
    """Requests of any client for what we look after, by the API server's count, by sort; watches count at their end."""
    api = Api(kubernetes)
    answer = api.send("GET", "/metrics")
    text = answer.read().decode()
    api.close()
    found = {}
    for labels, value in re.findall(r"^apiserver_request_total\{(.*)\} (\S+)$", text, re.M):
        said = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if said["verb"] != "WATCH" and said["resource"] in OURS:
            what = f"{said['verb']} {said['resource']} {said['code']}"
            found[what] = found.get(what, 0) + float(value)
    return found


def at_rest(bench, parts):
    """An agent that has nothing to do, with many deployments, over ten minutes."""
    count, seconds = (30, 8) if bench.short else (1000, 600)
    # The controllers' last word comes when pods have been ready for min_ready_s.
    extra, last_word = (parts.AT_ONCE, 5) if bench.short else ("", 45)
    kubernetes = parts.Kubernetes()
    world = parts.World(log_level="warn")
    server = world.server().start()
    world.wait_ready(server)
    world.apply([parts.deployment(n, "bench-rest") for n in range(count)])
    agent = world.agent(kubeconfig=kubernetes.kubeconfig, extra=extra).start()
    try:
        world.wait_running([f"d_{n}" for n in range(count)], seconds=300)
        time.sleep(last_word)
        before, begin = requests(kubernetes), time.monotonic()
        time.sleep(seconds)
        hours = (time.monotonic() - begin) / 3600
        made = {what: count - before.get(what, 0) for what, count in requests(kubernetes).items()}
        found = sum(made.values()) / hours
        most = ", ".join(f"{int(n)} {what}" for what, n in sorted(made.items(), key=lambda m: -m[1])[:3] if n > 0)
    finally:
        agent.stop()
        server.stop()
        world.close()
        leave(bench, kubernetes, "bench-rest")
    bench.line(f"requests an hour at rest with {count} deployments", "100", [found / 100], lambda r: r <= 1, "<= 1",
               f"{found:.0f} an hour, counted over {seconds} s ({most or 'none'}); the original: 361,000")


SETTLED_SECONDS = 32  # the host gives back what it does not need each thirty seconds
NODES = ("untrusted-local-a", "untrusted-local-b", "untrusted-local-c")


def memory(bench, parts):
    """An agent's memory beside the pods in its cluster: the same deployments with few and with many pods each."""
    deployments, counts = (20, (200, 1000)) if bench.short else (100, (2000, 10_000, 50_000))
    found = sizes_beside(bench, parts, deployments, counts)
    for few, many in zip(counts, counts[1:]):
        sizes = [found[count]["VmRSS"] for count in (few, many)]
        slope = (sizes[1] - sizes[0]) / (many - few)
        bench.line(f"agent memory for each pod between {few} and {many}", "0.9 KiB", [slope / (0.9 * KIB)],
                   lambda r: r <= 1, "<= 1",
                   f"{slope / KIB:.2f} KiB; {sizes[0] / MIB:.1f} and {sizes[1] / MIB:.1f} MiB")
    without = {of: without_pods(found, counts, of) for of in ("VmRSS", "RssAnon")}
    floor = found[counts[0]]["floor"]
    of_files = found[counts[0]]["VmRSS"] - found[counts[0]]["RssAnon"]
    bench.line("agent memory without pods, from the line through the first two",
               "a bare program of the same two libraries", [without["VmRSS"] / floor], lambda r: r <= 1.6, "<= 1.6",
               f"{without['VmRSS'] / MIB:.1f} and {floor / MIB:.1f} MiB; {of_files / MIB:.1f} of the agent's are pages of "
               "libraries, shared and clean")
    bench.line("the same of the agent's own", "20 MiB", [without["RssAnon"] / (20 * MIB)], lambda r: r <= 1, "<= 1",
               f"{without['RssAnon'] / MIB:.1f} MiB")


def without_pods(found, counts, of):
    """Where the line through the first two counts begins."""
    few, many = (found[count][of] for count in counts[:2])
    return few - (many - few) / (counts[1] - counts[0]) * counts[0]


def floor_memory(bench, world, kubernetes):
    """Of a program that makes one call of the server and one request of the API server, and no more."""
    floor = subprocess.Popen([bench.build / "tests/bench/floor-agent", f"127.0.0.1:{world.port}",
                              kubernetes.url + "/version", kubernetes.ca], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
    if floor.stdout.readline().strip() != "ready":
        raise RuntimeError("floor-agent did not get its two answers")
    size = fleet.memory_kib(floor.pid) * KIB
    floor.communicate("")
    return size


def sizes_beside(bench, parts, deployments, counts):
    """By the count of pods, the median sizes of an agent that comes to a cluster with all of them in it, and settles.

    The pods are made here, bound and ready: a scheduler would take an hour for 50,000 that spread over zones. Whoever
    else would touch them is halted, so the cluster cannot be used for anything afterwards.
    """
    kubernetes, namespace = parts.Kubernetes(), "bench-pods"
    world = parts.World(log_level="warn")
    server = world.server().start()
    agent = world.agent(kubeconfig=kubernetes.kubeconfig)
    found = {}
    try:
        kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        parts.wait_until("pods can be made", lambda: kubernetes.request("GET", account)[0] == 200)
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            os.kill(kubernetes.state["processes"][name]["pid"], signal.SIGSTOP)
        world.wait_ready(server)
        there = 0
        for count in counts:
            replicas = count // deployments
            world.apply([parts.deployment(n, namespace, replicas=replicas) for n in range(deployments)])
            agent.start()
            parts.wait_until("all ReplicaSets", lambda wanted=replicas: [
                r["spec"]["replicas"] for r in kubernetes.replica_sets({namespace}).values()] == [wanted] * deployments)
            agent.stop()
            make_pods(bench, kubernetes, namespace, there)
            there = replicas
            found[count] = median_sizes(bench, world, kubernetes, agent, deployments)
    finally:
        agent.stop()
        server.stop()
        world.close()
        kubernetes.close()
    return found


def median_sizes(bench, world, kubernetes, agent, deployments):
    sizes = []
    for _ in range(1 if bench.short else 3):
        agent.start()
        world.wait_running([f"d_{n}" for n in range(deployments)], seconds=600)
        time.sleep(SETTLED_SECONDS)
        sizes.append({of: agent.memory_bytes(of) for of in ("VmRSS", "RssAnon")})
        sizes[-1]["floor"] = floor_memory(bench, world, kubernetes)
        agent.stop()
    return {of: statistics.median(s[of] for s in sizes) for of in sizes[0]}


def make_pods(bench, kubernetes, namespace, there):
    """What the controllers, the scheduler and the kubelets make of our ReplicaSets, without them. `there` pods of each
    ReplicaSet exist."""
    pods, statuses = [], []
    replica_sets = sorted(kubernetes.replica_sets({namespace}).items())
    for index, ((_, owner), replica_set) in enumerate(replica_sets):
        template = replica_set["spec"]["template"]
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "controller": True,
                     "uid": replica_set["metadata"]["uid"]}
        for own in range(there, replica_set["spec"]["replicas"]):
            number = own * len(replica_sets) + index
            name = f"{owner}-{own}"
            path = f"/api/v1/namespaces/{namespace}/pods/{name}"
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": {
                **template["metadata"], "name": name, "ownerReferences": [reference]},
                "spec": {**template["spec"], "nodeName": NODES[number % len(NODES)]}}
            pods.append(f"{path}?fieldManager=bench\t{json.dumps(body)}")
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                    "status": ready_status(template["spec"]["containers"], number)}
            statuses.append(f"{path}/status?fieldManager=bench\t{json.dumps(body)}")
    for lines in (pods, statuses):
        bench.client("apply-bench", kubernetes.url, kubernetes.ca, kubernetes.token_file, 16,
                     stdin="\n".join(lines) + "\n")


def ready_status(containers, number):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    address = str(ipaddress.ip_address("10.1.0.0") + number)
    return {"phase": "Running", "startTime": now, "hostIP": "10.0.0.2", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": word, "status": "True", "lastTransitionTime": now}
                           for word in ("Initialized", "ContainersReady", "Ready")],
            "containerStatuses": [{"name": c["name"], "image": c["image"], "imageID": "", "ready": True,
                                   "started": True, "restartCount": 0, "state": {"running": {"startedAt": now}}}
                                  for c in containers]}
