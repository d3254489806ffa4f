"""What the tests of requests stand on: a server with the table's records, and answers as the table writes them."""

import re
import urllib.request

import requests_table as table
from parts import Case, free_port
from wire import Client, agent, as_json, generate, methods

HERE = table.HERE
BOOKMARKS = {"TYPE_BEGIN_SNAPSHOT": "snapshot", "TYPE_BEGIN_TAIL": "tail after", "TYPE_SNAPSHOT_END": "end of {} at"}
CTRL = {table.DEPLOYMENT: ("GetDesiredDeploymentState", "WatchDeployments", "ctrl.v1.ApplyDeployment"),
        table.SENTINEL: ("GetDesiredSentinelState", "WatchSentinels", "ctrl.v1.ApplySentinel"),
        table.POLICY: ("GetDesiredCiliumNetworkPolicyState", "WatchCiliumNetworkPolicies",
                       "ctrl.v1.ApplyCiliumNetworkPolicy")}


def setUpModule():
    """For every module of such tests: makes the client."""
    modules = generate()
    RequestCase.cluster, RequestCase.defined = modules[0], methods(modules)


def change(verb, namespace, name, version=0, reason=""):
    """One record as the table writes it."""
    text = f"{verb} {namespace}/{name}" if namespace else f"{verb} {name}"
    return text + (f" @{version}" if version else "") + (f": {reason}" if reason else "")


def state_said(message):
    """A state of ctrl.v1."""
    verb = message.WhichOneof("state")
    if verb is None:
        return f"move to {message.version}"
    body = getattr(message, verb)
    return change(verb, getattr(body, "k8s_namespace", ""), body.k8s_name, message.version)


def record_said(record):
    """A record of davit.v1."""
    return change(record.WhichOneof("change") or "nothing", record.namespace, record.name, record.version, record.hold)


def frame_said(frame, head):
    """A frame of davit.v1: its records, then its bookmark."""
    parts = [record_said(r) for r in frame.records]
    if frame.HasField("bookmark"):
        mark = as_json(frame.bookmark)
        at = "the head" if frame.bookmark.at.version == head else str(frame.bookmark.at.version)
        word = BOOKMARKS.get(mark.get("type", ""), "up to").format(mark.get("live_count", 0))
        parts.append(word if word == "snapshot" else f"{word} {at}")
    return ", ".join(parts)


def said(answer, how):
    """A whole answer; `how` prints one message."""
    if answer.code not in ("OK", "ENOUGH"):
        return f"{answer.code}: {answer.text}"
    return ", ".join(filter(None, map(how, answer.messages)))


def pods(listed):
    return [p.split() for p in listed.split(", ")] if listed else []


