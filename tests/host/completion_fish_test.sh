#!/bin/sh
# What fish makes of the script that `davit completion fish` prints. $1: davit
set -eu
command -v fish >/dev/null || exit 77
PATH=$(dirname "$1"):$PATH
export PATH
HOME=$(mktemp -d)
export HOME
trap 'rm -rf "$HOME"' EXIT

# completes EXPECTED LINE: the words that fish offers, which it sorts, each with what it is for cut off
completes() {
  got=$(fish --no-config -c 'davit completion fish | source; complete -C $argv[1]' "$2" | cut -f1 | tr '\n' ' ')
  [ "$got" = "$1" ] || { echo "$2: \"$got\", not \"$1\"" >&2; exit 1; }
}
completes "status storage " "davit s"
completes "--region " "davit get --re"
completes "backup copy maintain migrate restore verify " "davit storage "
completes "json jsonpath= name table wide yaml " "davit get -o "
touch "$HOME/shop.yaml"
cd "$HOME"
completes "shop.yaml " "davit apply -f sh"
