#!/bin/sh
# Installs what building, running and testing Davit needs, from Debian's packages; a gRPC client for the tests comes
# from PyPI (tests/e2e/requirements.txt), the Connect libraries for Node from npm (tests/node). Idempotent: asks nobody for anything when everything is there. `--run-only`
# leaves out what only the tests need; `--clusters` adds to that what the demo with clusters needs, a Kubernetes.
set -eu

build="g++ cmake ninja-build make pkg-config ccache mold
  libboost1.81-dev libboost-json1.81-dev libboost-filesystem1.81-dev
  protobuf-compiler libprotobuf-dev libgrpc++-dev libtomlplusplus-dev libyaml-cpp-dev libcli11-dev
  libnghttp2-dev libsqlite3-dev libpqxx-dev libcurl4-openssl-dev libsodium-dev libssl-dev zlib1g-dev openssl"
test="clang libclang-rt-14-dev llvm clang-format clang-tidy libgtest-dev libgmock-dev rapidjson-dev
  postgresql prometheus procps git
  blhc debhelper dpkg-dev fakeroot lintian mmdebstrap python3-seccomp rpm rpmlint systemd systemd-container uidmap
  umoci runc man-db python3-jsonschema fish zsh
  libjansson-dev cargo"
clusters="python3 python3-venv ca-certificates bubblewrap"

case ${1:-} in
  --run-only) wanted=$build ;;
  --clusters) wanted="$build $clusters" ;;
  *) wanted="$build $clusters $test" ;;
esac

missing=
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [ "$state" = "ii " ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  if ! command -v apt-get >/dev/null; then
    echo "packaging/install-dependencies.sh: this is not Debian or a relative of it; install:$missing" >&2
    exit 1
  fi
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  echo "installing:$missing"
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -q
  # shellcheck disable=SC2086
  $sudo apt-get install -q -y --no-install-recommends $missing
fi

tests=$(dirname "$0")/../tests
case ${1:-} in
  --run-only) exit 0 ;;
  --clusters) exec "$tests/kubernetes/build.sh" >/dev/null ;;
esac
# What cannot be had costs the tests that need it, no others.
for step in "e2e/python.sh --install" "node/node.sh --install" bench/federation_mirror/build.sh cluster_api/build.sh conformance/build.sh grpcurl/build.sh "helm/python.sh --install" intents/build.sh kubernetes/build.sh vault/build.sh; do
  # shellcheck disable=SC2086
  "$tests"/$step >/dev/null || echo "packaging/install-dependencies.sh: tests/$step failed: the tests that need it are skipped" >&2
done
