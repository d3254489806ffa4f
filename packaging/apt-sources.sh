#!/bin/sh
# Prints the files with this machine's sources of Debian's release SUITE itself: `apt-sources.sh SUITE`. mmdebstrap takes
# them, so that a root is made from the mirror that this machine uses. For another release than this machine's they are
# written into the user's cache: the same sources, with that release's name.
set -eu

# files SUITE: those of apt's files that name it
files() {
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [ -e "$file" ] && grep -v '^#' "$file" | grep -q "$1" && grep -v '^#' "$file" | grep -q main; then
      echo "$file"
    fi
  done
}

found=$(files "$1")
if [ -z "$found" ]; then
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit/packages/$1
  own=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
  mkdir -p "$cache"
  for file in $(files "$own"); do
    sed "s/$own/$1/g" "$file" >"$cache/$(basename "$file")"
    found="$found $cache/$(basename "$file")"
  done
fi
[ -n "$found" ] || { echo "apt-sources.sh: apt has no sources of Debian on this machine" >&2; exit 1; }
printf '%s\n' $found
