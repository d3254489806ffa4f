#!/usr/bin/env bash
# Builds the programs of the rig once; tests/go/once.sh says how it is used. KUBEBUILDER_ASSETS is
# taken instead when it holds every program.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ../go/once.sh

kubernetes=1.35.4 # as in go.mod
name=kubernetes
what="Kubernetes $kubernetes, etcd and KWOK"
kwok=sigs.k8s.io/kwok/cmd/kwok@v0.8.0
ours=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)

# Without these the API server calls itself v0.0.0-master, which kubectl cannot parse.
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=35"

holds_all() {
  local program
  for program in "${ours[@]}" kwok; do
    [[ -x $1/$program ]] || return 1
  done
}

sources() {
  cat go.mod go.sum cmd/*/main.go
  echo "$kwok $ldflags $(uname -sm)"
}

build_into() {
  run_go build -ldflags "$ldflags" -o "$1/" "${ours[@]/#/./cmd/}"
  GOBIN=$1 run_go install -ldflags "-s -w" "$kwok"
}

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  if holds_all "$KUBEBUILDER_ASSETS"; then
    echo "$KUBEBUILDER_ASSETS"
    exit
  fi
  say "KUBEBUILDER_ASSETS does not hold all of: ${ours[*]} kwok; looking at our own build"
fi
build_once "$@"
