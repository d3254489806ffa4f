#!/usr/bin/env python3
"""Plants bugs, one after the other, and sees that the simulation finds each: `bugs.py --build DIR [NAME...]`.

A bug is a plugin's source with one line changed, compiled and linked as the build does it, beside the build. A line that
is no longer there is a fault of this list.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SEEDS = 60  # of which one has to find it

# Name, plugin, source, the line, what it becomes, and the rule that it breaks.
BUGS = (
    ("cursor_passes_what_is_under_way", "watcher", "cursor.cpp",
     "if (!outstanding_.empty()) version", "if (false) version",
     "a cursor is the highest version such that it and all before it are applied, held or parked"),
    ("failure_passes_for_success", "applier", "verdict.cpp",
     "  return Meaning::retry;\n}\n\nbool overloaded", "  return Meaning::fine;\n}\n\nbool overloaded",
     "a transient failure is retried and holds the cursor"),
    ("throttled_is_refused", "applier", "verdict.cpp",
     "    case 429:\n      return Meaning::retry;", "    case 429:\n      return Meaning::refused;",
     "only what can never succeed is parked"),
    ("ring_forgets", "streamer", "ring.cpp",
     "  bytes_ += change.bytes();\n  order_", "  if (change.version % 16 == 0) return;\n  bytes_ += change.bytes();\n  order_",
     "every change reaches the agent"),
    ("failed_read_moves_the_tailer", "streamer", "feed.cpp",
     "  if (!page.ok()) return page.error();\n  batch.page",
     "  if (!page.ok()) { auto h = storage_.head(); if (!h.ok()) return h.error();"
     " batch.page = {false, h->head.version, *h}; return batch; }\n  batch.page",
     "a cursor never passes what was not read"),
    ("old_pages_are_kept", "streamer", "page_cache.cpp",
     "  changed_[topic] = version;\n", "  if (version > 0) return;\n",
     "an agent that comes back is never shown an old picture"),
    ("prune_takes_what_was_named", "applier", "hub_observe.cpp",
     "if (kind.desired.named_now(slot)) return;", "",
     "only what a snapshot did not name is pruned"),
)


def compile_command(build, source):
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"] == str(source):
            return entry["command"], entry["directory"]
    raise SystemExit(f"{source}: not in compile_commands.json")


def link_command(build, library):
    lines = subprocess.run(["ninja", "-C", str(build), "-t", "commands", library], text=True, capture_output=True,
                           check=True).stdout.splitlines()
    return next(line for line in reversed(lines) if f" -o {library} " in line)


def plant(build, bug):
    """Builds the plugin with the bug in it; returns its path."""
    name, plugin, source, old, new, _ = bug
    source = REPOSITORY / "plugins" / plugin / source
    text = source.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{name}: {source} has {text.count(old)} times: {old!r}")
    folder = build / "bugs" / name
    folder.mkdir(parents=True, exist_ok=True)
    planted, made = folder / source.name, folder / (source.name + ".o")
    planted.write_text(text.replace(old, new), encoding="utf-8")
    command, directory = compile_command(build, source)
    compiled = re.sub(r"-o \S+", f"-o {made}", command.replace(f"-c {source}", f"-c {planted}"))
    compiled = re.sub(r"-M[FT] \S+|-MD", "", compiled) + f" -I{source.parent} -Wno-error"
    subprocess.run(compiled, shell=True, cwd=directory, check=True)
    library = f"stage/lib/davit/plugins/{plugin}.so"
    out = folder / f"{plugin}.so"
    # Ours stands first: of a library the linker then has no use for the member that it replaces.
    linked = [word for word in shlex.split(link_command(build, library)) if not word.endswith(f"/{source.name}.o")]
    at = linked.index("-o")
    linked[at + 1] = str(out)
    linked.insert(at, str(made))
    end = linked.index("&&", at) if "&&" in linked[at:] else len(linked)
    begin = next(i for i, word in enumerate(linked) if word.endswith(("c++", "g++", "clang++")))
    subprocess.run(linked[begin:end], cwd=build, check=True)
    return out


def find(build, bug):
    out = plant(build, bug)
    done = subprocess.run([str(build / "tests/simulation/simulation"), "--seeds", "1", str(SEEDS), "--plugin",
                           f"{bug[1]}={out}"], text=True, capture_output=True, check=False)
    lines = done.stdout.splitlines()
    verdict = next((line for line in lines if line.startswith("seed") and ": held," not in line), None)
    return bug, done.returncode == 1 and verdict is not None, verdict or "\n".join(lines[-3:]) + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=str(REPOSITORY / "build/release"))
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    build = Path(arguments.build).resolve()
    chosen = [bug for bug in BUGS if not arguments.names or bug[0] in arguments.names]
    missed = 0
    with ThreadPoolExecutor(2) as pool:
        for bug, found, verdict in pool.map(lambda bug: find(build, bug), chosen):
            print(f"{'found ' if found else 'MISSED'}  {bug[0]}: {verdict}", flush=True)
            missed += 0 if found else 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
