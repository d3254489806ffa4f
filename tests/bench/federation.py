"""Federation between two real API servers, beside a mirror of cr-syncer, on objects of 1 KB of their own each."""

import dataclasses
import itertools
import json
import statistics
import subprocess
import threading
import time

import fleet
from clients import Api, Watch
from federated import (MERGE, Clusters, Meter, Mirror, Ours, mirror_program, path_of, spec_of, status_of,
                       wait_still)
from latency import percentile

KIB, MIB = 1 << 10, 1 << 20
MIRROR_STATUS_P50_S = (0.5, 0.75)  # each status waits 500 ms
RESYNC_S = 300  # of the mirror: each object of each side is written once more
FIRST_RESYNC_S = 600  # the handlers are attached after the lists, and so miss the first
COUNTED_PAUSE_S = 0.25  # of which the mirror is capable


@dataclasses.dataclass
class Sizes:
    objects: int      # of each of both
    runs: int
    run_s: float      # of single changes; in the long form the mirror resyncs once
    changes: int      # whose requests and bytes are counted
    rest_s: float
    memory: tuple     # counts of objects
    settled_s: float  # the host gives back what it does not need each thirty seconds
    calm_s: float     # then the mirror may send its ten requests at once again


SHORT = Sizes(8, 1, 4, 8, 1, (100, 400), 0.5, 1)
LONG = Sizes(100, 3, 660, 100, 3600, (2000, 10_000), 35, 10)


def federation(bench, parts, sizes=None):
    """Time, requests, bytes and memory, each of the product and of the mirror."""
    sizes = sizes or (SHORT if bench.short else LONG)
    try:
        mirror_program()
    except subprocess.CalledProcessError:
        bench.unusable("federation", "the mirror cannot be built: tests/bench/federation_mirror/build.sh says why")
        return
    clusters = Clusters(parts)
    world = parts.World(log_level="warn")
    try:
        for kind in (Ours, Mirror):
            clusters.define(parts, kind.plural, takes_part=kind is Ours)
            clusters.make(bench, clusters.cloud, kind.plural, range(sizes.objects))
        changes(bench, parts, world, clusters, sizes)
        counted(bench, parts, world, clusters, sizes)
        memory(bench, parts, world, clusters, sizes)
    finally:
        world.close()
        clusters.close()


class Seen:
    """When a watch of a cluster showed each number of each object, by product and mirror."""

    def __init__(self, cluster, field):
        self.field, self.shown, self.lock, self.watches = field, {}, threading.Lock(), []
        for kind in (Ours, Mirror):
            self.watches.append(Watch(cluster, path_of(kind.plural), lambda _, o, k=kind: self.see(k, o)))

    def see(self, kind, thing):
        number, when = thing.get(self.field, {}).get("number", 0), time.monotonic()
        with self.lock:
            self.shown.setdefault((kind.name, thing["metadata"]["name"]), []).append((number, when))

    def when(self, key):
        """None: not yet. A later number carries the earlier ones."""
        with self.lock:
            return next((when for number, when in self.shown.get(key[:2], ()) if number >= key[2]), None)

    def close(self):
        for watch in self.watches:
            watch.close()


class Changes:
    """Changes of specs in the cloud and of statuses at the robot, on objects in turn, with numbers that grow."""

    numbers = itertools.count(1)  # of all

    def __init__(self, clusters, objects):
        self.cloud, self.robot = Api(clusters.cloud), Api(clusters.robot)
        self.objects, self.made = objects, 0

    def make(self, kind, field, takes_turns=False):
        number = next(self.numbers)
        # Never one that was changed a moment ago: the mirror would carry both changes at once.
        name = f"o-{self.made // (2 if takes_turns else 1) % self.objects}"
        self.made += 1
        path = f"{path_of(kind.plural)}/{name}"
        if field == "spec":
            self.cloud.call("PATCH", path, {"spec": spec_of(number)}, MERGE)
        else:
            self.robot.call("PATCH", path + "/status", {"status": status_of(number)}, MERGE)
        return (kind.name, name, number), time.monotonic()

    def close(self):
        self.cloud.close()
        self.robot.close()


