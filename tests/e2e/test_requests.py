"""The table of good and bad requests (requests_table.py) through ctrl.v1 and davit.v1, by a client of grpcio that was
generated from the protos, and what no table can hold: streams, limits, raw HTTP/2, a store in trouble.
"""

import json
import re
import sqlite3
import threading
import unittest

import requests_table as table
from parts import Case, deployment
from wire import SECONDS, Client, RawClient, agent, as_json, generate, grpc, methods, path_of

HERE = table.HERE
BOOKMARKS = {"TYPE_BEGIN_SNAPSHOT": "snapshot", "TYPE_BEGIN_TAIL": "tail after", "TYPE_SNAPSHOT_END": "end of {} at"}
CTRL = {table.DEPLOYMENT: ("GetDesiredDeploymentState", "WatchDeployments", "ctrl.v1.ApplyDeployment"),
        table.SENTINEL: ("GetDesiredSentinelState", "WatchSentinels", "ctrl.v1.ApplySentinel"),
        table.POLICY: ("GetDesiredCiliumNetworkPolicyState", "WatchCiliumNetworkPolicies",
                       "ctrl.v1.ApplyCiliumNetworkPolicy")}


def setUpModule():
    global DEFINED, CLUSTER  # pylint: disable=global-statement
    modules = generate()
    DEFINED = methods(modules)
    CLUSTER = modules[0]


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
    listener = ""  # of [rpc.server.main]

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
        self.server.argv.append(self.world.write("listener.toml", "[rpc.server.main]\n" + self.listener))
        self.server.start()
        self.world.wait_ready(self.server)
        self.fill()
        self.client = Client(f"127.0.0.1:{self.world.port}", DEFINED)
        self.addCleanup(self.client.close)

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
        self.plant(*(f"UPDATE records SET {what} WHERE id = '{key}'" for key, what in table.PLANTED))

    def plant(self, *statements):
        """Writes into the database what no caller can; the server is away meanwhile."""
        self.assertEqual(self.server.stop(), 0, self.server.tail())
        with sqlite3.connect(self.world.database) as database:
            for statement in statements:
                self.assertGreater(database.execute(statement).rowcount, 0, statement)
        database.close()
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
        if DEFINED[name].server_streaming:
            options["enough"] = lambda _: True
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
        answer = self.call("AgentService/Watch", region=region, enough=at_head, request=f"subscriptions {{ kind: '{kind}' "
                           f"cursor {{ incarnation: {incarnation} version: {version} }} }}")
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

    def observed(self, key):
        """What the operator sees of a deployment or sentinel."""
        kind = table.SENTINEL if key.startswith("s_") else table.DEPLOYMENT
        return self.world.objects(kind)[key].get("observed", {})

    def pods_of(self, key):
        found = self.observed(key).get("children", [])
        return ", ".join(sorted(f"{c['name']} {c['status']}" for c in found))


