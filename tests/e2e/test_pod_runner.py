"""Pods of one image are processes of this machine: an agent that a Deployment installs works with its ServiceAccount.

The objects are those of a site: ConfigMap, Secret, account, the ClusterRole that `davit check --rights` prints. What
else containers may do is shown with a shell.
"""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import parts
from kubectl import kubectl
from parts import AT_ONCE, DAVIT, REGION, REPOSITORY, STAGE, deployment, free_port, wait_until

sys.path.insert(0, str(REPOSITORY / "tests/kubernetes"))
from pod_spec import expand, image_name, stages_without  # noqa: E402  (the folder is on the path only now)
from processes import identity, is_running, stat_fields  # noqa: E402

SPACE = "davit-system"
PODS = f"/api/v1/namespaces/{SPACE}/pods"
ROLE = {"kind": "ClusterRole", "name": "davit-agent", "apiGroup": "rbac.authorization.k8s.io"}
SHIPPED = REPOSITORY / "etc/agent.toml"


def volume(name, **source):
    return {"name": name, **source}


def agent_container(port):
    def probe(path):
        return {"httpGet": {"path": path, "port": "http"}, "periodSeconds": 1, "failureThreshold": 60}
    return {"name": "davit", "image": "davit:test", "args": ["run", "/etc/davit/10-agent.toml", "/etc/davit/20-site.toml"],
            "ports": [{"name": "http", "containerPort": port}],
            "readinessProbe": probe("/readyz"), "livenessProbe": probe("/healthz"),
            "securityContext": {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False},
            "env": [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "volumeMounts": [{"name": "configuration", "mountPath": "/etc/davit", "readOnly": True},
                             {"name": "token", "mountPath": "/etc/davit-token", "readOnly": True},
                             {"name": "state", "mountPath": "/var/lib/davit"}]}


def site(port):
    """What an installation consists of, without the role."""
    def named(api, kind, name="davit-agent", **more):
        return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": SPACE}, **more}
    labels = {"app": "davit-agent"}
    pod = {"serviceAccountName": "davit-agent", "securityContext": {"runAsNonRoot": True},
           "containers": [agent_container(port)], "terminationGracePeriodSeconds": 30,
           "volumes": [volume("configuration", configMap={"name": "davit-agent"}),
                       volume("token", secret={"secretName": "davit-agent", "defaultMode": 0o400}),
                       volume("state", emptyDir={})]}
    return [
        named("v1", "ServiceAccount"),
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
         "metadata": {"name": "davit-agent"}, "roleRef": ROLE,
         "subjects": [{"kind": "ServiceAccount", "name": "davit-agent", "namespace": SPACE}]},
        named("apps/v1", "Deployment", spec={"replicas": 1, "selector": {"matchLabels": labels},
                                             "template": {"metadata": {"labels": labels}, "spec": pod}})]


def waits_for(container):
    return container["state"].get("waiting", {}).get("message", "")


class Switch(http.server.BaseHTTPRequestHandler):
    """Answers each request with `status`."""

    status = 503

    def do_GET(self):
        self.send_response(Switch.status)
        self.end_headers()

    def log_message(self, *_):
        pass


