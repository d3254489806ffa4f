"""What operators have in their fingers from kubectl: the same words where both have a command, and the same templates.

The table of differences stands in host/commands/README.md.
"""

import json
import os
import re
import subprocess
import threading
import unittest

from parts import AT_ONCE, PATIENCE, REGION, REPOSITORY, Case, Process, deployment, is_running, wait_until, DAVIT

TEMPLATES = [
    "{.items[*].id}", "{.items[0].spec.image}", "{.items[-1].id}", "{.items[0:2].id}", "{.items[::2].id}",
    "{.items[0,2].id}", "{.items[*].spec.port}", "{.items[?(@.id==\"d_2\")].spec.k8s_name}",
    "{.items[?(@.id!='d_2')].id}", "{.items[?(@.spec.port>8000)].id}", "{.items[?(@.annotations)].id}",
    "{range .items[*]}{.id}{\"\\t\"}{.spec.cpu_millicores}{\"\\n\"}{end}", "{..k8s_name}", "{.items[*].annotations}",
    "{.items[0]['id','region']}", "{.items[0].annotations.team\\.example/owner}", "{.nope}", "{.items[*].nope}",
    "all: {.items[*].id}!", "{range .items[*]}[{.id}{range .spec.command[*]}<{@}>{end}]{end}", "{.items[7].id}",
    "{.items[*", "{items}", "{.items[a]}", "{.items[0].id[0]}", "{end}", "{.items[?(@.id]}", "{\"x}",
    "{.items[1:0].id}",
]


def kubectl():
    found = subprocess.run(["bash", REPOSITORY / "tests/kubernetes/build.sh", "--find"], capture_output=True, text=True,
                           check=False)
    if found.returncode != 0:
        raise unittest.SkipTest("no kubectl is built: tests/kubernetes/build.sh")
    return found.stdout.splitlines()[-1] + "/kubectl"


