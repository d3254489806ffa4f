#!/usr/bin/env bash
# run.sh BUILD_DIR SECONDS: runs every fuzz target for SECONDS, two at a time. Prints one line for each that begins with
# "fuzz "; keeps what crashed in BUILD_DIR/crashes with the command that shows it again, and then ends with 1. What was
# found worth keeping grows in BUILD_DIR/corpus/<target>.
set -uo pipefail
[ $# = 2 ] || { echo "usage: $0 BUILD_DIR SECONDS" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
seconds=$2
programs=$build/fuzz
[ -s "$programs/targets.txt" ] || { echo "no fuzz targets in $build: make build-asan" >&2; exit 2; }
mkdir -p "$build/corpus" "$build/crashes"
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1:handle_abort=1
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$here/../sanitizers/lsan.supp:print_suppressions=0

number() { sed -n "s/.*$1 *\([0-9][0-9]*\).*/\1/p" "$2" | tail -n 1; }
first() { sed -n "s/.*INITED.* $1: *\([0-9][0-9]*\).*/\1/p" "$2" | head -n 1; }
last() { sed -n "s/^#[0-9].* $1: *\([0-9][0-9]*\).*/\1/p" "$2" | tail -n 1; }

run_one() {
  local name=$1 folder=$2
  local log=$programs/$name.log seeds=$build/seeds/$name corpus=$build/corpus/$name crashes=$build/crashes/$name-
  local dictionary=$here/dictionaries/$folder.dict options=()
  rm -rf "$seeds"
  mkdir -p "$corpus"
  if ! python3 "$here/seeds.py" "$here/seeds/$folder" "$seeds" >"$log" 2>&1; then
    echo "fuzz $name: FAILED (its seeds cannot be made)"
    cat "$log"
    return 1
  fi
  [ -f "$dictionary" ] && options+=("-dict=$dictionary")
  # One input may take 5 s and 1 GiB, far above what an honest one needs; what is slower or larger is a finding.
  "$programs/$name" "$corpus" "$seeds" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=16384 \
    -print_final_stats=1 -artifact_prefix="$crashes" "${options[@]}" >>"$log" 2>&1
  local code=$? result=ok
  [ $code = 0 ] || result=FAILED
  printf 'fuzz %s: %s, %s runs, %s new inputs, coverage %s (%s from the seeds)\n' "$name" "$result" \
    "$(number 'number_of_executed_units:' "$log")" "$(number 'new_units_added:' "$log")" \
    "$(last cov "$log")" "$(first cov "$log")"
  [ $code = 0 ] && return 0
  local crasher
  crasher=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  grep -m 1 -E 'broken claim|^SUMMARY|ERROR: |runtime error' "$log"
  echo "  $programs/$name ${crasher:-$corpus}" | tee "${crasher:-$crashes$$}.command"
  echo "  the whole report: $log"
  return 1
}

rm -f "$programs/failed"
while read -r name folder; do
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  { run_one "$name" "$folder" || touch "$programs/failed"; } &
done <"$programs/targets.txt"
wait
[ ! -e "$programs/failed" ]
