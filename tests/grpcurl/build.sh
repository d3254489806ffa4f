#!/usr/bin/env bash
# Builds grpcurl, as go.mod pins it, once; tests/go/once.sh says how it is used.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../go/once.sh

name=grpcurl
what=grpcurl
package=github.com/fullstorydev/grpcurl/cmd/grpcurl

holds_all() { [[ -x $1/grpcurl ]]; }

sources() {
  cat go.mod go.sum
  echo "$package $(uname -sm)"
}

build_into() { run_go build -ldflags '-s -w' -o "$1/" "$package"; }

build_once "$@"
