"""Peers of other versions over the real RPC, by the rules of proto/davit/README.md. Each class is a process of its own: it
generates its peer from other protos than ours.
"""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

import wire
from parts import AT_ONCE, REGION, REPOSITORY, STAGE, Case, deployment, wait_until
from scripted import ControlPlane

FROZEN = REPOSITORY / "tests/proto/frozen"
OLDEST = min(FROZEN.iterdir(), key=lambda folder: [int(part) for part in folder.name.split(".")])
KIND = "deployment"
NUMBER = 1000  # above those of any field of ours


def later():
    """A folder with our protos as a later release might have them: more fields, values and cases."""
    folder = Path(tempfile.mkdtemp(prefix="later-", dir=STAGE.parent))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    (folder / "davit/v1").mkdir(parents=True)
    for name in ("agent", "operator"):
        text = (REPOSITORY / f"proto/davit/v1/{name}.proto").read_text(encoding="utf-8")
        text = re.sub(r"^( *)message \w+ \{", rf"\g<0> string from_later = {NUMBER};", text, flags=re.MULTILINE)
        text = text.replace("oneof change {", f"oneof change {{ bytes later_change = {NUMBER + 1};")
        text = text.replace("TYPE_SNAPSHOT_END = 3;", f"TYPE_SNAPSHOT_END = 3; TYPE_LATER = {NUMBER};")
        (folder / f"davit/v1/{name}.proto").write_text(text, encoding="utf-8")
    return folder


def filled(message):
    """The message with its field from_later set, and that of each message in it."""
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for inner in value if field.is_repeated else [value]:
            filled(inner)
    message.from_later = "something that nobody here knows"
    return message


class AgentsCase(Case):
    """An agent of other protos, and today's server."""

    folder = None  # its protos
    makes = staticmethod(lambda message: message)

    @classmethod
    def setUpClass(cls):
        modules = wire.generate(cls.folder() if callable(cls.folder) else cls.folder)
        cls.pb, cls.defined = modules[1], wire.methods(modules)

    def setUp(self):
        super().setUp()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.world.apply([deployment(1)])
        self.client = wire.Client(f"127.0.0.1:{self.world.port}", self.defined)
        self.addCleanup(self.client.close)

    def call(self, name, request, **options):
        return self.client.call(f"AgentService/{name}", self.makes(request).SerializeToString(),
                                metadata=wire.agent(REGION), **options)

    def watch(self, *subscriptions, enough=lambda frame: frame.bookmark.type == 3, **more):
        wanted = [self.pb.Subscription(**s) for s in subscriptions]
        return self.call("Watch", self.pb.WatchRequest(subscriptions=wanted, **more), enough=enough)

    def check_works(self):
        """What an agent does from its first call to its last."""
        snapshot = self.watch({"kind": KIND})
        self.assertEqual(snapshot.code, "ENOUGH", snapshot.text)
        self.assertEqual([r.id for f in snapshot.messages for r in f.records], ["d_1"])
        record = next(r for f in snapshot.messages for r in f.records)
        self.assertTrue(record.apply)
        at = snapshot.messages[-1].bookmark.at
        self.assertEqual(snapshot.messages[-1].bookmark.live_count, 1)

        found = self.call("Get", self.pb.GetRequest(kind=KIND, id="d_1"))
        self.assertEqual(found.messages[0].record.version, record.version)
        progress = self.pb.ProgressRequest(agent="other", software="another", epoch=1)
        progress.kinds.add(kind=KIND, applied=at)
        self.assertEqual(self.call("Progress", progress).code, "OK")
        report = self.pb.ReportRequest()
        report.statuses.add(kind=KIND, id="d_1", observed_version=record.version, health="healthy", ready=1, epoch=1,
                            sequence=1)
        answer = self.call("Report", report)
        self.assertEqual((answer.code, len(answer.messages[0].refusals)), ("OK", 0), answer)
        self.assertEqual(self.world.objects()["d_1"]["observed"]["health"], "healthy")
        agents = self.world.status()["agents"]
        self.assertEqual([(a["agent"], a["software"]) for a in agents], [("other", "another")])

        self.world.apply([deployment(2)])
        self.world.delete(KIND, "d_1")
        tail = self.watch({"kind": KIND, "cursor": at}, enough=lambda frame: any(r.delete for r in frame.records))
        self.assertEqual([(r.id, r.WhichOneof("change")) for f in tail.messages for r in f.records],
                         [("d_2", "apply"), ("d_1", "delete")])
        gone = self.watch({"kind": KIND, "cursor": {"incarnation": 7, "version": 3}})
        self.assertEqual(gone.code, "OUT_OF_RANGE")


class OlderAgent(AgentsCase):
    """Made from the oldest copy that we keep."""

    folder = OLDEST

    def test_works(self):
        self.check_works()
        self.check_clean_end(self.server)


