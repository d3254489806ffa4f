#!/usr/bin/env python3
"""Lays out the seeds of one target: seeds.py TARGET-FOLDER OUT-FOLDER.

A file of the folder is an input as it stands, but: NAME.txtpb is a message in protobuf's text form, whose first line
says which ("# proto-message: davit.v1.WatchRequest"), and becomes its bytes; and where the target has a choices.txt,
the file's name begins with one of its lines, and the input with the byte that chooses it (choice.hpp).
"""
import pathlib
import subprocess
import sys

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"


def encoded(text):
    message = text.split(b"\n", 1)[0].removeprefix(b"# proto-message:").strip().decode()
    protos = sorted(str(p.relative_to(PROTO)) for p in PROTO.rglob("*.proto"))
    return subprocess.run(["protoc", f"--proto_path={PROTO}", f"--encode={message}", *protos],
                          input=text, stdout=subprocess.PIPE, check=True).stdout


def choice(name, choices):
    fitting = [c for c in choices if name == c or name.startswith(c + ".")]
    if not fitting:
        sys.exit(f"seed {name}: begins with none of {', '.join(choices)}")
    return bytes([choices.index(max(fitting, key=len))])


def main(source, out):
    listed = source / "choices.txt"
    choices = listed.read_text().split() if listed.exists() else []
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(source.iterdir()) if source.exists() else []:
        if file == listed:
            continue
        content = file.read_bytes()
        if file.suffix == ".txtpb":
            content = encoded(content)
        prefix = choice(file.name, choices) if choices else b""
        (out / file.name).write_bytes(prefix + content)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
