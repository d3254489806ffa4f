#!/usr/bin/env bash
# `make packages`: build/packages/*.deb and *.rpm, from the commit that is checked out.
#
#   packaging/build.sh [deb] [rpm]     one kind, or both
#
# DAVIT_PACKAGES_DIR is another folder for the result. What the tree has changed beside the commit is not in the packages.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${DAVIT_PACKAGES_DIR:-build/packages}")
kinds=("$@")
[ $# -gt 0 ] || kinds=(deb rpm)
version=$(sed -n 's/^project(davit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# As dpkg and rpm do with every date in a package, and as the compiler does with __DATE__.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# What `davit --version` says, which has no work tree here to ask.
DAVIT_COMMIT=$(git describe --always --abbrev=12 --exclude='*')
export SOURCE_DATE_EPOCH DAVIT_COMMIT

# The compile cache knows a unit again whatever folder it is built in; debhelper gives a build another home.
if command -v ccache >/dev/null && [ -z "${CCACHE_DISABLE:-}" ]; then
  CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config cache_dir)}
  export CCACHE_DIR CCACHE_NOHASHDIR=1
fi

# source_tree FOLDER: what the commit has, and debian/ where dpkg-buildpackage looks for it
source_tree() {
  rm -rf "$1"
  mkdir -p "$1"
  git archive HEAD | tar -x --no-same-permissions -C "$1"
  cp -r "$1/packaging/debian" "$1/debian"
  chmod -R u=rwX,go=rX "$1"
}

build_deb() {
  local tree=$out/source/deb/davit-$version log=$out/deb.log
  source_tree "$tree"
  rm -f "$out"/*.deb
  (
    cd "$tree"
    CCACHE_BASEDIR=$tree LC_ALL=C.UTF-8 dpkg-buildpackage -b -us -uc
  ) >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "packaging/build.sh: no deb was made; $log says why" >&2; exit 1; }
  mv "$out"/source/deb/*.deb "$out"/source/deb/*.changes "$out"/source/deb/*.buildinfo "$out"
}

# rpm_flags BUILD SOURCE: Debian's hardening flags for rpm, too, where they are known; else its distribution's.
rpm_flags() {
  command -v dpkg-buildflags >/dev/null || return 0
  export DEB_BUILD_MAINT_OPTIONS=hardening=+all DEB_CPPFLAGS_MAINT_APPEND=-DNDEBUG DEB_CXXFLAGS_MAINT_APPEND=-g1
  local get="dpkg-buildflags --get"
  optflags=$(cd "$1" && echo "$($get CXXFLAGS) $($get CPPFLAGS)")
  flags=(--define "optflags $optflags" --define "davit_ldflags $($get LDFLAGS)"
    --define "__os_install_post $2/packaging/rpm/finish %{buildroot}")
}

build_rpm() {
  local top=$out/source/rpm log=$out/rpm.log flags=()
  local tree=$top/BUILD/davit-$version
  rm -rf "$top"
  mkdir -p "$tree"
  source_tree "$top/davit"
  rpm_flags "$tree" "$top/davit"
  local cache=-DCCACHE=OFF
  [ -z "${CCACHE_DIR:-}" ] || cache=
  flags+=(--define "davit_cmake -DDAVIT_COMMIT=$DAVIT_COMMIT $cache")
  rm -f "$out"/*.rpm
  mkdir "$top/generators"
  ln -s "$(rpm --eval '%_fileattrsdir')"/*.attr "$top/generators"
  ln -sf "$top/davit/packaging/abi/davit.attr" "$top/generators"
  CCACHE_BASEDIR=$tree LC_ALL=C.UTF-8 rpmbuild -bb --define "_topdir $top" --define "_sourcedir $top/davit" \
    --define "_fileattrsdir $top/generators" --define "davit_version $version" \
    --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
    --define "_buildhost localhost" "${flags[@]}" "$top/davit/packaging/rpm/davit.spec" >"$log" 2>&1 ||
    { tail -n 40 "$log" >&2; echo "packaging/build.sh: no rpm was made; $log says why" >&2; exit 1; }
  mv "$top"/RPMS/*/*.rpm "$out"
}

mkdir -p "$out"
for kind in "${kinds[@]}"; do
  "build_$kind"
done
(cd "$out" && ls -- *.deb *.rpm 2>/dev/null | sed "s|^|${out#"$PWD/"}/|")