class LaterAgent(AgentsCase):
    folder = staticmethod(later)
    makes = staticmethod(filled)

    def test_what_is_safe_to_ignore_is_ignored(self):
        self.check_works()
        answer = self.watch({"kind": KIND}, features=["telepathy"])
        self.assertEqual(answer.code, "ENOUGH", answer.text)

    def test_what_must_be_understood_is_refused_by_its_word(self):
        for name, request in (("Watch", self.pb.WatchRequest(subscriptions=[self.pb.Subscription(kind=KIND)])),
                              ("Get", self.pb.GetRequest(kind=KIND, id="d_1")), ("Report", self.pb.ReportRequest()),
                              ("Progress", self.pb.ProgressRequest(agent="other"))):
            with self.subTest(name):
                request.required_features.append("telepathy")
                answer = self.call(name, request)
                self.assertEqual((answer.code, answer.text, answer.messages), (
                    "UNIMPLEMENTED", 'required_features: "telepathy" is not known to this server: '
                    "upgrade the server before its peers", []))
        self.assertEqual(self.world.status()["agents"], [])

    def test_another_region_than_the_calls_is_refused(self):
        answer = self.watch({"kind": KIND, "region": "elsewhere"})
        self.assertEqual((answer.code, answer.messages), ("UNIMPLEMENTED", []))
        self.assertIn('"elsewhere"', answer.text)
        self.assertEqual(self.watch({"kind": KIND, "region": REGION}).code, "ENOUGH")

    def test_a_kind_that_only_the_agent_has_ends_alone(self):
        answer = self.watch({"kind": "gadget"}, {"kind": KIND})
        self.assertEqual(answer.code, "ENOUGH", answer.text)
        ends = [(f.kind, f.end.code, f.end.message) for f in answer.messages if f.HasField("end")]
        self.assertEqual(ends, [("gadget", 3, 'kind "gadget" is not known to this server')])
        self.assertEqual([r.id for f in answer.messages for r in f.records], ["d_1"])

    def test_a_health_that_only_the_agent_knows_is_unknown(self):
        report = self.pb.ReportRequest()
        report.statuses.add(kind=KIND, id="d_1", observed_version=1, health="splendid", ready=1, epoch=1, sequence=1)
        self.assertEqual(self.call("Report", report).code, "OK")
        self.assertEqual(self.world.objects()["d_1"]["observed"]["health"], "unknown")


class ServersCase(Case):
    """A server of other protos, and today's agent."""

    folder = None
    makes = staticmethod(lambda message: message)

    def setUp(self):
        super().setUp()
        self.plane = ControlPlane(self.folder() if callable(self.folder) else self.folder, self.makes)
        self.addCleanup(self.plane.close)
        self.agent = self.world.agent(port=self.plane.port, extra=AT_ONCE + """
[plugin.reporter]
progress_interval_ms = 1000
[plugin.watcher]
reconnect_min_ms = 10
reconnect_max_ms = 20
""").start()
        wait_until(lambda: f"the agent subscribes\n{self.agent.tail()}", lambda: self.plane.subscribed[KIND] > 0)

    def say(self, document, **change):
        spec = dict(document["spec"])
        if not change:
            made = self.plane.ctrl.ApplyDeployment(**{**spec, "cpu_millicores": 100, "memory_mib": 64})
            change = {"apply": made.SerializeToString()}
        return self.plane.say(KIND, document["id"], spec["k8s_namespace"], spec["k8s_name"], **change)

    def wait_status(self, what, identity, holds):
        wait_until(lambda: f"{what}: {self.plane.statuses.get((KIND, identity))}\n{self.agent.tail()}",
                   lambda: (KIND, identity) in self.plane.statuses and holds(self.plane.statuses[KIND, identity]))

    def check_runs(self, document):
        version = self.say(document)
        self.wait_status(f"{document['id']} runs", document["id"], lambda s: (
            s.observed_version == version and s.ready == 1 and s.health == "healthy"))

    def check_works(self):
        self.check_runs(deployment(1))
        self.say(deployment(1), delete=True)
        self.wait_status("d_1 is gone", "d_1", lambda s: s.gone)


class OlderServer(ServersCase):
    folder = OLDEST

    def test_works(self):
        self.check_works()
        self.check_clean_end(self.agent)


class LaterServer(ServersCase):
    folder = staticmethod(later)
    makes = staticmethod(filled)

    def test_what_is_safe_to_ignore_is_ignored(self):
        self.check_works()
        pb = self.plane.pb
        at = pb.Cursor(incarnation=1, version=self.plane.version)
        self.plane.send(pb.Frame(kind=KIND))
        self.plane.send(pb.Frame(kind=KIND, bookmark=pb.Bookmark(type="TYPE_LATER", at=at)))
        self.check_runs(deployment(2))
        self.assertEqual(self.plane.subscribed[KIND], 1, self.agent.tail())
        self.check_clean_end(self.agent)

    def test_a_change_that_only_the_server_knows_holds_its_record(self):
        self.check_runs(deployment(1))
        version = self.say(deployment(1), later_change=b"turn it inside out")
        wait_until(lambda: f"d_1 is held: {self.plane.issues}", lambda: (KIND, "d_1") in self.plane.issues)
        issue = self.plane.issues[KIND, "d_1"]
        self.assertEqual((issue.condition, issue.version, issue.incarnation), ("held", version, 1))
        self.assertFalse(self.plane.statuses[KIND, "d_1"].gone)
        self.check_runs(deployment(2))

    def test_a_kind_that_the_server_ends_is_shown_and_subscribed_to_again(self):
        self.check_runs(deployment(1))
        pb = self.plane.pb
        self.plane.send(pb.Frame(kind=KIND, end=pb.Frame.End(code=99, message="this kind is being moved",
                                                             retry_after_ms=100)))
        wait_until(lambda: f"subscribed again\n{self.agent.tail()}", lambda: self.plane.subscribed[KIND] == 2)
        self.assertIn("this kind is being moved", self.agent.text())
        others = {kind: count for kind, count in self.plane.subscribed.items() if kind != KIND}
        self.assertEqual(set(others.values()), {1}, others)
        self.check_runs(deployment(2))
