"""An agent with exactly the rights that its kinds declare, on a real API server.

The ClusterRole is the one that `davit check --rights` prints. DAVIT_LONG=1 takes away each of its rights in turn;
otherwise some, so that every verb and every kind is among them.
"""

import os
import re
import subprocess

import parts
from parts import AT_ONCE, DAVIT, deployment, policy, sentinel, wait_until

LONG = os.environ.get("DAVIT_LONG") == "1"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/davit-agent"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
RUNTIME_CLASS = "/apis/node.k8s.io/v1/runtimeclasses/gvisor"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnetworkpolicies.cilium.io"
POLICIES = "ciliumnetworkpolicies"
SOME = {("get", "namespaces"), ("create", "namespaces"), ("list", "replicasets"), ("patch", "replicasets"),
        ("delete", "pods"), ("watch", "horizontalpodautoscalers"), ("create", "services"), ("get", POLICIES),
        ("delete", "poddisruptionbudgets"), ("get", "runtimeclasses"), ("create", "events")}
SOON = AT_ONCE + """
[plugin.applier]
access_review_interval_ms = 500
right_patience_ms = 500
parked_retry_ms = 1000
resync_interval_ms = 1000
"""


def rules_of(text):
    """[(group, resource, [verbs])] of a ClusterRole as `davit check --rights` prints it."""
    return [(group, resource, verbs.split(", ")) for group, resource, verbs in re.findall(
        r'- apiGroups: \["(.*)"\]\n  resources: \[(.*)\]\n  verbs: \[(.*)\]\n', text)]


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubeconfig(), extra=SOON)
        self.rules = rules_of(self.check("--rights")[1])
        self.grant(self.rules)

    def made(self, path, body, **more):
        status, answer = self.kubernetes.request("POST", path, body, **more)
        self.assertIn(status, (200, 201, 409), answer)
        return answer

    def kubeconfig(self):
        """Of a service account that nothing but the role allows anything."""
        self.made(ACCOUNTS, {"metadata": {"name": "davit"}})
        self.made("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "davit-agent"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "davit-agent"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "davit"}]})
        token = self.made(f"{ACCOUNTS}/davit/token", {"spec": {"expirationSeconds": 7200}})["status"]["token"]
        return self.world.write("kubeconfig", f"""apiVersion: v1
kind: Config
current-context: rig
clusters: [{{name: rig, cluster: {{server: "{self.kubernetes.url}", certificate-authority: "{self.kubernetes.ca}"}}}}]
users: [{{name: davit, user: {{token: "{token}"}}}}]
contexts: [{{name: rig, context: {{cluster: rig, user: davit}}}}]
""")

    def check(self, *options):
        done = subprocess.run([DAVIT, "check", *self.agent.argv[2:], *options], text=True, capture_output=True,
                              timeout=60 * parts.PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    def grant(self, rules):
        role = {"metadata": {"name": "davit-agent"}, "rules": [
            {"apiGroups": [group], "resources": [resource], "verbs": verbs}
            for group, resource, verbs in rules if verbs]}
        if self.kubernetes.request("PUT", ROLE, role)[0] == 404:
            self.made(ROLE.rpartition("/")[0], role)

    def issues(self, condition):
        """{what it is about: reason} of all kinds."""
        return {i["name"]: i["reason"] for a in self.world.status()["agents"] for i in a.get("issues", [])
                if i["condition"] == condition}

    def wait_issue(self, condition, name, holds=lambda reason: True):
        wait_until(lambda: f"{condition} {name}: {self.issues(condition)}; {self.agent.tail()}",
                   lambda: name in self.issues(condition) and holds(self.issues(condition)[name]))

    def converges(self, *documents):
        self.world.apply(documents)
        for document in documents:
            self.world.wait_running([document["id"]], document["kind"])

    def test_exactly_the_declared_rights_are_enough(self):
        code, _, err = self.check()
        self.assertEqual((code, err), (0, ""))
        self.agent.start()
        bounds = deployment(2, autoscaling={"min_replicas": 1, "max_replicas": 2})
        del bounds["spec"]["replicas"]
        self.converges(deployment(1), bounds, sentinel(1), policy(1))
        # Pods are replaced, objects changed and deleted.
        self.converges(deployment(1, image="registry.example/app:2"), sentinel(1, replicas=2))
        self.repairs_and_says_so("app-1")
        for kind, record in (("deployment", "d_1"), ("deployment", "d_2"), ("sentinel", "s_1"),
                             ("cilium_network_policy", "net_1")):
            self.world.delete(kind, record)
        self.world.wait_gone()
        self.assertNotIn("a right is missing", self.agent.text())
        self.assertNotIn("403 Forbidden", self.agent.text())  # "403" alone may be milliseconds
        self.check_clean_end(self.agent, self.server)

    def repairs_and_says_so(self, name):
        """`kubectl describe` of an object says who had changed it."""
        namespace = "/namespaces/" + deployment(1)["spec"]["k8s_namespace"]
        status, edited = self.kubernetes.request(
            "PATCH", f"/apis/apps/v1{namespace}/replicasets/{name}?fieldManager=somebody", {"spec": {"replicas": 5}},
            "application/merge-patch+json")
        self.assertEqual(status, 200, edited)
        events = []

        def said():
            events[:] = [(e["reason"], e["message"])
                         for e in self.kubernetes.request("GET", f"/api/v1{namespace}/events")[1]["items"]
                         if e["involvedObject"].get("uid") == edited["metadata"]["uid"]]
            return any(r == "Repaired" and 'field manager "somebody"' in m for r, m in events)
        wait_until(lambda: f"an event of the repair: {events}; {self.agent.tail()}", said)

    def test_each_right_taken_away_is_named_and_the_rest_goes_on(self):
        self.agent.start()
        self.converges(deployment(1), sentinel(1), policy(1))
        number = 100
        for group, resource, verbs in self.rules:
            for verb in verbs:
                if LONG or (verb, resource) in SOME:
                    number += 1
                    with self.subTest(verb=verb, resource=resource):
                        self.without(group, resource, verb, number)
        self.assertGreaterEqual(number - 100, len(SOME), self.rules)
        self.converges(deployment(2), sentinel(2), policy(2))
        self.check_clean_end(self.agent, self.server)

    def without(self, group, resource, verb, number):
        self.assertEqual(self.agent.stop(), 0, self.agent.tail())
        self.grant([(g, r, [v for v in verbs if (r, v) != (resource, verb)]) for g, r, verbs in self.rules])
        line = f'the agent\'s account may not {verb} {resource} (API group "{group}") in all namespaces'
        wait_until(lambda: f"the check says: {line}; {self.check()}",
                   lambda: line in self.check()[2] and self.check()[0] != 0)
        said = len(self.agent.text())
        self.agent.start()
        name = f"{resource}.{group}" if group else resource
        self.wait_issue("denied", f"access to {name}", lambda reason: line in reason)
        self.assertRegex(self.agent.text()[said:],
                         rf'a right is missing.* resource={re.escape(name)} verbs="?{verb}"?[ \n]')
        self.assertRegex(self.world.davit("status")[1], rf"denied .*access to {re.escape(name)} .*may not {verb} ")
        self.converges(deployment(number) if resource == POLICIES else policy(number))
        self.grant(self.rules)
        wait_until(lambda: f"nothing is denied: {self.issues('denied')}", lambda: not self.issues("denied"))

    def test_what_the_cluster_lacks_is_found_and_the_setting_named(self):
        gvisor = self.kubernetes.request("GET", RUNTIME_CLASS)[1]
        definition = self.kubernetes.request("GET", CRD)[1]
        for path in (RUNTIME_CLASS, CRD):
            self.assertEqual(self.kubernetes.request("DELETE", path)[0], 200)
        wait_until("the definition is gone", lambda: self.kubernetes.request("GET", CRD)[0] == 404)
        no_policies = "the cluster has no ciliumnetworkpolicies.cilium.io/v2: install its definition, or "
        lines = ('the cluster has no runtimeclasses.node.k8s.io gvisor: create it, or set runtime_class = "" ',
                 f"{no_policies}set gossip_policy = false ", f"{no_policies}leave this kind's plugin ")
        wait_until(lambda: f"the check names all three: {self.check()}",
                   lambda: all(line in self.check()[2] for line in lines))
        self.agent.start()
        self.wait_issue("missing", "runtimeclasses.node.k8s.io gvisor")
        self.wait_issue("missing", "ciliumnetworkpolicies.cilium.io/v2")
        self.assertEqual(self.agent.text().count("the cluster lacks what a kind needs"), 3)
        self.assertRegex(self.world.davit("status")[1], r"missing +deployment +runtimeclasses.* runtime_class = ")
        for path, what in ((RUNTIME_CLASS, gvisor), (CRD, definition)):
            kept = {k: v for k, v in what.items() if k != "status"}
            kept["metadata"] = {"name": what["metadata"]["name"], "labels": what["metadata"].get("labels", {})}
            self.made(path.rpartition("/")[0], kept)
        wait_until(lambda: f"nothing is missing: {self.issues('missing')}; {self.agent.tail()}",
                   lambda: not self.issues("missing"))
        self.converges(deployment(301), sentinel(301), policy(301))
        self.check_clean_end(self.agent, self.server)
