#!/usr/bin/env python3
"""Stands for kubectl: writes down what it is asked, and answers what the test wants.

All is in the folder of the program, where the test puts it:
  calls        one line of JSON for each call: its words, its input, and the kubeconfig that it can read
  pods         what `get pods` lists, made by `apply`
  failures     JSON: by the words that a call begins with, what it writes to stderr before it ends with 1
  kill_at      the number of the call that kills its caller instead
  reports_to   a server's address (transport connect): `apply` reports there as the agent that it installs
"""

import base64
import json
import os
import re
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(sys.argv[0]).parent


def report(url, manifests):
    """What an agent says first. The server learns of a new token within a second."""
    token = base64.b64decode(re.search(r"^  token: (.*)$", manifests, re.M).group(1)).decode()
    region = re.findall(r'^    region = "(.*)"$', manifests, re.M)[-1]
    body = json.dumps({"agent": "installed", "software": "scripted", "epoch": "1"}).encode()
    for _ in range(40):
        request = urllib.request.Request(f"{url}/davit.v1.AgentService/Progress", body, {
            "content-type": "application/json", "authorization": f"Bearer {token}", "x-krane-region": region})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.read()
        except urllib.error.URLError as error:
            sys.stderr.write(f"{error}\n")
            time.sleep(0.1)
    return None


def main():
    words = sys.argv[1:]
    kubeconfig = words[words.index("--kubeconfig") + 1]
    words = [w for w in words if w not in ("--kubeconfig", kubeconfig) and not w.startswith(("--request-", "--cache-"))]
    call = {"words": words, "input": sys.stdin.read(), "kubeconfig": Path(kubeconfig).read_text(encoding="utf-8")}
    with open(HERE / "calls", "a", encoding="utf-8") as calls:
        calls.write(json.dumps(call) + "\n")
    made = len((HERE / "calls").read_text(encoding="utf-8").splitlines())
    kill_at = HERE / "kill_at"
    if kill_at.exists() and int(kill_at.read_text(encoding="utf-8")) == made:
        os.kill(os.getppid(), signal.SIGKILL)
        return 1
    failures = HERE / "failures"
    for beginning, why in json.loads(failures.read_text(encoding="utf-8") if failures.exists() else "{}").items():
        if " ".join(words).startswith(beginning):
            sys.stderr.write(why + "\n")
            return 1
    pods = HERE / "pods"
    if words[0] == "apply":
        if (HERE / "reports_to").exists():  # one of many, which end at once
            report((HERE / "reports_to").read_text(encoding="utf-8"), call["input"])
        else:
            pods.write_text("pod/davit-agent-1\n", encoding="utf-8")
    elif words[:2] == ["get", "pods"] and pods.exists():
        reason = HERE / "reason"
        if words[-1].startswith("--output=jsonpath"):
            sys.stdout.write(reason.read_text(encoding="utf-8") if reason.exists() else "")
        else:
            sys.stdout.write(pods.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
