#!/bin/sh
# Python with what requirements.txt names, in a virtual environment in the user's cache.
#
#   python.sh --install    makes the environment if it is not there; two runs at once are safe
#   python.sh ARGUMENT...  runs it; where it was not made, the machine's own: tests then say what is missing
#
# $DAVIT_REQUIREMENTS names another list.
set -eu
here=$(dirname "$0")
list=${DAVIT_REQUIREMENTS:-$here/requirements.txt}
wanted=$(grep -v '^#' "$list" | tr '\n' ' ')
key=$({ echo "$wanted"; python3 --version; uname -sm; } | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit/python
python=$cache/$key/bin/python

if [ "${1:-}" != --install ]; then
  [ -x "$python" ] || python=python3
  exec "$python" "$@"
fi

[ ! -x "$python" ] || exit 0
mkdir -p "$cache"
partial=$(mktemp -d "$cache/partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT
echo "installing into $cache: $wanted"
python3 -m venv "$partial"
"$partial/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: \
  -r "$list"
# Whoever was faster has made the same.
mv -T "$partial" "$cache/$key" || [ -x "$python" ]