class Table(RequestCase):
    """Row by row. Streams of ctrl.v1 end when they have caught up, so that a row can say all that came."""

    settings = "close_when_drained = true"

    def test_every_method_wants_the_same_credentials(self):
        for name, request in table.REQUESTS.items():
            for what, headers, text in table.CREDENTIALS:
                with self.subTest(f"{name}: {what}"):
                    metadata = [("authorization", h) for h in headers] + [("x-krane-region", HERE)]
                    self.assertEqual(self.outcome(name, request, metadata=metadata), f"UNAUTHENTICATED: {text}")

    def test_every_method_wants_the_same_region(self):
        for name, request in self.requests().items():
            for what, regions, token, answer in table.HEADERS:
                if name != "ClusterService/Heartbeat":
                    with self.subTest(f"{name}: {what}"):
                        metadata = agent(token=token) + [("x-krane-region", r) for r in regions]
                        self.matches(what, answer, self.outcome(name, request, metadata=metadata))
        for what, request, answer in table.HEARTBEATS:
            with self.subTest(f"Heartbeat: {what}"):
                self.matches(what, answer, self.outcome("ClusterService/Heartbeat", request, metadata=agent()))

    def test_an_agent_is_no_operator(self):
        for name in DEFINED:
            if name.startswith("OperatorService/"):
                with self.subTest(name):
                    self.matches(name, 'PERMISSION_DENIED: token "agents" has role agent; '
                                 "davit.v1.OperatorService needs operator", self.outcome(name))

    def test_bytes(self):
        for name, request in self.requests().items():
            good = self.client.encode(name, request)
            for what, make, answer in table.BYTES:
                with self.subTest(f"{name}: {what}"):
                    self.matches(what, answer, self.outcome(name, make(good)))
        for name, request in self.known(table.NOT_UTF8, 0):
            with self.subTest(f"{name}: no UTF-8"):
                self.matches(name, table.DECODE, self.outcome(name, request))

    def test_methods_that_are_not_there(self):
        for path in table.PATHS:
            with self.subTest(path):
                answer = self.call("AgentService/Get", "", path=path)
                self.assertEqual((answer.code, answer.text), ("UNIMPLEMENTED", f"method {path[1:]} is not served here"))
        if not self.sentinels:
            self.assertEqual(self.call("ClusterService/WatchSentinels").code, "UNIMPLEMENTED")

    def test_point_queries(self):
        for what, region, kind, key, by_ctrl, by_davit in self.known(table.POINT_QUERIES, 2):
            get, _, apply_type = CTRL[kind]
            field = DEFINED[f"ClusterService/{get}"].input_type.fields[0].name
            with self.subTest(what):
                ctrl = self.call(f"ClusterService/{get}", f"{field}: '{key}'", region)
                davit = self.call("AgentService/Get", f"kind: '{kind}' id: '{key}'", region)
                self.matches(what, by_ctrl, said(ctrl, state_said))
                self.matches(what, by_davit, said(
                    davit, lambda m: record_said(m.record) if m.HasField("record") else "none"))
                if by_ctrl.startswith("apply"):
                    message = getattr(CLUSTER, apply_type.rpartition(".")[2]).FromString(davit.messages[0].record.apply)
                    self.assertEqual(message, ctrl.messages[0].apply)

    def test_point_queries_by_name(self):
        for name, answer in (("app-1", "apply shop/app-1 @1"), ("app-7", "none"), ("a\nb", "none")):
            found = self.call("AgentService/Get", f"kind: 'deployment' namespace: 'shop' name: {name!r}")
            self.assertEqual(said(found, lambda m: record_said(m.record) if m.HasField("record") else "none"), answer)

    def test_hostile_ids_are_unknown_ids(self):
        for key in table.HOSTILE:
            with self.subTest(repr(key[:20])):
                message = DEFINED["AgentService/Get"].input_type._concrete_class(kind="deployment", id=key)
                answer = self.call("AgentService/Get", message.SerializeToString())
                self.assertEqual((answer.code, answer.messages[0].HasField("record")), ("OK", False))
                message = DEFINED["ClusterService/GetDesiredDeploymentState"].input_type._concrete_class(
                    deployment_id=key)
                answer = self.call("ClusterService/GetDesiredDeploymentState", message.SerializeToString())
                self.assertEqual(answer.code, "NOT_FOUND")
                self.assertTrue(table.missing("deployment", key).startswith(f"NOT_FOUND: {answer.text}"), answer.text)

    def test_watches(self):
        self.check_watches(table.WATCHES)
        for what, request, answer in table.BAD_WATCHES:
            with self.subTest(what):
                self.matches(what, answer, self.outcome("AgentService/Watch", request))
        for record in table.HELD:  # again and again, over both protocols, and by id
            held = [line for line in self.server.text().splitlines() if f"record held record={record} " in line]
            self.assertEqual(len(held), 1, held)

    def test_watches_after_a_purge(self):
        through = table.PURGED_THROUGH
        self.plant(f"DELETE FROM records WHERE live = 0 AND version <= {through}",
                   f"UPDATE store SET purged_through = {through}")
        self.check_watches(table.WATCHES_AFTER_PURGE)

    def test_reports(self):
        for sequence, (what, reported, stored) in enumerate(table.REPORTS, 1):
            with self.subTest(f"{what}, ctrl.v1"):
                instances = " ".join(f"instances {{ k8s_name: '{n}' status: STATUS_{s.upper()} }}"
                                     for n, s in pods(reported))
                verb = f"update {{ k8s_name: 'app-1' {instances} }}" if reported is not None else \
                    "delete { k8s_name: 'app-1' }"
                self.assertEqual(self.outcome("ClusterService/ReportDeploymentStatus", verb), "ok")
                self.assertEqual(self.pods_of("d_1"), stored)
            with self.subTest(f"{what}, davit.v1"):
                children = " ".join(f"children {{ name: '{n}' status: '{s}' }}" for n, s in pods(reported))
                gone = "gone: true" if reported is None else ""
                self.assertEqual(self.outcome("AgentService/Report", f"statuses {{ kind: 'deployment' id: 'd_8' epoch: 1 "
                                              f"sequence: {sequence} {children} {gone} }}"), "ok")
                self.assertEqual(self.pods_of("d_8"), stored)

    def test_reports_of_each_protocol(self):
        for what, region, request, answer, stored in table.CTRL_REPORTS:
            with self.subTest(what):
                self.matches(what, answer, self.outcome("ClusterService/ReportDeploymentStatus", request, region=region))
                self.assertEqual(self.pods_of("d_1"), stored)
        for what, request, stored in table.SENTINEL_REPORTS if self.sentinels else []:
            with self.subTest(f"sentinel: {what}"):
                self.assertEqual(self.outcome("ClusterService/ReportSentinelStatus", request), "ok")
                seen = self.observed("s_1")
                self.assertEqual(f"{seen['health']} {seen['ready']}", stored)
        for what, request, answer in table.PROGRESS:
            with self.subTest(f"progress: {what}"):
                self.matches(what, answer, self.outcome("AgentService/Progress", request))
        self.assertEqual([a["agent"] for a in self.world.status()["agents"]], ["a"])

    def test_an_older_report_is_ignored(self):
        for epoch, sequence, ready in ((2, 5, 5), (2, 4, 4), (1, 9, 9)):
            self.assertEqual(self.outcome("AgentService/Report", "statuses { kind: 'deployment' id: 'd_1' "
                                          f"ready: {ready} epoch: {epoch} sequence: {sequence} }}"), "ok")
            self.assertEqual(int(self.observed("d_1")["ready"]), 5)

    def test_neighbours_of_a_bad_status_are_taken(self):
        batch = " ".join(f"statuses {{ {status} }}" for status, _ in table.BATCH_OF_REPORTS)
        answer = self.call("AgentService/Report", batch)
        self.assertEqual([r.message for r in answer.messages[0].refusals],
                         [text for _, text in table.BATCH_OF_REPORTS if text is not None])
        self.assertEqual([int(self.observed(key)["ready"]) for key in ("d_8", "d_9")], [3, 4])
        self.assertEqual(self.observed("d_1"), {})

    def test_neighbours_of_a_bad_document_are_taken(self):
        request = DEFINED["OperatorService/Apply"].input_type._concrete_class()
        for document, _ in table.BATCH_OF_DOCUMENTS:
            request.documents.add(kind=document["kind"], region=document["region"], id=document["id"],
                                  state=document.get("state", ""), spec_json=json.dumps(document["spec"]))
        operator = Client(f"unix:{self.world.socket}", DEFINED)
        self.addCleanup(operator.close)
        answer = operator.call("OperatorService/Apply", request.SerializeToString())
        self.assertEqual(answer.code, "OK", answer)
        for (document, wanted), found in zip(table.BATCH_OF_DOCUMENTS, answer.messages[0].outcomes, strict=True):
            with self.subTest(f"{document['id']}: {wanted}"):
                refusal = f" {found.field}: {found.message}" if found.outcome == "refused" else ""
                self.matches(document["id"], wanted, found.outcome + refusal)
        self.assertLessEqual({"d_31", "d_34"}, set(self.world.objects()))