class OnKubernetes(parts.KubernetesCase):
    @classmethod
    def setUpClass(cls):
        cls.kubernetes = parts.Kubernetes(options=["--run-pods", f"davit={STAGE}"])

    def setUp(self):
        super().setUp()
        self.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        wait_until("the account of the namespace", lambda: self.kubernetes.request(
            "GET", f"/api/v1/namespaces/{SPACE}/serviceaccounts/default")[0] == 200)

    def kubectl(self, *words, given=None):
        return kubectl(self.kubernetes, *words, given=given)

    def runner(self):
        state = json.loads((self.kubernetes.folder / "rig.json").read_text(encoding="utf-8"))
        return state["processes"]["pod-runner"]

    def processes(self):
        """Those that run for pods: [identity], without bubblewrap's own."""
        children = {}
        for path in Path("/proc").glob("[0-9]*"):
            fields = stat_fields(path.name)
            if fields is not None and fields[0] not in "XZ":
                children.setdefault(int(fields[1]), []).append(int(path.name))
        return [identity(inner) for bwrap in children.get(self.runner()["pid"], [])
                for inner in children.get(bwrap, []) if not self.is_bwrap(inner)]

    @staticmethod
    def is_bwrap(pid):
        try:
            return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "bwrap"
        except OSError:
            return True

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.kubernetes.items(PODS)}

    def logs(self):
        return "\n".join(f"{path.name}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:])
                         for path in (self.kubernetes.folder / "logs").glob("pod-*"))

    def container(self, name):
        return self.pods().get(name, {}).get("status", {}).get("containerStatuses", [{}])[0]

    def wait_container(self, name, what, holds, seconds=30):
        wait_until(lambda: f"{name} {what}: {json.dumps(self.pods().get(name, {}).get('status'))}\n{self.logs()}",
                   lambda: self.container(name) and holds(self.container(name)), seconds)

    # --- an agent ----------------------------------------------------------------------------------------------

    def install(self):
        """Returns the pod's name."""
        port = free_port()
        overlay = AT_ONCE + f"""
[host]
log_level = "debug"
state_dir = "/var/lib/davit"
metrics_listen = "127.0.0.1:{port}"
[rpc.client.control]
url = "http://127.0.0.1:{self.world.port}"
region = "{REGION}"
"""
        inside = overlay + 'token_file = "/etc/davit-token/token"\n[plugin.cluster]\nin_cluster = true\n'
        outside = self.world.write("outside.toml", f'{overlay}token_file = "{self.world.folder}/agent.token"\n'
                                                   f'[plugin.cluster]\nkubeconfig = "{self.kubernetes.kubeconfig}"\n')
        rights = subprocess.run([DAVIT, "check", "--rights", SHIPPED, outside], text=True, capture_output=True,
                                timeout=60 * parts.PATIENCE, check=False)
        self.assertEqual(rights.returncode, 0, rights.stderr)
        self.kubectl("apply", "-f", "-", given=rights.stdout)
        self.kubectl("create", "configmap", "davit-agent", "--namespace", SPACE,
                     f"--from-file=10-agent.toml={SHIPPED}", f"--from-literal=20-site.toml={inside}")
        self.kubectl("create", "secret", "generic", "davit-agent", "--namespace", SPACE,
                     f"--from-file=token={self.world.folder}/agent.token")
        self.addCleanup(self.kubernetes.request, "DELETE", f"/apis/apps/v1/namespaces/{SPACE}/deployments/davit-agent")
        self.kubectl("apply", "-f", "-", given=site(port))
        self.kubectl("wait", "--namespace", SPACE, "--for=condition=Available", "deployment/davit-agent",
                     f"--timeout={60 * parts.PATIENCE:.0f}s")
        return next(iter(self.pods()))

    def arrives(self, number):
        """A record becomes a ReplicaSet whose pod the simulated kubelets take, and its status comes back."""
        self.world.apply([deployment(number)])
        self.world.wait_running([f"d_{number}"])
        self.assertIn(("shop", f"app-{number}"), self.kubernetes.replica_sets())

    def test_an_agent_that_a_deployment_installs_works(self):
        server = self.world.server().start()
        self.world.wait_ready(server)
        name = self.install()
        self.arrives(1)
        self.assertEqual(self.pods()[name]["status"]["podIP"], "127.0.0.1")
        self.assertFalse([p for p in self.kubernetes.items("/api/v1/namespaces/shop/pods")
                          if p["status"]["podIP"] == "127.0.0.1"], "a pod of another image is run")
        self.a_secret_that_changes_is_read(server)
        self.what_is_killed_comes_back(name)
        [process] = self.processes()
        self.kubernetes.rig_command("stop-apiserver")
        self.kubernetes.rig_command("start-apiserver")
        self.arrives(4)
        self.assertEqual(self.processes(), [process], "an API server that is away ends no pod")
        self.kubectl("delete", "deployment", "--namespace", SPACE, "davit-agent")
        wait_until(lambda: f"the pod is gone: {self.logs()}", lambda: not self.pods(), 60)
        self.assertFalse(is_running(process))
        self.assertNotIn("Sanitizer", self.logs())
        wait_until("its folder is gone", lambda: not list((self.kubernetes.folder / "pods").iterdir()))

    def a_secret_that_changes_is_read(self, server):
        self.assertEqual(server.stop(), 0)
        token = self.world.token("agent", "another-secret-of-the-tests")
        self.kubernetes.request("PATCH", f"/api/v1/namespaces/{SPACE}/secrets/davit-agent", {
            "stringData": {"token": token.read_text(encoding="utf-8")}}, "application/merge-patch+json")
        server.start()
        self.world.wait_ready(server)
        self.arrives(2)

    def what_is_killed_comes_back(self, name):
        [first] = self.processes()
        os.kill(first["pid"], signal.SIGKILL)
        self.wait_container(name, "runs again", lambda c: c["restartCount"] == 1 and c["ready"], 60)
        self.assertEqual(self.container(name)["lastState"]["terminated"]["exitCode"], 137)
        self.arrives(3)
        # The one who runs pods takes them with it.
        [second], runner = self.processes(), self.runner()
        os.kill(runner["pid"], signal.SIGKILL)
        wait_until("the process has ended", lambda: not is_running(second))
        self.wait_container(name, "runs anew", lambda c: c["restartCount"] == 2 and c["ready"], 60)
        self.assertNotEqual(self.runner(), runner)

    # --- anything else -----------------------------------------------------------------------------------------

    def make(self, name, script="sleep 1000", container=None, **spec):
        """A pod that runs `script` in a shell."""
        status, answer = self.kubernetes.request("POST", PODS, {
            "metadata": {"name": name},
            "spec": {"terminationGracePeriodSeconds": 1, **spec,
                     "containers": [{"name": "main", "image": "davit:test", "command": ["sh", "-c", script],
                                     **(container or {})}]}})
        self.assertEqual(status, 201, answer)

    def said(self, name):
        path = self.kubernetes.folder / f"logs/pod-{SPACE}-{name}.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def test_containers_end_wait_and_are_probed_as_everywhere(self):
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Switch)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        probe = {"httpGet": {"port": web.server_port}, "periodSeconds": 1, "failureThreshold": 1}
        self.make("crashes", "exit 3")
        self.make("succeeds", "echo $(WHO) '$$(WHO)'; id -u; [ -e /var/run ] || echo no token", {"env": [{"name": "WHO", "value": "me"}]},
                  restartPolicy="Never", automountServiceAccountToken=False, securityContext={"runAsUser": 1234})
        self.make("fails", "exit 4", restartPolicy="Never")
        self.make("waits", "cat /s/a", volumes=[volume("s", secret={"secretName": "late"})],
                  container={"volumeMounts": [{"name": "s", "mountPath": "/s"}]}, restartPolicy="Never")
        self.make("odd", volumes=[volume("h", hostPath={"path": "/"})])
        self.make("stubborn", "trap '' TERM; while :; do sleep 1; done")
        self.make("probed", container={"readinessProbe": probe})
        self.make("unwell", container={"livenessProbe": probe})

        def phase(name):
            return lambda _: self.pods()[name]["status"]["phase"]
        self.wait_container("crashes", "waits", lambda c: c["restartCount"] >= 1 and c["state"].get(
            "waiting", {}).get("reason") == "CrashLoopBackOff")
        self.assertEqual(self.container("crashes")["lastState"]["terminated"]["exitCode"], 3)
        self.wait_container("succeeds", "has ended", lambda c: phase("succeeds")(c) == "Succeeded")
        self.assertEqual(self.said("succeeds"), "me $(WHO)\n1234\nno token\n")
        self.wait_container("fails", "has failed", lambda c: phase("fails")(c) == "Failed")
        self.assertEqual(self.container("fails")["state"]["terminated"]["exitCode"], 4)
        self.wait_container("odd", "says why", lambda c: "volume h: only" in waits_for(c))
        self.wait_container("waits", "says for what", lambda c: '"late" not found' in waits_for(c))
        self.kubectl("create", "secret", "generic", "late", "--namespace", SPACE, "--from-literal=a=it is there")
        self.wait_container("waits", "has ended", lambda c: phase("waits")(c) == "Succeeded")
        self.assertEqual(self.said("waits"), "it is there")
        self.wait_container("unwell", "is killed", lambda c: c["restartCount"] >= 1 and c["lastState"])
        self.wait_container("probed", "runs", lambda c: "running" in c["state"] and not c["ready"])
        Switch.status = 200
        self.wait_container("probed", "is ready", lambda c: c["ready"])
        Switch.status = 500
        self.wait_container("probed", "is not ready", lambda c: not c["ready"])
        self.wait_container("stubborn", "runs", lambda c: c["ready"])
        self.kubectl("delete", "pods", "--namespace", SPACE, "--all")
        wait_until(lambda: f"no pod is left: {list(self.pods())}", lambda: not self.pods(), 60)
        self.assertEqual(self.processes(), [])

    def test_names_and_references_are_read_as_kubernetes_does(self):
        for image in ("davit", "davit:1", "davit@sha256:00", "davit:1@sha256:00"):
            self.assertEqual(image_name(image), "davit")
        self.assertEqual(image_name("registry:5000/davit:1"), "registry:5000/davit")
        self.assertEqual(expand("$(A) $(B) $$(A) $", {"A": "1"}), "1 $(B) $(A) $")
        with self.assertRaises(ValueError):
            stages_without("  resourceRef:\n    kind: Pod\n", ["davit"])


if __name__ == "__main__":
    import unittest
    unittest.main(verbosity=2)
