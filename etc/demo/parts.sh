# What the demos share: a folder of their own, processes that end with the script, words for what does not start.
# Sourced with the stage's folder as $1.
# shellcheck shell=bash
stage=$(realpath "$1")
etc=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
davit=$stage/bin/davit
port=${DAVIT_DEMO_PORT:-7070}

# demo_folder NAME: makes and locks the folder $dir, which only this user can read.
demo_folder() {
  dir=${DAVIT_DEMO_DIR:-$(dirname "$stage")/$1}
  umask 077
  mkdir -p "$dir"
  dir=$(realpath "$dir")
  socket=$dir/operator.sock
  exec 9>"$dir/lock"
  if ! flock -n 9; then
    echo "a demo runs in $dir already: end it, or give this one DAVIT_DEMO_DIR and DAVIT_DEMO_PORT of its own" >&2
    exit 1
  fi
}

# new_token FILE: unless it is there.
new_token() {
  [ -s "$1" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$1"
}

declare -A process=()
started=()

# start NAME COMMAND...: in a session of its own, because the terminal's Ctrl-C is for this script, which ends all in
# order. Its output is in $dir/NAME.log.
start() {
  local name=$1
  shift
  setsid "$@" >"$dir/$name.log" 2>&1 9>&- &
  process[$name]=$!
  started=("$name" "${started[@]}")
}

# ended NAME: says why and ends, when that process has gone.
ended() {
  kill -0 "${process[$1]}" 2>/dev/null && return
  echo "the $1 did not start; $dir/$1.log ends with:" >&2
  tail -n 5 "$dir/$1.log" >&2
  exit 1
}

# wait_for NAME COMMAND...: until the command succeeds, which asks the process NAME. At most half a minute.
wait_for() {
  local name=$1
  shift
  for _ in $(seq 300); do
    ended "$name"
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "the $name does not answer; $dir/$name.log says more" >&2
  exit 1
}

# stop NAME: SIGTERM, and waits for its end.
stop() {
  kill "${process[$1]}" 2>/dev/null || true
  wait "${process[$1]}" 2>/dev/null || true
}

finish() {
  trap - EXIT INT TERM HUP
  if declare -F before_the_end >/dev/null; then before_the_end; fi
  for name in "${started[@]}"; do stop "$name"; done
}
trap finish EXIT
trap 'echo; echo "stopping"; exit 0' INT TERM HUP