class Raw(RequestCase):
    """What a proper client would not send."""

    def raw(self):
        client = RawClient(self.world.port)
        self.addCleanup(client.close)
        return client

    def message(self):
        good = self.client.encode("AgentService/Get", table.REQUESTS["AgentService/Get"])
        return b"\0" + len(good).to_bytes(4, "big") + good

    def test_rows(self):
        path = path_of(DEFINED["AgentService/Get"])
        for what, headers, body, end in table.RAW:
            with self.subTest(what):
                client = self.raw()
                stream = client.open(path, headers, body(self.message()))
                self.assertEqual(client.end_of(stream), end)
                self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")

    def test_half_sent_messages_hold_nobody_up(self):
        path = path_of(DEFINED["AgentService/Get"])
        waiting = [self.raw() for _ in range(20)]
        for client in waiting:
            client.open(path, table.IN_HERE, self.message()[:-3], end=False)
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")
        for client in waiting:
            client.close()
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")


class Streams(RequestCase):
    """Streams as they are by default: they stay open until somebody ends them."""

    EVERY = [("AgentService/Watch", "subscriptions { kind: 'deployment' }"), ("ClusterService/WatchDeployments", "")]

    @staticmethod
    def ids(messages):
        """The records that a stream of either protocol named."""
        found = set()
        for message in messages:
            if hasattr(message, "records"):
                found.update(r.id for r in message.records)
            elif message.HasField("apply"):
                found.add(message.apply.deployment_id)
        return found

    def read_until(self, stream, wanted):
        """Reads until the records were named; the stream's own deadline ends the wait."""
        messages = []
        for message in stream:
            messages.append(message)
            if wanted <= self.ids(messages):
                return
        self.fail(f"the stream ended and had named {self.ids(messages)}")

    def test_a_stream_lasts_until_its_deadline(self):
        for name, request in self.EVERY:
            with self.subTest(name):
                answer = self.call(name, request, seconds=SECONDS / 5)
                self.assertEqual(answer.code, "DEADLINE_EXCEEDED")
                self.assertIn("d_1", self.ids(answer.messages))

    def test_cancelled_streams_leave_nothing(self):
        for name, request in self.EVERY * 50:
            self.assertEqual(self.call(name, request, enough=lambda _: True).code, "ENOUGH")
        for name, request in self.EVERY:
            stream = self.client.start(name, request, agent("there"))
            self.world.apply([deployment(500, region="there", port=8000 + len(name))])
            self.read_until(stream, {"d_500"})
            stream.cancel()

    def test_a_reader_that_stops_holds_nobody_up_and_misses_nothing(self):
        for turn, (name, request) in enumerate(self.EVERY, 1):
            with self.subTest(name):
                numbers = range(1000 * turn, 1000 * turn + 100)
                slow = self.client.start(name, request, agent("there"), seconds=4 * SECONDS)
                next(slow)
                own = Client(f"127.0.0.1:{self.world.port}", DEFINED)
                self.addCleanup(own.close)
                others = [c.start(name, request, agent("there"), seconds=4 * SECONDS) for c in (self.client, own)]
                # 10 MB, far beyond what is buffered on the way.
                self.world.apply([deployment(n, region="there", command=["x" * 100_000]) for n in numbers])
                wanted = {f"d_{n}" for n in numbers}
                for other in others:
                    self.read_until(other, wanted)
                self.read_until(slow, wanted)

    def test_a_server_that_stops_says_when_to_come_back(self):
        streams = [self.client.start(name, request, agent(HERE)) for name, request in self.EVERY]
        for stream in streams:
            next(stream)
        ended = threading.Thread(target=self.server.stop)
        ended.start()
        for stream in streams:
            with self.assertRaises(grpc.RpcError):
                for _ in stream:
                    pass
            self.assertEqual(stream.code().name, "UNAVAILABLE")
            self.assertEqual(stream.details(), "the server is shutting down")
            self.assertGreater(int(dict(stream.trailing_metadata())["retry-after-ms"]), 0)
        ended.join()


