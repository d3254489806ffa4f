"""The real kubectl, on a test's Kubernetes."""

import json
import os
import subprocess

from parts import PATIENCE


def ended(kubernetes, *words, given=None, folder=None, seconds=120, environment=()):
    """What it ended with. `given` is its standard input: a text, an object, or a list of objects."""
    if isinstance(given, list):
        given = {"apiVersion": "v1", "kind": "List", "items": given}
    text = given if isinstance(given, str) else json.dumps(given) if given else ""
    return subprocess.run([f"{kubernetes.state['assets']}/kubectl", *map(str, words)], input=text, text=True, cwd=folder,
                          env={**os.environ, "KUBECONFIG": str(kubernetes.kubeconfig),
                               "KUBECACHEDIR": str(kubernetes.folder / "kubectl-cache"), **dict(environment)},
                          capture_output=True, timeout=seconds * PATIENCE, check=False)


def kubectl(kubernetes, *words, **more):
    """Its output. It must end with 0."""
    done = ended(kubernetes, *words, **more)
    assert done.returncode == 0, f"kubectl {words}: {done.stdout}{done.stderr}"
    return done.stdout