class RequestCase(Case):
    """A server with the table's records, and one connection of an agent to it."""

    settings = ""  # of the streamer, and tables of their own
    listener = 'transport = "grpc"'  # of [rpc.server.main]
    cluster = defined = None  # ctrl/v1 as generated, and every method of all protos

    def setUp(self):
        super().setUp()
        self.sentinels = any("kind_sentinel" in line for line in
                             self.world.davit("plugin", "list")[1].splitlines())
        self.world.token("edge", table.OTHER_TOKEN)
        self.server = self.world.server(regions=table.REGIONS, extra=f"""
[plugin.streamer]
bookmark_interval_ms = 100
{self.settings}
{'[plugin.sentinel]' if self.sentinels else ''}
{'module = "kind_sentinel"' if self.sentinels else ''}
[[rpc.server.main.token]]
name = "edge"
file = "{self.world.folder}/edge.token"
regions = ["{HERE}"]
""")
        self.metrics_port = free_port()
        self.server.argv.append(self.world.write("more.toml", f"""
[host]
metrics_listen = "127.0.0.1:{self.metrics_port}"
[rpc.server.main]
{self.listener}
"""))
        self.server.start()
        self.world.wait_ready(self.server)
        self.fill()
        self.client = self.connect()
        self.addCleanup(self.client.close)

    def connect(self):
        return Client(f"127.0.0.1:{self.world.port}", self.defined)

    def tearDown(self):
        self.client.close()
        self.check_clean_end(self.server)
        # One event is one line, whatever came.
        for line in self.server.text().splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[0-9:.]+Z (debug|info |warn |error) [^\x00-\x1f\x7f]*$")
        super().tearDown()

    def fill(self):
        self.world.apply(table.RECORDS)
        self.world.delete("deployment", table.DELETED, HERE)
        if self.sentinels:
            self.world.apply(table.SENTINELS)
        self.plant(*(f"UPDATE records SET {what} WHERE id = '{key}'" for key, what in table.planted(self.world.store)))

    def plant(self, *statements):
        """Writes into the database what no caller can; the server is away meanwhile."""
        self.assertEqual(self.server.stop(), 0, self.server.tail())
        for statement in statements:
            self.assertTrue(self.world.store.ask(f"{statement} RETURNING 1"), statement)
        self.server.start()
        self.world.wait_ready(self.server)

    def known(self, rows, column):
        """Without the rows of a kind that this server does not have."""
        return [row for row in rows if self.sentinels or "entinel" not in str(row[column])]

    def requests(self):
        return dict(self.known(table.REQUESTS.items(), 0))

    def matches(self, what, wanted, found):
        """`...` in what is wanted stands for anything."""
        pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
        self.assertTrue(re.fullmatch(pattern, found, re.DOTALL), f"{what}:\n  wanted {wanted}\n  found  {found[:2000]}")

    def call(self, name, request="", region=HERE, **options):
        options.setdefault("metadata", agent(region))
        return self.client.call(name, request, **options)

    def outcome(self, name, request="", **options):
        """"ok", or the code and text."""
        if self.defined[name].server_streaming:
            options["enough"] = lambda message: "end" not in as_json(message)
        return said(self.call(name, request, **options), lambda _: "") or "ok"

    def at(self):
        """Where the store is."""
        return self.call("AgentService/Get", "kind: 'deployment' id: 'd_1'").messages[0].at

    def watch_davit(self, region, kind, version, incarnation):
        """From a cursor up to the head."""
        head = self.at().version

        def at_head(frame):
            mark = as_json(frame).get("bookmark", {})
            return mark.get("type") != "TYPE_BEGIN_SNAPSHOT" and frame.bookmark.at.version == head
        cursor = f"cursor {{ incarnation: {incarnation} version: {version} }}"
        answer = self.call("AgentService/Watch", f"subscriptions {{ kind: '{kind}' {cursor} }}", region, enough=at_head)
        return said(answer, lambda frame: frame_said(frame, head))

    def check_watches(self, rows):
        at = self.at()
        places = {"head": (at.incarnation, at.version), "future": (at.incarnation, 1_000_000), "elsewhere": (7, 3)}
        for what, region, kind, cursor, by_ctrl, by_davit in self.known(rows, 2):
            incarnation, version = places.get(cursor) or (at.incarnation, int(cursor))
            with self.subTest(f"{what}, davit.v1"):
                self.matches(what, by_davit, self.watch_davit(region, kind, version, incarnation))
            if by_ctrl is not None:
                with self.subTest(f"{what}, ctrl.v1"):
                    answer = self.call(f"ClusterService/{CTRL[kind][1]}", f"version_last_seen: {version}", region)
                    self.matches(what, by_ctrl, said(answer, state_said))

    def metric(self, name):
        """The sum of a metric over what it is counted by."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(rf"{name}[ {{]", line))

    def observed(self, key):
        """What the operator sees of a deployment or sentinel."""
        kind = table.SENTINEL if key.startswith("s_") else table.DEPLOYMENT
        return self.world.objects(kind)[key].get("observed", {})

    def pods_of(self, key):
        found = self.observed(key).get("children", [])
        return ", ".join(sorted(f"{c['name']} {c['status']}" for c in found))
