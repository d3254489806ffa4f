#!/usr/bin/env bash
# What bash makes of the script that `davit completion bash` prints. $1: davit
set -eu
PATH=$(dirname "$1"):$PATH
complete() { :; }
source <("$1" completion bash)
compopt() { files="$*"; }  # bash has it only while it completes

# completes EXPECTED WORD...: the words after davit, the last one half typed
completes() {
  local expected=$1
  shift
  COMP_WORDS=(davit "$@") COMP_CWORD=$# files=
  _davit
  local got="${COMPREPLY[*]}${files:+ $files}"
  [ "$got" = "$expected" ] || { echo "davit $*: \"$got\", not \"$expected\"" >&2; exit 1; }
}
completes "status storage" s
completes "--region" get --re
completes "table wide name json yaml jsonpath=" get -o ""
completes "backup restore verify maintain migrate copy" storage ""
completes " -o default" apply -f ./sh
completes "taken over" explain ta
completes "" nothing-like-this
