#!/usr/bin/env python3
"""Makes the Debian roots of the tests once, as archives in the user's cache, and prints their folder:
`base_roots.py FOLDER-of-debs`. DAVIT_DEBIAN names a release of Debian ("trixie"); else it is bookworm.

run.tar is Debian's smallest root with what our packages depend on, so that installing them needs no network; build.tar has
what a third party needs besides, to build a plugin against davit-sdk-dev. In the long form projects.tar has what the
projects of `davit plugin new` need besides that. All come from the sources of this machine's apt. Other dependencies
make other archives; those of before are removed.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SUITE = os.environ.get("DAVIT_DEBIAN", "bookworm")
FOR_BUILDING = ["build-essential", "cmake", "debhelper", "ninja-build", "pkg-config"]
# What a machine has. dpkg and apt are there in any root.
ON_A_MACHINE = ["systemd", "systemd-sysv", "dbus", "bash-completion"]


def dependencies(debs):
    """The names of other packages that these need; of alternatives, the first."""
    found = set()
    for deb in debs:
        text = subprocess.run(["dpkg-deb", "-f", deb, "Depends"], check=True, text=True, capture_output=True).stdout
        for part in text.split(","):
            name = re.split(r"[ (:|]", part.strip())[0]
            if name and not name.startswith("davit"):
                found.add(name)
    return sorted(found)


def needs_of_projects():
    """What the templates' Build-Depends name; of alternatives the first is Debian 12's."""
    found = set()
    for template in (REPOSITORY / "sdk/templates").glob("*/*/template.conf"):
        needs = re.search(r"(?m)^debian_needs =(.*)$", template.read_text(encoding="utf-8"))[1]
        found |= {part.split("|")[0 if SUITE == "bookworm" else -1].strip() for part in needs.split(",")}
    return {name for name in found if name and not name.startswith("davit")}


def apt_sources():
    """The files with this machine's sources of Debian itself."""
    script = REPOSITORY / "packaging/apt-sources.sh"
    return subprocess.run([script, SUITE], check=True, text=True, capture_output=True).stdout.split()


def make(archive, packages):
    partial = archive.with_suffix(".partial.tar")
    mode = "root" if os.geteuid() == 0 else "unshare"
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--mode={mode}", f"--include={','.join(packages)}",
                    SUITE, partial, *apt_sources()], check=True, stdout=sys.stderr)
    partial.rename(archive)


def main(folder):
    debs = sorted(p for p in Path(folder).glob("*.deb") if "-dbgsym_" not in p.name)
    if not debs:
        sys.exit(f"base_roots.py: there are no packages in {folder}")
    run = dependencies([p for p in debs if not p.name.startswith("davit-sdk")]) + ON_A_MACHINE
    build = sorted({*run, *dependencies(debs), *FOR_BUILDING})
    projects = sorted({*build, *needs_of_projects()})
    key = hashlib.sha256(repr((SUITE, run, build, projects)).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "davit" / "packages" / SUITE
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for old in cache.iterdir():
            if old.is_dir() and old.name != key:
                shutil.rmtree(old)
        (cache / key).mkdir(exist_ok=True)
        archives = {"run.tar": run, "build.tar": build}
        if os.environ.get("DAVIT_LONG"):
            archives["projects.tar"] = projects
        for name, packages in archives.items():
            if not (cache / key / name).exists():
                print(f"making the root {name} ({len(packages)} packages, once)", file=sys.stderr, flush=True)
                make(cache / key / name, packages)
    print(cache / key)


if __name__ == "__main__":
    main(sys.argv[1])
