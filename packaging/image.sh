#!/usr/bin/env bash
# `make image`: build/image/davit-VERSION.oci.tar, an OCI image, from the packages of the commit.
#
# The image has davit, its plugins, the libraries that they need, and the certificate authorities that Debian ships: no
# shell and no package manager. Its user is 65532, and its root file system may be read-only. No container runtime and no
# root is needed. DAVIT_PACKAGES names packages that are there already, which
# were built on the release of Debian DAVIT_DEBIAN (bookworm).
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${DAVIT_DEBIAN:-bookworm}
packages=davit,davit-plugins-core,davit-plugin-kubernetes,davit-plugin-postgres,davit-plugin-federation,davit-plugin-clusters
out=$PWD/build/image
version=$(sed -n 's/^project(davit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)

if [ -z "${DAVIT_PACKAGES:-}" ]; then
  packaging/build.sh deb >/dev/null
  DAVIT_PACKAGES=build/packages
fi
debs=$(realpath "$DAVIT_PACKAGES")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# Extracted and not configured: nothing of a package runs, and what it needs while it is configured stays out.
extract() {
  mkdir "$work/repository"
  cp "$debs"/*.deb "$work/repository"
  rm -f "$work/repository"/*-dbgsym_*.deb
  (cd "$work/repository" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
  chmod -R go+rX "$work"
  local mode=unshare
  [ "$(id -u)" != 0 ] || mode=root
  # shellcheck disable=SC2016,SC2046
  mmdebstrap --quiet --variant=extract --mode=$mode --include="$packages,ca-certificates" \
    --extract-hook='for deb in "$1"/var/cache/apt/archives/*.deb; do
      mkdir -p "$1/var/lib/dpkg/status.d"
      dpkg-deb -f "$deb" >"$1/var/lib/dpkg/status.d/$(dpkg-deb -f "$deb" Package)"; done' \
    "$suite" "$work/root.tar" $(packaging/apt-sources.sh "$suite") "deb [trusted=yes] copy:$work/repository ./"
  mkdir "$root"
  tar -xf "$work/root.tar" --exclude='./dev/*' -C "$root"
}

# The programs and libraries of Davit, what they load, and /etc: all else is for configuring packages.
reduce() {
  # Links that a package makes while it is configured.
  local folder
  for folder in bin lib lib64 sbin; do
    [ -e "$root/$folder" ] || [ ! -d "$root/usr/$folder" ] || ln -s "usr/$folder" "$root/$folder"
  done
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$work/authorities"
  find "$root/usr/bin" "$root/usr/sbin" "$root/bin" "$root/sbin" ! -type d ! -name 'davit*' -delete 2>/dev/null || true
  rm -rf "$root"/usr/share/{doc,man,locale,info,lintian,bash-completion,zsh,fish,perl*,ca-certificates,debconf,pixmaps,bug} \
    "$root"/usr/lib/{systemd,sysusers.d,tmpfiles.d} "$root/lib/systemd" "$root/usr/lib/"*/perl* \
    "$root"/var/lib/dpkg/{alternatives,arch,info,status,triggers,updates} "$root"/var/{cache,lib/apt,log}
  find "$root/etc" -mindepth 1 -maxdepth 1 ! -name davit ! -name ssl ! -name protocols -exec rm -rf {} +
  mkdir -p "$root"/{etc/ssl/certs,tmp,run,var/lib/davit}
  mv "$work/authorities" "$root/etc/ssl/certs/ca-certificates.crt"
  printf '%s\n' 'root:x:0:0:root:/:/none' 'davit:x:65532:65532:Davit:/var/lib/davit:/none' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'davit:x:65532:' >"$root/etc/group"
  chmod 644 "$root/etc/passwd" "$root/etc/group" "$root/etc/ssl/certs/ca-certificates.crt"
  chmod 1777 "$root/tmp"
  find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

pack() {
  local layout=$work/layout image=$work/layout:$version rootless=()
  [ "$(id -u)" = 0 ] || rootless=(--rootless)
  umoci init --layout "$layout"
  umoci new --image "$image"
  umoci insert --image "$image" "${rootless[@]}" --history.created "$created" --history.created_by packaging/image.sh \
    "$root" /
  # LD_BIND_NOW as davit would set it by starting itself once more.
  umoci config --image "$image" --created "$created" --history.created "$created" --config.user 65532:65532 \
    --config.entrypoint /usr/bin/davit --config.cmd help --config.env LD_BIND_NOW=1 --config.workingdir / \
    --config.label org.opencontainers.image.title=davit --config.label "org.opencontainers.image.version=$version" \
    --config.label "org.opencontainers.image.revision=$(git rev-parse HEAD)" \
    --config.label org.opencontainers.image.licenses=Apache-2.0
  umoci gc --layout "$layout"
  mkdir -p "$out"
  rm -f "$out"/*.oci.tar
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$layout" \
    -cf "$out/davit-$version.oci.tar" .
}

extract
reduce
pack
echo "build/image/davit-$version.oci.tar"
