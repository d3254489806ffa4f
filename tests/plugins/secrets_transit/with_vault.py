#!/usr/bin/env python3
"""Runs a command with a real Vault beside it (tests/vault): `with_vault.py COMMAND... --config FILE ...`.

The command gets a copy of FILE in which $VAULT is the Vault's URL, $ROLE_ID the id of an AppRole and $SECRET_ID_FILE a
file with its secret id. In the copy of the list of items beside it, "encrypt" became a ciphertext of the keyring. 77: no
Vault is built; with DAVIT_NO_SKIPS that is a failure.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "vault"))
from vault import Vault, program  # noqa: E402  pylint: disable=import-error,wrong-import-position

SKIPPED = 77


def made_items(vault, items):
    """The items, and what they ask for is made in the Vault."""
    for keyring in {i.get("keyring") for i in items if "encrypt" in i}:
        vault.make_key(keyring)
    for item in items:
        if "encrypt" in item:
            item["ciphertext"] = vault.encrypt(item["keyring"], item.pop("encrypt"))
    for number in (1, 2):
        vault.put("apps/web", password=f"version {number}", user="web")
    vault.put("apps/one", only="the only one")
    vault.put("environments/env_1/web", password="of env_1")
    vault.put("environments/env_2/web", password="of env_2")
    return items


def with_config(command, folder, vault):
    place = command.index("--config") + 1
    original = Path(command[place])
    items = json.loads((original.parent / "secrets.json").read_text(encoding="utf-8"))
    (folder / "secrets.json").write_text(json.dumps(made_items(vault, items)), encoding="utf-8")
    vault.allow("davit", ("transit/decrypt/*", ["update"]), ("secret/data/*", ["read"]),
                ("transit/decrypt/forbidden", ["deny"]))
    role, secret = vault.approle("davit", "davit")
    secret_file = folder / "secret_id"
    secret_file.write_text(secret, encoding="utf-8")
    copy = folder / original.name
    text = original.read_text(encoding="utf-8").replace("$VAULT", vault.url).replace("$ROLE_ID", role)
    copy.write_text(text.replace("$SECRET_ID_FILE", str(secret_file)), encoding="utf-8")
    return [*command[:place], str(copy), *command[place + 1:]]


def main(command):
    if program() is None:
        print("skipped: packaging/install-dependencies.sh builds the Vault (tests/vault)")
        return 1 if os.environ.get("DAVIT_NO_SKIPS") else SKIPPED
    folder = Path(tempfile.mkdtemp(prefix="davit-vault-"))
    vault = Vault(folder / "vault.log")
    try:
        before = vault.tokens()
        code = subprocess.run(with_config(command, folder, vault), check=False).returncode
        left = vault.tokens() - before
        # One: the Vault took longer for a login than a stop waits for it.
        if code == 0 and len(left) > 1:
            print(f"{len(left)} tokens of logins were not revoked")
            return 1
        return code
    finally:
        vault.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