class Settings(RequestCase):
    """What settings change of it."""

    settings = """
ctrl_bookmarks = true
[plugin.deployment]
zero_is_delete = true
"""
    listener = "streams_max = 5"

    def test_no_replicas_is_a_delete(self):
        answer = self.call("ClusterService/GetDesiredDeploymentState", "deployment_id: 'd_8'")
        self.assertEqual(said(answer, state_said), "delete shop/app-8")
        answer = self.call("AgentService/Get", "kind: 'deployment' id: 'd_8'")
        self.assertEqual(said(answer, lambda m: record_said(m.record)), "delete shop/app-8 @8")
        answer = self.call("ClusterService/WatchDeployments", "version_last_seen: 7", enough=lambda m: m.version >= 8)
        self.assertEqual(said(answer, state_said), "delete shop/app-8 @8")

    def test_a_bookmark_moves_the_cursor_over_what_is_not_sent(self):
        head = self.at().version
        answer = self.call("ClusterService/WatchDeployments", "", "there", enough=lambda m: m.version == head)
        self.assertEqual(said(answer, state_said), f"apply shop/app-7 @7, move to {head}")

    def test_more_streams_than_allowed_wait_and_others_go_on(self):
        streams = [self.client.start("AgentService/Watch", "subscriptions { kind: 'deployment' }", agent(HERE))
                   for _ in range(5)]
        for stream in streams:
            next(stream)
        one_more = self.call("AgentService/Get", table.REQUESTS["AgentService/Get"], seconds=2)
        self.assertEqual(one_more.code, "DEADLINE_EXCEEDED")
        other = Client(f"127.0.0.1:{self.world.port}", DEFINED)
        self.addCleanup(other.close)
        get = ("AgentService/Get", table.REQUESTS["AgentService/Get"], agent(HERE))
        self.assertEqual(other.call(*get).code, "OK")
        streams[0].cancel()
        self.assertEqual(self.client.call(*get).code, "OK")

    def test_a_peer_that_ignores_the_limit_is_refused(self):
        client = RawClient(self.world.port)
        self.addCleanup(client.close)
        path = path_of(DEFINED["AgentService/Watch"])
        good = self.client.encode("AgentService/Watch", table.REQUESTS["AgentService/Watch"])
        get = path_of(DEFINED["AgentService/Get"])
        self.assertEqual(client.end_of(client.open(get, [], b"")), "UNAUTHENTICATED")  # the limit has come by then
        client.h2.remote_settings.max_concurrent_streams = 1000
        client.h2.remote_settings.acknowledge()
        streams = [client.open(path, table.IN_HERE, b"\0" + len(good).to_bytes(4, "big") + good) for _ in range(50)]
        self.assertIn(client.end_of(streams[-1]), ("reset", "closed", "RESOURCE_EXHAUSTED", "UNAVAILABLE"))
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")


