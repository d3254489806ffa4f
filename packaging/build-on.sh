#!/usr/bin/env bash
# `make packages DEBIAN=trixie`: build/packages-SUITE/*.deb, built from the commit that is checked out in a fresh root of
# another release of Debian, with its compiler and its libraries: `build-on.sh SUITE`. There is no compile cache in it.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=$1
out=$PWD/build/packages-$suite
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/davit"
git archive HEAD | tar -x --no-same-permissions -C "$tree/davit"
cp -r "$tree/davit/packaging/debian" "$tree/davit/debian"
chmod -R u=rwX,go=rX "$tree"
rm -rf "$out"
mkdir -p "$out"
mode=unshare
[ "$(id -u)" != 0 ] || mode=root
build="cd /build/davit && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) LC_ALL=C.UTF-8 \
  DAVIT_COMMIT=$(git describe --always --abbrev=12 --exclude='*') dpkg-buildpackage -b -us -uc"
# shellcheck disable=SC2016,SC2046
mmdebstrap --quiet --variant=buildd --mode=$mode --format=null \
  --customize-hook='mkdir "$1/build" "$1/debs"' \
  --customize-hook="sync-in $tree /build" \
  --customize-hook='chroot "$1" apt-get build-dep --yes --no-install-recommends /build/davit' \
  --customize-hook="chroot \"\$1\" sh -c '$build && mv ../*.deb /debs'" \
  --customize-hook="sync-out /debs $out" \
  "$suite" /dev/null $(packaging/apt-sources.sh "$suite") >"$out/build.log" 2>&1 || {
  tail -n 40 "$out/build.log" >&2
  echo "packaging/build-on.sh: no package was made; $out/build.log says why" >&2
  exit 1
}
ls "$out"/*.deb
