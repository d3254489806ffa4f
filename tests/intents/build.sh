#!/usr/bin/env bash
# Builds the Go example of plugins/intents/README.md once; tests/go/once.sh says how it is used. The
# folder has the program `intents`.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../go/once.sh

name=intents
what="the example of plugins/intents/README.md"

holds_all() { [[ -x $1/intents ]]; }

example() {
  printf 'package main\n\nimport (\n\t"context"\n\t"database/sql"\n\t"encoding/json"\n)\n\n'
  sed -n '/^```go$/,/^```$/{/^```/d;p}' ../../plugins/intents/README.md
}

sources() {
  cat go.mod go.sum main.go
  example
  uname -sm
}

build_into() {
  local at
  at=$(mktemp -d)
  cp go.mod go.sum main.go "$at"
  example >"$at/example.go"
  (cd "$at" && run_go build -ldflags '-s -w' -o "$1/" .)
  rm -rf "$at"
}

build_once "$@"