class Trouble(RequestCase):
    """A store that is locked by another program."""

    REPORT = ("ClusterService/ReportDeploymentStatus", "update { k8s_name: 'app-1' instances { k8s_name: 'p' } }")

    def lock(self):
        other = sqlite3.connect(self.world.database, isolation_level=None, check_same_thread=False)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        return other

    def test_a_report_waits_for_a_lock_and_is_stored(self):
        other = self.lock()
        # Longer than SQLite waits (5 s), shorter than the host tries.
        soon = threading.Timer(7, other.execute, ["ROLLBACK"])
        soon.start()
        self.assertEqual(self.outcome(*self.REPORT), "ok")
        soon.join()
        self.assertEqual(self.pods_of("d_1"), "p inactive")

    def test_a_storage_error_reaches_the_caller_with_its_own_text(self):
        other = self.lock()
        for name, request in (self.REPORT, ("AgentService/Report", table.REQUESTS["AgentService/Report"]),
                              ("AgentService/Progress", table.REQUESTS["AgentService/Progress"])):
            self.matches(name, f'UNAVAILABLE: ...database "{self.world.database}": is locked by another program: '
                         "end its transaction", self.outcome(name, request, seconds=4 * SECONDS))
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")
        other.execute("ROLLBACK")
        self.assertEqual(self.outcome(*self.REPORT), "ok")


if __name__ == "__main__":
    unittest.main(verbosity=2)
