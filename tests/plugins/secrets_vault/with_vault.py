#!/usr/bin/env python3
"""Runs a command with a Vault beside it (tests/node/vault.mjs): `with_vault.py COMMAND... --config FILE ...`.

The command gets a copy of FILE in which $VAULT is the Vault's URL and $TOKEN_FILE a file with its token. 77: Node's
packages are not installed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NODE = Path(__file__).resolve().parents[2] / "node"
NOT_INSTALLED, SKIPPED = 127, 77
TOKEN = "the-token-of-the-suite"


def with_config(command, folder, url):
    """The command with the copy of its configuration, beside which stand the files that it names."""
    place = command.index("--config") + 1
    original = Path(command[place])
    for file in original.parent.glob("*.json"):
        shutil.copy(file, folder)
    token_file = folder / "token"
    token_file.write_text(TOKEN, encoding="utf-8")
    text = original.read_text(encoding="utf-8").replace("$VAULT", url).replace("$TOKEN_FILE", str(token_file))
    copy = folder / original.name
    copy.write_text(text, encoding="utf-8")
    return [*command[:place], str(copy), *command[place + 1:]]


def main(command):
    vault = subprocess.Popen([NODE / "node.sh", NODE / "vault.mjs", json.dumps({"token": TOKEN})], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, encoding="utf-8")
    folder = Path(tempfile.mkdtemp(prefix="davit-vault-"))
    try:
        line = vault.stdout.readline()
        if not line:
            code = vault.wait()
            if code == NOT_INSTALLED:
                print("skipped: packaging/install-dependencies.sh installs the Connect libraries for Node")
                return SKIPPED
            sys.exit(f"vault.mjs ended with {code}")
        url = f"http://127.0.0.1:{json.loads(line)['port']}"
        return subprocess.run(with_config(command, folder, url), env=os.environ, check=False).returncode
    finally:
        if vault.poll() is None:
            vault.stdin.close()
            vault.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
