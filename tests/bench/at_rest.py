"""What an agent costs when nothing happens: requests to the API server, and memory for each pod it looks at."""

import re
import statistics
import time

from clients import Api
from convergence import clear

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
    count, seconds = (60, 75) if bench.short else (1000, 600)
    kubernetes = parts.Kubernetes()
    world = parts.World(log_level="warn")
    server = world.server().start()
    world.wait_ready(server)
    world.apply([parts.deployment(n, "bench-rest") for n in range(count)])
    agent = world.agent(kubeconfig=kubernetes.kubeconfig).start()
    try:
        world.wait_running([f"d_{n}" for n in range(count)], seconds=300)
        time.sleep(45)  # the controllers' last word comes when pods have been ready for min_ready_s
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
        clear(kubernetes, "bench-rest")
        kubernetes.close()
    bench.line(f"requests an hour at rest with {count} deployments", "100", [found / 100], lambda r: r <= 1, "<= 1",
               f"{found:.0f} an hour, counted over {seconds} s ({most or 'none'}); the original: 361,000")


SETTLED_SECONDS = 40  # the host gives back what it does not need twice a minute


def memory(bench, parts):
    """An agent's memory beside the pods in its cluster: the same deployments with few and with many pods each."""
    deployments, few, many = (20, 10, 50) if bench.short else (100, 20, 100)
    kubernetes = parts.Kubernetes()
    try:
        less, more = (sizes_beside(bench, parts, kubernetes, deployments, replicas) for replicas in (few, many))
    finally:
        kubernetes.close()
    count, most = deployments * few, deployments * many
    slope, own = ((more[of] - less[of]) / (most - count) for of in ("VmRSS", "RssAnon"))
    intercept = less["VmRSS"] - slope * count
    of_files = less["VmRSS"] - less["RssAnon"]
    bench.line(f"agent memory for each pod between {count} and {most}", "0.9 KiB", [slope / (0.9 * KIB)],
               lambda r: r <= 1, "<= 1",
               f"{slope / KIB:.2f} KiB; {less['VmRSS'] / MIB:.1f} and {more['VmRSS'] / MIB:.1f} MiB")
    bench.line("agent memory without pods, from the same line", "20 MiB", [intercept / (20 * MIB)], lambda r: r <= 1,
               "<= 1", f"{intercept / MIB:.1f} MiB, {of_files / MIB:.1f} of them pages of libraries, shared and clean")
    intercept = less["RssAnon"] - own * count
    bench.line("the same of the agent's own", "20 MiB", [intercept / (20 * MIB)], lambda r: r <= 1, "<= 1",
               f"{intercept / MIB:.1f} MiB")


def sizes_beside(bench, parts, kubernetes, deployments, replicas):
    """The median sizes of an agent that comes to a cluster with all pods in it, and settles."""
    namespace = f"bench-pods-{replicas}"
    ids = [f"d_{n}" for n in range(deployments)]
    world = parts.World(log_level="warn")
    server = world.server().start()
    world.wait_ready(server)
    world.apply([parts.deployment(n, namespace, replicas=replicas, cpu_millicores="1", memory_mib="1")
                 for n in range(deployments)])
    agent = world.agent(kubeconfig=kubernetes.kubeconfig).start()
    sizes = []
    try:
        world.wait_running(ids, seconds=900)
        agent.stop()
        for _ in range(1 if bench.short else 3):
            agent.start()
            world.wait_running(ids)
            time.sleep(SETTLED_SECONDS)
            sizes.append({of: agent.memory_bytes(of) for of in ("VmRSS", "RssAnon")})
            agent.stop()
    finally:
        agent.stop()
        server.stop()
        world.close()
        clear(kubernetes, namespace)
    return {of: statistics.median(s[of] for s in sizes) for of in sizes[0]}
