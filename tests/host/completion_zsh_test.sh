#!/bin/sh
# What zsh makes of the script that `davit completion zsh` prints. $1: davit
command -v zsh >/dev/null || exit 77
PATH=$(dirname "$1"):$PATH exec zsh -f -c '
compdef() { : }  # zsh has these while it completes
_files() { got+=" files" }
_describe() {
  local -a offered=("${(@P)2}")
  offered=("${(@)offered%%:*}")
  got="${(j: :)offered}"
}
source <(davit completion zsh)

# completes EXPECTED WORD...: the words after davit, the last one half typed
completes() {
  local expected=$1 got=
  shift
  local -a words=(davit "$@")
  local CURRENT=$#words
  _davit
  [[ $got == $expected ]] || { print -u2 "davit $*: \"$got\", not \"$expected\""; exit 1 }
}
completes "status storage" s
completes "--region" get --re
completes "backup restore verify maintain migrate copy" storage ""
completes " files" apply -f ./sh
completes "" nothing-like-this
'
