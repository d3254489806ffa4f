#!/usr/bin/env python3
"""Writes the plain manifests beside it: what the chart in ../helm/davit makes of each file in values/. It runs in
tests/helm/python.sh, which has Helm.

    tests/helm/python.sh packaging/kubernetes/render.py            writes them
    tests/helm/python.sh packaging/kubernetes/render.py --check    says which differ, and ends with 1
"""

import sys
from pathlib import Path

import helm_python
import yaml

HERE = Path(__file__).resolve().parent
CHART = HERE.parent / "helm/davit"
HEAD = """# Written by packaging/kubernetes/render.py from the chart, with values/{0}.yaml. Edit a copy:
# `kubectl apply -n davit-system -f {0}.yaml`. The Secrets that it names are yours to make.
"""


def rendered(values, name="davit", namespace="davit-system"):
    """The documents of a release, in the order of the chart's files."""
    with helm_python.Chart.load(str(CHART)) as chart:
        files = chart.render(values, name=name, namespace=namespace)
    out = []
    for file in sorted(files):
        if file.endswith(".yaml"):
            out += [document for document in yaml.safe_load_all(files[file]) if document]
    return out


def plain(document):
    """Without what only Helm needs."""
    labels = [document["metadata"].get("labels", {})]
    template = document.get("spec", {}).get("template", {})
    labels.append(template.get("metadata", {}).get("labels", {}))
    for one in labels:
        one.pop("helm.sh/chart", None)
        if "app.kubernetes.io/managed-by" in one:
            one["app.kubernetes.io/managed-by"] = "davit"
    return document


class Blocks(yaml.SafeDumper):
    """Texts of several lines stay readable."""


def block(dumper, text):
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return dumper.represent_scalar("tag:yaml.org,2002:str", lines, style="|" if "\n" in text else None)


Blocks.add_representer(str, block)


def manifests(values_file):
    documents = rendered(yaml.safe_load(values_file.read_text(encoding="utf-8")))
    text = yaml.dump_all([plain(d) for d in documents], Dumper=Blocks, sort_keys=False, width=110)
    return HEAD.format(values_file.stem) + text


def main(check):
    different = []
    for values_file in sorted((HERE / "values").glob("*.yaml")):
        path, text = HERE / f"{values_file.stem}.yaml", manifests(values_file)
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            different.append(path.name)
    if different:
        raise SystemExit(f"not what the chart makes: {', '.join(different)}: run {' '.join(sys.argv[:1])}")


if __name__ == "__main__":
    main(sys.argv[1:] == ["--check"])