def changes(bench, parts, world, clusters, sizes):
    """One change a second each way, of each of both: less than the mirror's limits allow. They take turns."""
    runs = {"spec": [], "status": []}
    for _ in range(sizes.runs):
        both = [Ours(parts, world, clusters), Mirror(parts, world, clusters)]
        parts.wait_until("the copies", lambda: all(
            len(clusters.robot.items(path_of(k.plural))) == sizes.objects for k in (Ours, Mirror)), 120)
        time.sleep(sizes.calm_s)
        change = Changes(clusters, sizes.objects)
        seen = {"spec": Seen(clusters.robot, "spec"), "status": Seen(clusters.cloud, "status")}
        begun, due, end = {"spec": {}, "status": {}}, time.monotonic() + 1, time.monotonic() + 1 + sizes.run_s
        while due < end:
            for field in ("spec", "status"):
                for kind in (Ours, Mirror):
                    time.sleep(max(0, due - time.monotonic()))
                    key, when = change.make(kind, field, takes_turns=True)
                    begun[field][key] = when
                    due += 0.25
        for field, keys in begun.items():
            parts.wait_until(f"each {field} on the other side",
                             lambda f=field, k=keys: all(seen[f].when(key) for key in k), 90)
            times = {kind: [max(0.0, seen[field].when(key) - when) for key, when in keys.items() if key[0] == kind]
                     for kind in ("ours", "mirror")}
            runs[field].append((times["ours"], times["mirror"]))
            seen[field].close()
        change.close()
        for one in both:
            one.stop()
    judge_times(bench, runs)


def judge_times(bench, runs):
    low, high = MIRROR_STATUS_P50_S
    of_mirror = statistics.median(percentile(mirror, 0.5) for _, mirror in runs["status"])
    for field, name in (("spec", "a change upstream in the copy downstream"),
                        ("status", "a status downstream in the object upstream")):
        for share, word in ((0.5, "p50"), (0.99, "p99")):
            if not low <= of_mirror <= high:
                bench.unusable(f"{name}, {word}",
                               f"the mirror's status takes {of_mirror:.2f} s, cr-syncer's 0.5: no peer")
                continue
            pairs = [(percentile(ours, share), percentile(mirror, share)) for ours, mirror in runs[field]]
            bench.line(f"{name}, {word}", "the mirror of cr-syncer", [a / b for a, b in pairs], lambda r: r <= 0.5,
                       "<= 0.5", ", ".join(f"{a * 1000:.1f} and {b * 1000:.1f} ms" for a, b in pairs))


