#!/usr/bin/env python3
"""A program for actuator_exec that does what a test has written into a folder ($SCRIPT).

`calls` gets a line for each call: "reconcile NAME UID MARK". `NAME.OPERATION.request` is the last document that came.
`NAME.OPERATION` is a JSON list of what the next calls for this Cluster do, the first one first; the last one stays.
Without it a call succeeds. One entry has "answer" (the document, which is printed), "exit" (a status), "text" (printed
as it is), "sleep" (seconds before the answer), "hangs", and "mark", a word for `calls`.
"""

import fcntl
import json
import os
import sys
import time
from pathlib import Path


def next_entry(path):
    try:
        with open(path, "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            entries = json.load(file)
            if len(entries) > 1:
                file.seek(0)
                file.truncate()
                json.dump(entries[1:], file)
            return entries[0]
    except FileNotFoundError:
        return {}


def main():
    script = Path(os.environ["SCRIPT"])
    request = json.load(sys.stdin)
    operation, name = request["operation"], request["name"]
    whole = script / f".{name}.{operation}.{os.getpid()}"
    whole.write_text(json.dumps(request), encoding="utf-8")
    whole.rename(script / f"{name}.{operation}.request")
    entry = next_entry(script / f"{name}.{operation}")
    with open(script / "calls", "a", encoding="utf-8") as calls:
        calls.write(f"{operation} {name} {request['uid']} {entry.get('mark', '-')}\n")
    if "hangs" in entry:
        time.sleep(3600)
    time.sleep(entry.get("sleep", 0))
    print(entry.get("text", json.dumps(entry.get("answer", {}))), flush=True)
    raise SystemExit(entry.get("exit", 0))


if __name__ == "__main__":
    main()
