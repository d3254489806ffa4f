#!/usr/bin/env python3
"""Writes davit/files/rules.yaml: the rights that each shipped kind needs of an agent's account, as `davit check
--rights` prints them with the settings of etc/agent.toml. The chart makes its ClusterRole or Roles of them.

    rules.py STAGE            writes it; STAGE is a folder with bin/davit and its plugins
    rules.py STAGE --check    says whether it is what davit prints, and ends with 1 if not
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "packaging/helm/davit/files/rules.yaml"
KINDS = re.findall(r'^#?module = "kind_(\w+)"', (ROOT / "etc/agent.toml").read_text(encoding="utf-8"), re.M)
RULE = re.compile(r"- apiGroups: (\[.*\])\n  resources: (\[.*\])\n(?:  resourceNames: (\[.*\])\n)?  verbs: (\[.*\])\n")
NAMESPACE = "shop"
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: none
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {token: none}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
"""
AGENT = """[host]
state_dir = "."
[rpc.client.control]
url = "http://127.0.0.1:1"
token_file = "token"
region = "region"
[plugin.cluster]
module = "cluster_kubernetes"
kubeconfig = "kubeconfig"
namespaces = [%s]
[plugin.kind]
module = "kind_%s"
[plugin.reporter]
module = "reporter"
server = "control"
[plugin.applier]
module = "applier"
cluster = "cluster"
status = "reporter"
[plugin.watcher]
module = "watcher"
server = "control"
sink = "applier"
status = "reporter"
"""
LEADER = """[plugin.leader]
module = "leader"
cluster = "cluster"
server = "control"
namespace = "davit-leader"
"""


def documents(stage, kind, namespaces="", more=""):
    """{(kind of role, its namespace): [(groups, resources, names, verbs)]}"""
    with tempfile.TemporaryDirectory() as folder:
        agent = AGENT % (namespaces, kind) + more
        for name, text in (("kubeconfig", KUBECONFIG), ("token", "none\n"), ("agent.toml", agent)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        done = subprocess.run([Path(stage) / "bin/davit", "check", "--rights", f"{folder}/agent.toml"], text=True,
                              capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"rules.py: davit check --rights of {kind}: {done.stderr}")
    out = {}
    for text in done.stdout.split("---\n"):
        role = re.search(r"^kind: (\w+)$", text, re.M)[1]
        namespace = re.search(r"^  namespace: (\S+)$", text, re.M)
        rules = RULE.findall(text)
        if len(rules) != text.count("- apiGroups:"):
            raise SystemExit(f"rules.py: a rule has another form than is known here:\n{text}")
        out[role, namespace[1] if namespace else ""] = rules
    return out


def lines(rules, indent):
    for groups, resources, names, verbs in rules:
        yield f"{indent}- apiGroups: {groups}\n{indent}  resources: {resources}\n"
        if names:
            yield f"{indent}  resourceNames: {names}\n"
        yield f"{indent}  verbs: {verbs}\n"


def rules_text(stage):
    out = ["# Written by packaging/helm/rules.py, as `davit check --rights` prints them. `everywhere` is for a "
           "ClusterRole,\n"
           "# `inNamespaces` for a Role in each namespace that the agent keeps to.\nkinds:\n"]
    for kind in KINDS:
        everywhere, each = documents(stage, kind), documents(stage, kind, f'"{NAMESPACE}"')
        if set(everywhere) != {("ClusterRole", "")} or set(each) != {("Role", NAMESPACE)}:
            raise SystemExit(f"rules.py: {kind}: other roles than the chart knows: {list(everywhere)}, {list(each)}")
        out += [f"  {kind}:\n", "    everywhere:\n", *lines(everywhere["ClusterRole", ""], "      "),
                "    inNamespaces:\n", *lines(each["Role", NAMESPACE], "      ")]
    leader = documents(stage, KINDS[0], more=LEADER)["Role", "davit-leader"]
    return "".join(out + ["# Of several agents, in the namespace of their Lease.\nleader:\n", *lines(leader, "  ")])


def main(stage, *options):
    text = rules_text(stage)
    if options != ("--check",):
        FILE.write_text(text, encoding="utf-8")
    elif text != FILE.read_text(encoding="utf-8"):
        raise SystemExit(f"{FILE.relative_to(ROOT)} is not what davit prints: run packaging/helm/rules.py STAGE")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
