"""The table of good and bad requests (requests_table.py) through ctrl.v1 and davit.v1, by a client of grpcio that was
generated from the protos.
"""

import json
import unittest

import requests_table as table
from parts import deployment
from requests_case import CTRL, HERE, RequestCase, pods, record_said, said, setUpModule, state_said
from wire import Client, agent

__all__ = ["setUpModule", "Table"]


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
        for name in self.defined:
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
            field = self.defined[f"ClusterService/{get}"].input_type.fields[0].name
            with self.subTest(what):
                ctrl = self.call(f"ClusterService/{get}", f"{field}: '{key}'", region)
                davit = self.call("AgentService/Get", f"kind: '{kind}' id: '{key}'", region)
                self.matches(what, by_ctrl, said(ctrl, state_said))
                self.matches(what, by_davit, said(
                    davit, lambda m: record_said(m.record) if m.HasField("record") else "none"))
                if by_ctrl.startswith("apply"):
                    message = getattr(self.cluster, apply_type.rpartition(".")[2]).FromString(davit.messages[0].record.apply)
                    if kind == "deployment":  # a peer that is none of ours is told the number of pods as bounds, too
                        message.autoscaling.min_replicas = message.autoscaling.max_replicas = message.replicas
                    self.assertEqual(message, ctrl.messages[0].apply)

    def test_point_queries_by_name(self):
        for name, answer in (("app-1", "apply shop/app-1 @1"), ("app-7", "none"), ("a\nb", "none")):
            found = self.call("AgentService/Get", f"kind: 'deployment' namespace: 'shop' name: {name!r}")
            self.assertEqual(said(found, lambda m: record_said(m.record) if m.HasField("record") else "none"), answer)

    def test_hostile_ids_are_unknown_ids(self):
        for key in table.HOSTILE:
            with self.subTest(repr(key[:20])):
                message = self.defined["AgentService/Get"].input_type._concrete_class(kind="deployment", id=key)
                answer = self.call("AgentService/Get", message.SerializeToString())
                self.assertEqual((answer.code, answer.messages[0].HasField("record")), ("OK", False))
                message = self.defined["ClusterService/GetDesiredDeploymentState"].input_type._concrete_class(
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
        self.plant(f"DELETE FROM records WHERE NOT live AND version <= {through}",
                   f"UPDATE store SET purged_through = {through}{self.world.store.in_order}")
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
                status = f"kind: 'deployment' id: 'd_8' epoch: 1 sequence: {sequence} {children} {gone}"
                self.assertEqual(self.outcome("AgentService/Report", f"statuses {{ {status} }}"), "ok")
                self.assertEqual(self.pods_of("d_8"), stored)

    def test_reports_of_each_protocol(self):
        for what, region, request, answer, stored in table.CTRL_REPORTS:
            with self.subTest(what):
                found = self.outcome("ClusterService/ReportDeploymentStatus", request, region=region)
                self.matches(what, answer, found)
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

    def test_a_delete_report_is_of_its_region(self):
        self.world.apply([deployment(1, region="there")])
        report = "update { k8s_name: 'app-1' instances { k8s_name: 'p' status: STATUS_RUNNING } }"
        for region, request in ((HERE, report), ("there", report), (HERE, "delete { k8s_name: 'app-1' }")):
            self.assertEqual(self.outcome("ClusterService/ReportDeploymentStatus", request, region=region), "ok")
        left = {o["region"]: len(o["observed"].get("children", [])) for o in self.world.status()["objects"]
                if o["id"] == "d_1"}
        self.assertEqual(left, {HERE: 0, "there": 1})

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
        request = self.defined["OperatorService/Apply"].input_type._concrete_class()
        for document, _ in table.BATCH_OF_DOCUMENTS:
            request.documents.add(kind=document["kind"], region=document["region"], id=document["id"],
                                  state=document.get("state", ""), spec_json=json.dumps(document["spec"]))
        operator = Client(f"unix:{self.world.socket}", self.defined)
        self.addCleanup(operator.close)
        answer = operator.call("OperatorService/Apply", request.SerializeToString())
        self.assertEqual(answer.code, "OK", answer)
        for (document, wanted), found in zip(table.BATCH_OF_DOCUMENTS, answer.messages[0].outcomes, strict=True):
            with self.subTest(f"{document['id']}: {wanted}"):
                refusal = f" {found.field}: {found.message}" if found.outcome == "refused" else ""
                self.matches(document["id"], wanted, found.outcome + refusal)
        self.assertLessEqual({"d_31", "d_34"}, set(self.world.objects()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
