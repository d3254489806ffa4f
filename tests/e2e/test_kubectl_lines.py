"""Lines that operators have in their fingers, typed to davit and to the real kubectl: both end with the same code and say
the same word, or the table says that they differ. host/commands/README.md says why they do.
"""

import json
import re
import unittest
from typing import NamedTuple

from kubectl import ended, kubectl
from parts import Kubernetes, KubernetesCase, deployment


class Line(NamedTuple):
    words: str
    davit: int
    kubectl: int
    says: str = ""  # a pattern that both print
    on_kubectl: str = ""  # its words, where replace() does not make them


# One after the other, in one namespace, which begins without a Deployment.
LINES = [
    Line("get deployment", 0, 0),
    Line("diff -f web.yaml", 1, 1, r"\n\+[ -]*image: \S+/app:1"),
    Line("apply -f web.yaml --dry-run", 0, 0, r"created.*dry.run"),
    Line("apply -f web.yaml", 0, 0, r"deployment\S*/\S*web\S* .*created"),
    Line("apply -f web.yaml", 0, 0, r"deployment\S*/\S*web\S* .*unchanged"),
    Line("diff -f web.yaml", 0, 0),
    Line("diff -f changed.yaml", 1, 1, r"\n-( +)replicas: 1\n\+\1replicas: 3\n"),
    Line("apply -f changed.yaml --dry-run", 0, 0, r"dry.run"),
    Line("apply -f changed.yaml -f other.yaml", 0, 0, r"other\S* .*created"),
    Line("apply -f folder", 0, 0),
    Line("apply -R -f folder", 0, 0, "unchanged"),
    Line("delete deployment d_other -r eu-test-1", 0, 0, r"other"),
    Line("apply -f empty", 4, 1),
    Line("apply -f none.yaml", 4, 1, r"none\.yaml"),
    Line("apply -f broken.yaml", 4, 1, r"broken\.yaml.*line 2|broken\.yaml:2"),
    Line("apply", 2, 1),
    Line("diff -f none.yaml", 4, 2, r"none\.yaml"),
    Line("diff", 2, 2),
    Line("get deployment d_web", 0, 0, r"NAME.*\n(.* )?\S*web"),
    Line("get deployment/d_web", 0, 0),
    Line("get deployment d_web -oyaml", 0, 0, r"replicas: 1\n"),
    Line("get -o=json deployment", 0, 0, r'"replicas": ?1,'),
    Line("get deployment --output=name", 0, 0, r"^deployment\S*/\S*web\n$"),
    Line("get deployment -o wide", 0, 0, r"registry.example/app:1"),
    Line("get deployment -n shop", 0, 0, r"web"),
    Line("get deployment -n nowhere", 0, 0),
    Line("get deployment --namespace=shop d_web", 0, 0, r"web"),
    Line("get deployment d_web -n nowhere", 5, 1),
    Line("get deployment nope", 5, 1, r'"nope"'),
    Line("get deploymnet", 4, 1, r'"deploymnet"'),
    Line("get deployment -o nothing", 2, 1, r'"?nothing"?'),
    Line("get deployment -o jsonpath={.items[*].id}", 0, 0, r"^(d_)?web$",
         "get deployment -o jsonpath={.items[*].metadata.name}"),
    Line("get deployment -o jsonpath={.items[", 2, 1),
    Line("get deployment -l app=web", 2, 0),
    Line("describe deployment d_web", 0, 0, r"(?m)^Namespace: +shop$"),
    Line("describe deployment/nope", 5, 1, r'"nope"'),
    Line("explain deployment", 0, 0, r"KIND: +[Dd]eployment"),
    Line("explain deployment.spec.replicas", 0, 0, r"FIELD: (spec\.)?replicas"),
    Line("explain deployment.nope", 5, 1, r'"nope"'),
    Line("explain nope", 4, 1, r'"nope"'),
    Line("wait deployment/nope --for=delete", 0, 0),
    Line("wait deployment/nope --for=condition=Healthy", 5, 1, r'"nope"'),
    Line("wait deployment/d_web", 2, 1, r"condition|--for"),
    Line("wait deployment/d_web --for=delete --timeout=1s", 6, 1),
    Line("delete deployment d_web -r eu-test-1 --dry-run", 0, 0, r"deployment\S*[ /]\S*web\S* .*deleted"),
    Line("delete -f web.yaml --dry-run", 0, 0, r"deleted"),
    Line("get deployment d_web", 0, 0),
    Line("delete -f web.yaml", 0, 0, r"deployment\S*[ /]\S*web\S* .*deleted"),
    Line("delete -f web.yaml", 0, 1),
    Line("delete deployment", 2, 1),
    Line("version", 0, 0, r"[Vv]ersion|davit \d"),
    Line("--help", 0, 0, r"(?s)apply.*delete|delete.*apply"),
    Line("nope", 2, 1, r'"nope"'),
    Line("get deployment --nope", 2, 1, r"--nope"),
]
REPLACED = (("d_web", "web"), ("d_other", "other"), (" -r eu-test-1", ""), ("--dry-run", "--dry-run=server"), ("condition=Healthy", "condition=Available"))


def on_kubernetes(name, replicas):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": {
                         "containers": [{"name": name, "image": "registry.example/app:1"}]}}}}


class OnKubernetes(KubernetesCase):
    @classmethod
    def setUpClass(cls):
        cls.kubernetes = Kubernetes()

    def write_files(self, folder, make):
        (folder / "folder").mkdir(parents=True)
        (folder / "empty").mkdir()
        for file, name, replicas in (("web", "web", 1), ("folder/web", "web", 1), ("changed", "web", 3),
                                     ("other", "other", 1)):
            (folder / f"{file}.yaml").write_text(json.dumps(make(name, replicas)), encoding="utf-8")
        (folder / "broken.yaml").write_text("kind: deployment\n  id: [", encoding="utf-8")

    def test_the_same_lines_do_the_same(self):
        self.world.wait_ready(self.world.server().start())
        ours, theirs = self.world.folder / "ours", self.world.folder / "theirs"
        self.write_files(ours, lambda name, replicas: deployment(name, replicas=replicas))
        self.write_files(theirs, on_kubernetes)
        kubectl(self.kubernetes, "create", "namespace", "shop")
        for line in LINES:
            with self.subTest(line.words):
                files = ("yaml", "folder", "empty")
                words = [str(ours / w) if w.endswith(files) and "-" not in w else w for w in line.words.split()]
                code, out, err = self.world.davit(*words, stdin="", check=False)
                self.assertEqual(code, line.davit, f"davit {line.words}: {out}{err}")
                same = line.on_kubectl or line.words
                for mine, its in REPLACED:
                    same = same.replace(mine, its)
                named = [] if re.search(r"^(version|--help|nope)| (-n|--namespace)\b", same) else ["--namespace=shop"]
                done = ended(self.kubernetes, *same.split(), *named, folder=theirs)
                said = done.stdout + done.stderr
                self.assertEqual(done.returncode, line.kubectl, f"kubectl {same}: {said}")
                if line.says:
                    self.assertRegex(out + err, line.says, "davit")
                    self.assertRegex(said, line.says, "kubectl")


if __name__ == "__main__":
    unittest.main(verbosity=2)
