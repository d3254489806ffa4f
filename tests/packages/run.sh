#!/usr/bin/env bash
# Tests the packages in fresh Debian roots: `run.sh [--long] [test_module[.Class[.test]]...]`. README.md says what is tested.
#
# It builds the packages of the commit that is checked out, and the roots once, into the user's cache. The tests run in
# namespaces of their own (mounts, processes, network): the shipped ports and paths are free there, and nothing of it
# outlives the run. DAVIT_PACKAGES names packages that are there already; DAVIT_DEBIAN, another release of Debian
# than bookworm: its packages are built in a root of it.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(realpath ../..)
export DAVIT_LONG=${DAVIT_LONG:-}
if [ "${1:-}" = --long ]; then
  DAVIT_LONG=1
  shift
fi
[ $# -gt 0 ] || set -- test_*.py

export DAVIT_DEBIAN=${DAVIT_DEBIAN:-bookworm}
if [ -z "${DAVIT_PACKAGES:-}" ]; then
  if [ "$DAVIT_DEBIAN" = bookworm ]; then
    "$repository/packaging/build.sh" >/dev/null
    DAVIT_PACKAGES=$repository/build/packages
  else
    "$repository/packaging/build-on.sh" "$DAVIT_DEBIAN" >/dev/null
    DAVIT_PACKAGES=$repository/build/packages-$DAVIT_DEBIAN
  fi
fi
DAVIT_PACKAGES=$(realpath "$DAVIT_PACKAGES")
DAVIT_ROOTS=$(./base_roots.py "$DAVIT_PACKAGES")
export DAVIT_PACKAGES
DAVIT_IMAGE=$repository/$("$repository/packaging/image.sh")
export DAVIT_IMAGE DAVIT_ROOTS PYTHONDONTWRITEBYTECODE=1

map=()
[ "$(id -u)" = 0 ] || map=(--map-root-user --map-auto)
exec unshare "${map[@]}" --mount --propagation private --pid --fork --kill-child --mount-proc --net --ipc \
  python3 -W ignore -m unittest -v "$@"
