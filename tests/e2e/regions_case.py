"""What the tests of regions that are made of Clusters have: a server with a folder of tokens, a kubectl that is
scripted, and the program that actuator_exec would run."""

import json
import os
import shutil
import subprocess
import time

from parts import DAVIT, KUBECONFIG, PATIENCE, REPOSITORY, Case, deployment, wait_until

REGION = "eu-9"
FIELDS = {"requeueAfterSeconds", "statusPatch", "progress", "events", "error"}


def cluster(name=REGION, uid="uid-1", kubeconfig=KUBECONFIG, region=None):
    annotations = {"davit.dev/region": region} if region else {}
    out = {"apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Cluster",
           "metadata": {"namespace": "default", "name": name, "uid": uid, "annotations": annotations}, "spec": {}}
    if kubeconfig is not None:
        out["status"] = {"providerStatus": {"kubeconfig": kubeconfig}}
    return out


class RegionsCase(Case):
    def setUp(self):
        super().setUp()
        world = self.world
        self.tokens, self.script = world.folder / "agents", world.folder / "kubectl"
        self.tokens.mkdir()
        self.script.mkdir()
        self.kubectl = self.script / "kubectl"
        shutil.copy(REPOSITORY / "tests/e2e/scripted_kubectl.py", self.kubectl)
        self.configuration = world.write("site.toml", """
[rpc.client.control]
region = "changed for each"
[plugin.sentinel]
secrets = []
""")
        self.options = ["--drain-seconds", "60", "--agent-seconds", "30"]
        self.server = world.server()
        self.server.argv.append(world.write("tokens.toml", f'[rpc.server.main]\nagent_tokens_dir = "{self.tokens}"\n'))

    def begin(self):
        self.server.argv = [str(word) for word in self.server.argv]
        self.server.start()
        self.world.wait_ready(self.server)

    def run_program(self, operation, of, stdin=None, files=None):
        """One call, as actuator_exec makes it: its answer; a number: how it ended otherwise, with what it said."""
        seconds = 60 * PATIENCE
        deadline = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))
        metadata = of["metadata"]
        request = {"apiVersion": "davit.dev/actuator/v1", "operation": operation, "namespace": metadata["namespace"],
                   "name": metadata["name"], "uid": metadata["uid"], "deadline": deadline, "cluster": of}
        done = subprocess.run(
            [str(DAVIT), "clusters", "join-regions", "--server", f"unix:{self.world.socket}", *self.makes_tokens(),
             "--kubectl", self.kubectl, "--url", f"http://127.0.0.1:{self.world.port}", *self.options,
             *(files or [REPOSITORY / "etc/agent.toml", self.configuration])],
            input=json.dumps(request) if stdin is None else stdin, text=True, capture_output=True, timeout=seconds,
            check=False, env={"PATH": os.environ["PATH"]})
        if done.returncode != 0:
            return done.returncode, done.stderr
        answer = json.loads(done.stdout)
        self.assertLessEqual(set(answer), FIELDS)
        self.assertNotIn("requeueAfterSeconds" if "error" in answer else "error", answer)
        return answer

    def makes_tokens(self):
        return "--tokens", self.tokens

    def join(self, of, **more):
        return self.run_program("reconcile", of, **more)

    def leave(self, of, **more):
        return self.run_program("delete", of, **more)

    def until_done(self, operation, of, seconds=60, each=lambda answer: None):
        """Calls until it is done. All events, and all that it waited for."""
        events, progress = [], []

        def done():
            answer = self.run_program(operation, of)
            self.assertIsInstance(answer, dict, answer)
            each(answer)
            events.extend(event["reason"] for event in answer.get("events", ()))
            progress.append(answer.get("progress") or answer.get("error", {}).get("message", ""))
            return "error" not in answer and "requeueAfterSeconds" not in answer
        wait_until(lambda: f"{operation} is done: {progress[-1:]} {self.server.tail()}", done, seconds, 0.2)
        return events, progress

    def agent(self, region=REGION, name="installed"):
        """Stands for what has been installed."""
        return self.world.agent(name, region=region, token=f"agents/{region}").start()

    def calls(self):
        path = self.script / "calls"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def said(self, count=2):
        """What kubectl was asked, by its first words, since it was asked last."""
        out = [" ".join(call["words"][:count]) for call in self.calls()]
        (self.script / "calls").unlink(missing_ok=True)
        return out

    def set(self, name, text):
        (self.script / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")

    def unset(self, *names):
        for name in names:
            (self.script / name).unlink(missing_ok=True)

    def files(self):
        return sorted(path.name for path in self.tokens.iterdir())

    def agents(self, region=REGION):
        return [a["agent"] for a in self.world.status().get("agents", ()) if a["region"] == region]

    def records(self):
        return json.loads(self.world.davit("get", "-o", "json")[1])

    def apply(self, *numbers, region=REGION):
        self.world.apply([deployment(number, region=region) for number in numbers])
