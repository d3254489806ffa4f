#!/usr/bin/env bash
# Builds the Vault of the tests, as go.mod pins it, once; tests/go/once.sh says how it is used. The
# license of later releases of Vault is another one: see README.md before go.mod is changed.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../go/once.sh

name=vault
what="HashiCorp Vault"

holds_all() { [[ -x $1/vault-server ]]; }

sources() {
  cat go.mod go.sum main.go
  uname -sm
}

build_into() { run_go build -ldflags '-s -w' -o "$1/vault-server" .; }

build_once "$@"
