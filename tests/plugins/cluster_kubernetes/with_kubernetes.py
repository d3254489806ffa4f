#!/usr/bin/env python3
"""Runs a command with a real API server beside it: `with_kubernetes.py COMMAND...`.

It finds KUBECONFIG in its environment, and DAVIT_TEST_KUBERNETES, the rig's folder, when the rig of
tests/kubernetes serves. 77: there is no such server, and why.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RIG = Path(__file__).resolve().parents[2] / "kubernetes"
UP_SECONDS = 180
SKIPPED = 77


def run(command, kubeconfig, folder=None):
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    if folder:
        environment["DAVIT_TEST_KUBERNETES"] = str(folder)
    return subprocess.run(command, env=environment, check=False).returncode


def wait_until_ready(rig, folder):
    end = time.monotonic() + UP_SECONDS
    while time.monotonic() < end:
        try:
            if json.loads((folder / "rig.json").read_text(encoding="utf-8"))["ready"]:
                return
        except (FileNotFoundError, ValueError):
            pass
        if rig.poll() is not None:
            sys.exit("the rig did not come up; its last words are above")
        time.sleep(0.1)
    sys.exit(f"the rig was not ready within {UP_SECONDS} s")


def with_own_rig(command):
    if subprocess.run([RIG / "build.sh", "--find"], stdout=subprocess.DEVNULL, check=False).returncode:
        print("skipped: the programs of tests/kubernetes are not built (tests/kubernetes/build.sh)")
        return SKIPPED
    folder = Path(tempfile.mkdtemp(prefix="davit-kubernetes-"))
    up = [RIG / "rig.py", "up", "--dir", folder, "--foreground"]
    rig = subprocess.Popen(up, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        wait_until_ready(rig, folder)
        return run(command, folder / "kubeconfig", folder)
    finally:
        rig.stdin.close()
        rig.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main(command):
    if os.environ.get("DAVIT_TEST_KUBERNETES"):
        folder = Path(os.environ["DAVIT_TEST_KUBERNETES"])
        return run(command, folder / "kubeconfig", folder)
    if os.environ.get("DAVIT_TEST_KUBECONFIG"):
        return run(command, os.environ["DAVIT_TEST_KUBECONFIG"])
    return with_own_rig(command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
