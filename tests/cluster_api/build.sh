#!/usr/bin/env bash
# Builds the cluster controller of Cluster API v0.1.10 once; tests/go/once.sh says how it is used. The
# folder has the program `cluster-api-controller`.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../go/once.sh

name=cluster_api
what="the controller of Cluster API v0.1.10"

holds_all() { [[ -x $1/cluster-api-controller ]]; }

sources() {
  cat go.mod go.sum ./*.go
  uname -sm
}

build_into() { run_go build -ldflags '-s -w' -o "$1/cluster-api-controller" .; }

build_once "$@"
