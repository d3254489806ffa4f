#!/usr/bin/env bash
# Builds the runner of the Connect project's conformance suite once; tests/go/once.sh says how it is
# used. The folder has `connectconformance` and `descriptors.binpb`, the suite's messages.
cd "$(dirname "${BASH_SOURCE[0]}")/suite" || exit
. ../../go/once.sh

name=conformance
what="the conformance suite"
module=connectrpc.com/conformance

holds_all() { [[ -x $1/connectconformance && -s $1/descriptors.binpb ]]; }

sources() {
  cat go.mod go.sum authorization.go ../build.sh
  uname -sm
}

# The suite's clients can be given no header of ours, and a listener of Davit lets nobody in without
# a token. So one is added where the runner adds the name of the case to every request.
authorize() { # FOLDER-OF-THE-MODULE
  local package=$1/internal/app/connectconformance
  cp authorization.go "$package/"
  sed -i -E 's/append\((req\.[A-Za-z.]+), testCaseHeader\)/append(append(\1, testCaseHeader), authorization()...)/' \
    "$package/server_runner.go"
  [[ $(grep -c 'authorization()' "$package/server_runner.go") == 2 ]] ||
    die "the suite's server_runner.go is not what it was: see authorize in build.sh"
}

build_into() {
  command -v protoc >/dev/null || die "protoc is missing"
  run_go mod download "$module"
  cp -r "$(run_go list -m -f '{{.Dir}}' "$module")" "$1/module"
  chmod -R u+w "$1/module"
  authorize "$1/module"
  run_go build -C "$1/module" -ldflags '-s -w' -o "$1/" ./cmd/connectconformance
  protoc --proto_path="$1/module/proto" --include_imports \
    --descriptor_set_out="$1/descriptors.binpb" \
    connectrpc/conformance/v1/{service,server_compat,client_compat}.proto
  rm -rf "$1/module"
}

build_once "$@"
