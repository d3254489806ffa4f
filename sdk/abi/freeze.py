#!/usr/bin/env python3
"""Copies the headers of the ABI into the release candidate, with what a plugin is built from beside them.

    freeze.py

While there is a folder NAME-rc, a change of the ABI that is wanted is made by this, in the same commit. It prints what
breaks for plugins that were built from the copy as it was. A folder without "-rc" never changes.
"""

import shutil
import sys
from pathlib import Path

import compare

SDK = compare.HERE.parent
# note.c.in is a template of CMake. The copy is a C file, so that a compiler is enough.
NOTE = (
    ("/* Made by davit_add_plugin(): the ELF note that the host reads before it loads @name@.so. */\n", """\
/* The ELF note that the host reads before it loads a plugin. The definitions are strings:
 *
 *   cc ... -D 'DAVIT_PLUGIN_NAME="my_sink"' -D 'DAVIT_PLUGIN_VERSION="1.2.3"' \\
 *     -D 'DAVIT_PLUGIN_ROLES="status_sink/1"' -D 'DAVIT_PLUGIN_NEEDS=""' plugin.c note.c
 *
 * abi/core.h says what they are. */
"""),
    ("static const struct", """\
#define NOTE_TEXT \\
  "abi=@abi_major@.@abi_minor@\\nname=" DAVIT_PLUGIN_NAME \\
  "\\nversion=" DAVIT_PLUGIN_VERSION "\\nroles=" DAVIT_PLUGIN_ROLES \\
  "\\nneeds=" DAVIT_PLUGIN_NEEDS "\\n"
static const struct"""),
    ('"@note_text@"', "NOTE_TEXT"),
    ("@note_size@", "sizeof NOTE_TEXT"),
    ("@at@", "@"),
)


def note(abi):
    text = (SDK / "cmake/note.c.in").read_text()
    major, minor = abi.split(".")
    for old, new in (*NOTE, ("@abi_major@", major), ("@abi_minor@", minor)):
        if old not in text:
            sys.exit(f"sdk/cmake/note.c.in no longer has this, which freeze.py replaces: {old}")
        text = text.replace(old, new)
    return text


def freeze(folder):
    include = folder / "include"
    shutil.rmtree(include, ignore_errors=True)
    (include / "davit/abi").mkdir(parents=True)
    for header in [SDK / "include/davit/abi.h", *sorted((SDK / "include/davit/abi").glob("*.h"))]:
        shutil.copy(header, include / header.relative_to(SDK / "include"))
    shutil.copy(SDK / "cmake/plugin.map", folder)
    (folder / "note.c").write_text(note(folder.name.removesuffix("-rc")))


def refreeze(parent):
    """Makes the copy in the one candidate below `parent`. Returns what went wrong, or nothing."""
    candidates = sorted(parent.glob("*-rc"))
    if len(candidates) != 1:
        return (f"{parent} has no release candidate, and what is final never changes: append to the headers, and "
                f"make a folder such as 1.1-rc for what is new")
    folder = candidates[0]
    include = folder / "include"
    broken = compare.found_in(include, compare.INCLUDE) if include.exists() else []
    freeze(folder)
    print(f"{folder.relative_to(compare.ROOT)} has the headers of this tree.")
    if broken:
        print("What was built from it before breaks. The commit says why:", *broken, sep="\n")
    return ""


if __name__ == "__main__":
    sys.exit(refreeze(compare.HERE) or 0)