class Templates(Case):
    """-o jsonpath, beside the real kubectl on the same JSON."""

    def test_a_template_prints_what_kubectl_prints(self):
        program = kubectl()
        self.world.wait_ready(self.world.server().start())
        documents = [deployment(n, command=["run", f"--n={n}"][:n]) for n in (1, 2, 3)]
        documents[1]["annotations"] = {"team.example/owner": "web"}
        documents[0]["annotations"] = {"team.example/owner": "a b"}
        self.world.apply(documents)
        items = json.loads(self.world.davit("get", "deployment", "-o", "json")[1])
        # "items" would make a list of it, of which kubectl prints each object.
        thing = self.world.write("thing.json", json.dumps({
            "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "rows": items}))
        asked = [(t, subprocess.Popen(
            [program, "patch", "--local", "-f", thing, "--type", "merge", "-p", "{}", "-o",
             "jsonpath=" + t.replace("items", "rows")],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)) for t in TEMPLATES]
        for template, theirs in asked:
            expected = theirs.communicate(timeout=60 * PATIENCE)[0]
            code, out, err = self.world.davit("get", "deployment", "-o", f"jsonpath={template}", check=False)
            if theirs.returncode == 0:
                self.assertEqual((code, out), (0, expected), template + err)
            else:
                self.assertIn(code, (2, 4), template)
                self.assertRegex(err, r"at character \d+", template)
        self.assertEqual(self.world.davit("get", "deployment/d_2", "-o", "jsonpath={.id} {.version} {.namespace}")[1],
                         "d_2 2 shop")
        self.assertEqual(self.world.davit("status", "-o", "jsonpath={.objects[*].state}")[1], "running running running")


class Words(Case):
    """What kubectl has, too, and what davit does in its own way. test_kubectl_lines.py holds lines of both side by side."""

    def setUp(self):
        super().setUp()
        self.world.wait_ready(self.world.server().start())
        self.file = self.world.write("web.yaml", json.dumps(deployment("web")))

    def test_diff_shows_fields(self):
        other = deployment("other", replicas=2)
        self.world.apply([deployment("web"), other])
        changed = deployment("web", replicas=3, image="registry.example/app:2")
        changed["annotations"] = {"davit.dev/pause": "true"}
        text = "\n---\n".join(json.dumps(d) for d in (changed, other, deployment("new")))
        code, out, err = self.world.davit("diff", "-f", "-", stdin=text, check=False)
        self.assertEqual((code, err), (1, ""))
        self.assertIn(f"deployment/d_web ({REGION}) changed\n--- deployment/d_web ({REGION}) version 1\n"
                      f"+++ deployment/d_web ({REGION}) as given\n@@ ", out)
        for line in ("-  image: registry.example/app:1", "+  image: registry.example/app:2", "-  replicas: 1",
                     "+  replicas: 3", "+annotations:", '+  davit.dev/pause: "true"'):
            self.assertIn("\n" + line + "\n", out)
        self.assertIn(f"deployment/d_other ({REGION}) unchanged (version 2)\n", out)
        self.assertRegex(out, rf"(?s)deployment/d_new \({REGION}\) created\n--- .* \(none\)\n.*\n\+  image: ")
        self.assertEqual(set(self.world.objects()), {"d_web", "d_other"})
        shown = json.loads(self.world.davit("diff", "-f", "-", "-o", "json", stdin=text, check=False)[1])
        self.assertEqual([o["outcome"] for o in shown], ["changed", "unchanged", "created"])
        self.assertEqual({f["path"]: (f.get("before"), f.get("after")) for f in shown[0]["fields"]},
                         {"spec.replicas": (1, 3), "annotations": (None, {"davit.dev/pause": "true"}),
                          "spec.image": ("registry.example/app:1", "registry.example/app:2")})
        self.assertEqual(self.world.davit("diff", "-f", "-", "-o", "name", stdin=text, check=False)[1],
                         "deployment/d_web\ndeployment/d_new\n")
        # Refusals are those of apply, and decide the code.
        wrong = json.dumps(deployment("web", namespace="mall"))
        diff = self.world.davit("diff", "-f", "-", stdin=wrong, check=False)
        self.assertEqual(diff[0], 4)
        self.assertEqual(diff, self.world.davit("apply", "-f", "-", stdin=wrong, check=False))

    def test_explain_knows_the_fields_of_the_servers_kinds(self):
        text = self.world.davit("explain", "deployment.autoscaling.max_replicas")[1]
        self.assertIn("FIELD: spec.autoscaling.max_replicas (number)", text)
        self.assertIn("at least min_replicas", text)
        fields = self.world.davit("explain", "deployment")[1]
        for field in json.loads(self.file.read_text(encoding="utf-8"))["spec"]:
            self.assertRegex(fields, rf"(?m)^  {field}  <")
        self.assertIn('did you mean "autoscaling"?',
                      self.world.davit("explain", "deployment.autoscalign", check=False)[2])
        self.assertIn("parked\n", self.world.davit("explain", "parked")[1])

    def test_a_guarded_document_is_refused_once_its_record_has_changed(self):
        self.world.apply([deployment("web")])
        mine = self.world.davit("get", "deployment/d_web", "-o", "yaml", "--with-version")[1]
        self.assertRegex(mine, r"(?m)^version: 1\nincarnation: \d+$")
        self.assertIn("unchanged", self.world.davit("apply", "-f", "-", stdin=mine)[1])
        self.world.apply([deployment("web", replicas=2)])
        edited = mine.replace("replicas: 1", "replicas: 5")
        for command in ("apply", "diff"):
            code, out, err = self.world.davit(command, "-f", "-", stdin=edited, check=False)
            self.assertEqual((code, out), (4, ""))
            self.assertRegex(err, r'^<stdin>:4: version: deployment "d_web" of region ".*" has version 2, expected was '
                                  r'version 1: ".*" changed it at \d{4}-.*--overwrite')
        self.assertEqual(self.world.davit("diff", "--overwrite", "-f", "-", stdin=edited, check=False)[0], 1)
        self.assertIn("changed", self.world.davit("apply", "--overwrite", "-f", "-", stdin=edited)[1])
        # It holds across a restart, after which the store is in another incarnation.
        server = self.world.parts[0]
        mine = self.world.davit("get", "deployment/d_web", "-o", "yaml", "--with-version")[1]
        self.check_clean_end(server)
        self.world.wait_ready(server.start())
        edited = mine.replace("replicas: 5", "replicas: 1")
        self.assertIn("changed", self.world.davit("apply", "-f", "-", stdin=edited)[1])
        edited = mine.replace("replicas: 5", "replicas: 6")
        self.assertEqual(self.world.davit("apply", "-f", "-", stdin=edited, check=False)[0], 4)
        # A file without versions is a backup: it is applied whatever is there.
        saved = self.world.davit("get", "-o", "yaml")[1]
        self.world.delete("deployment", "d_web")
        self.assertEqual(self.world.davit("apply", "-f", "-", stdin=mine, check=False)[0], 4)
        self.assertIn("created", self.world.davit("apply", "-f", "-", stdin=saved)[1])

    def test_of_many_guarded_writers_exactly_one_wins(self):
        self.world.apply([deployment("web")])
        mine = self.world.davit("get", "deployment/d_web", "-o", "yaml", "--with-version")[1]
        codes = []

        def write(replicas):
            edited = mine.replace("replicas: 1", f"replicas: {replicas}")
            codes.append(self.world.davit("apply", "-f", "-", stdin=edited, check=False)[0])

        for round_ in range(3):
            codes.clear()
            writers = [threading.Thread(target=write, args=(10 * round_ + n + 2,)) for n in range(6)]
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
            self.assertEqual(sorted(codes), [0, 4, 4, 4, 4, 4])
            mine = re.sub(r"replicas: \d+", "replicas: 1", self.world.davit(
                "get", "deployment/d_web", "-o", "yaml", "--with-version")[1])


class Agents(Case):
    """What needs an agent: wait, describe, and status that goes on."""

    def test_wait_describe_and_a_status_that_goes_on(self):
        self.world.wait_ready(self.world.server().start())
        agent = self.world.agent(extra=AT_ONCE)
        watch = self.world.part(Process("watch", [DAVIT, "status", "--watch", "-o", "json"], self.world.folder,
                                        {"DAVIT_SERVER": f"unix:{self.world.socket}"})).start()
        self.world.apply([deployment("web"), deployment("shop", namespace="mall")])

        def seen():
            return [json.loads(line) for line in watch.lines() if line.startswith("{")]
        wait_until(watch.tail, lambda: any(o["id"] == "d_shop" for o in seen()))
        agent.start()
        out = self.world.davit("wait", "deployment/d_web", "deployment/d_shop", "-r", REGION, "--for=healthy")[1]
        self.assertEqual(len(re.findall(r"running at version \d, 1 of 1 ready", out)), 2, out)
        self.assertIn("observed version is 1", self.world.davit("wait", "deployment/d_web", "--for=version=1")[1])
        self.assertIn("running", self.world.davit("wait", "deployment", "d_web", "--for=condition=Healthy")[1])
        self.assertEqual(self.world.davit("get", "-n", "mall", "-o", "name")[1], "deployment/d_shop\n")
        self.assertEqual(self.world.davit("status", "-n", "mall", "-o", "jsonpath={.objects[*].id}")[1], "d_shop")

        text = self.world.davit("describe", "deployment/d_web")[1]
        for line in (r"Id: +d_web", r"Region: +" + REGION, r"Version: +1", r"By: +\S+",
                     r"  image: registry.example/app:1", r"  Health: +healthy", r"  Ready: +1 of 1", r"  healthy: +-",
                     r"    What to do: Nothing",
                     r"  agent +" + REGION):
            self.assertRegex(text, "(?m)^" + line)

        self.world.davit("delete", "deployment/d_web", "-r", REGION)
        out = self.world.davit("wait", "deployment/d_web", "-r", REGION, "--for=deleted")[1]
        self.assertRegex(out, r"deployment/d_web \(.*\): gone\n$")
        wait_until(watch.tail, lambda: any(o["id"] == "d_web" and o.get("observed", {}).get("gone") for o in seen()))
        of_shop = [o for o in seen() if o["id"] == "d_shop"]
        self.assertFalse(is_running(of_shop[0]))
        self.assertTrue(is_running(of_shop[-1]))
        self.check_clean_end(agent)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    unittest.main()
