#!/usr/bin/env bash
# Builds the mirror of the measurements of federation once; tests/go/once.sh says how it is used. The
# folder has the program `federation-mirror`.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../../go/once.sh

name=bench/federation_mirror
what="the mirror of cr-syncer"

holds_all() { [[ -x $1/federation-mirror ]]; }

sources() {
  cat go.mod go.sum ./*.go
  uname -sm
}

build_into() { run_go build -ldflags '-s -w' -o "$1/federation-mirror" .; }

build_once "$@"
