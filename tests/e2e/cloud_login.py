#!/usr/bin/env python3
"""An exec plugin (client.authentication.k8s.io) under any of the names that managed clouds give theirs.

Its folder has `mode.json`: what it is to do, and the token. Each run appends a line to `runs.jsonl`."""

import datetime
import json
import os
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MODE = json.loads((FOLDER / "mode.json").read_text(encoding="utf-8"))
INFO = json.loads(os.environ["KUBERNETES_EXEC_INFO"])


def main():
    run = {"argv": [Path(sys.argv[0]).name, *sys.argv[1:]], "info": INFO, "profile": os.environ.get("AWS_PROFILE", "")}
    with open(FOLDER / "runs.jsonl", "a", encoding="utf-8") as out:
        out.write(json.dumps(run) + "\n")
    time.sleep(MODE.get("slow_s", 0))
    does = MODE.get("does", "token")
    if does == "fail":
        sys.exit("Unable to locate credentials.\nYou can configure credentials by running \"aws configure\".")
    if does == "rubbish":
        print("Logged in as somebody@example.com")
        return
    if does == "terminal":
        with open("/dev/tty", "r+", encoding="utf-8") as terminal:
            terminal.write("Password: ")
            terminal.readline()
    status = {"token": MODE["token"]}
    if "lives_s" in MODE:
        expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=MODE["lives_s"])
        status["expirationTimestamp"] = expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    print(json.dumps({"kind": "ExecCredential", "apiVersion": INFO["apiVersion"], "spec": {}, "status": status}))


main()