def counted(bench, parts, world, clusters, sizes):
    """Requests and bytes of changes, half of them specs and half statuses; then requests at rest."""
    running, links = [], {}
    for kind in (Ours, Mirror):
        links[kind] = [Meter(c, world.folder) for c in clusters.both()]
        running.append(kind(parts, world, clusters, links[kind]))
    change = Changes(clusters, sizes.objects)
    for field in ("spec", "status"):  # whose connections are open when the counting begins
        for kind in (Ours, Mirror):
            change.make(kind, field, takes_turns=True)
    wait_still(lambda: figures(links), still=2)
    before, asked = figures(links), requests(clusters)
    for field in ("spec", "status"):
        for _ in range(sizes.changes // 2):
            for kind in (Ours, Mirror):
                change.make(kind, field, takes_turns=True)
            time.sleep(COUNTED_PAUSE_S)
        wait_still(lambda: figures(links))
    change.close()
    found = {kind: [(now - was) / sizes.changes for now, was in zip(
        (requests(clusters)[kind], sum(figures(links)[kind]), figures(links)[kind][0]),
        (asked[kind], sum(before[kind]), before[kind][0]))] for kind in links}
    for n, (name, unit) in enumerate((("requests for each change", ""),
                                      ("bytes for each change, on both links", " bytes"),
                                      ("bytes for each change, on the link to the cloud", " bytes"))):
        ours, mirror = found[Ours][n], found[Mirror][n]
        bench.line(name, "the mirror of cr-syncer", [ours / mirror], lambda r: r <= 0.5, "<= 0.5",
                   f"{ours:.4g} and {mirror:.4g}{unit}")
    at_rest(bench, clusters, sizes, links)
    for process in running:
        process.stop()
    for link in (*links[Ours], *links[Mirror]):
        link.close()


def figures(links):
    return {kind: [link.bytes for link in both] for kind, both in links.items()}


def requests(clusters):
    return {kind: sum(clusters.requests(kind.plural).values()) for kind in (Ours, Mirror)}


def at_rest(bench, clusters, sizes, links):
    watched = (Ours.plural, "customresourcedefinitions"), (Mirror.plural,)
    bytes_before = figures(links)
    before, begin = [clusters.requests(*names) for names in watched], time.monotonic()
    time.sleep(sizes.rest_s)
    hours = (time.monotonic() - begin) / 3600
    made = [{what: n - was.get(what, 0) for what, n in clusters.requests(*names).items() if n > was.get(what, 0)}
            for names, was in zip(watched, before)]
    ours, mirror = (sum(one.values()) for one in made)
    said = ", ".join(f"{n} {what}" for what, n in made[0].items()) or "none"
    counted_s = f"counted over {sizes.rest_s:.0f} s"
    if sizes.rest_s < FIRST_RESYNC_S:  # two writes of each object at each resync
        mirror, of_mirror = 2 * sizes.objects * 3600 / RESYNC_S * hours, "not counted but known: its resync is longer"
    else:
        of_mirror = ", ".join(f"{n} {what}" for what, n in made[1].items())
    bench.line(f"requests an hour at rest with {sizes.objects} objects", "the mirror of cr-syncer", [ours / mirror],
               lambda r: r <= 0.5, "<= 0.5", f"{ours / hours:.0f} and {mirror / hours:.0f}, {counted_s} ({of_mirror})")
    if sizes.rest_s >= FIRST_RESYNC_S:
        ours_kib, mirror_kib = (sum(now - was for now, was in zip(figures(links)[kind], bytes_before[kind])) / KIB / hours
                                for kind in (Ours, Mirror))
        bench.line("bytes an hour at rest, on both links", "the mirror of cr-syncer", [ours_kib / mirror_kib],
                   lambda r: r <= 0.5, "<= 0.5", f"{ours_kib:.0f} and {mirror_kib:.0f} KiB")
    bench.line("requests at rest that are no watches", "one", [float(ours)], lambda r: r <= 0, "0", f"{counted_s}: {said}")


def memory(bench, parts, world, clusters, sizes):
    """Of a process that comes to a pair of clusters in step."""
    plural, there, found = "loads", 0, {}
    clusters.define(parts, plural, takes_part=True)
    for count in sizes.memory:
        clusters.make(bench, clusters.cloud, plural, range(there, count))
        filler = Ours(parts, world, clusters, plural=plural)
        parts.wait_until("the copies", lambda n=count: len(clusters.robot.items(path_of(plural))) == n, 600, 0.2)
        clusters.make(bench, clusters.robot, plural, range(there, count), status=True)
        wait_still(filler.writes, still=1)
        filler.stop()
        there = count
        for kind in (Ours, Mirror):
            if kind is Mirror and count != sizes.memory[-1]:
                continue
            process = kind(parts, world, clusters, plural=plural)
            time.sleep(sizes.settled_s)
            found[kind.name, count] = fleet.memory_kib(process.pid) * KIB
            process.stop()
    thing = clusters.cloud.items(path_of(plural) + "?limit=1")[0]
    thing["metadata"].pop("managedFields")
    own = len(json.dumps(thing, separators=(",", ":")))
    few, many = sizes.memory
    ours, mirror = found["ours", many], found["mirror", many]
    each = (ours - found["ours", few]) / (many - few)
    bench.line(f"memory with {many} objects", "the mirror of cr-syncer", [ours / mirror], lambda r: r <= 0.5, "<= 0.5",
               f"{ours / MIB:.1f} and {mirror / MIB:.1f} MiB")
    bench.line(f"memory for each object above its own size, between {few} and {many}", "2 KiB",
               [(each - own) / (2 * KIB)], lambda r: r <= 1, "<= 1",
               f"{(each - own) / KIB:.2f} KiB above {own / KIB:.2f} KiB; {found['ours', few] / MIB:.1f} and "
               f"{ours / MIB:.1f} MiB")
