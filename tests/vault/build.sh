#!/usr/bin/env bash
# Builds the Vault of the tests, as go.mod pins it, once; tests/go/once.sh says how it is used. The
# license of later releases of Vault is another one: see README.md before go.mod is changed.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../go/once.sh

name=vault
what="HashiCorp Vault"

holds_all() { [[ -x $1/vault-server ]]; }

sources() {
  cat go.mod go.sum main.go build.sh
  uname -sm
}

# The release is made with the SDK of its own folder, which no module has. The nearest module, 0.9.2, ends a Vault whose
# paths of managed keys have no "existence check": a check for authors of plugins, which is left out here.
build_into() {
  local sdk
  # A machine that has never built it has no copy of the module, and list would name no folder.
  run_go mod download github.com/hashicorp/vault/sdk || return
  sdk=$(run_go list -m -f '{{.Dir}}' github.com/hashicorp/vault/sdk) || return
  cp -r "$sdk" "$1/sdk" && chmod -R u+w "$1/sdk" && cp go.mod go.sum "$1" || return
  sed -i 's/panic(fmt.Sprintf("Pattern %v defines a CreateOperation but no ExistenceCheck".*/_ = p/' \
    "$1/sdk/framework/backend.go" || return
  run_go mod edit -replace "github.com/hashicorp/vault/sdk=$1/sdk" "$1/go.mod" || return
  run_go build -modfile "$1/go.mod" -ldflags '-s -w' -o "$1/vault-server" . || return
  rm -r "$1/sdk" "$1/go.mod" "$1/go.sum"
}

build_once "$@"
