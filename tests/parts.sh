# Sourced by run.sh and check.sh: a run of tests in parts that are timed, each with its log, and of which nothing is left
# running, however it ends.
# shellcheck shell=bash

export jobs
jobs=$(nproc)
failed=0
skips=()
part=
# Every process of this run carries the mark in its environment, those that have left its session, too.
export DAVIT_TEST_RUN=$$.$RANDOM$RANDOM

# begin_run FOLDER: for the results
begin_run() {
  mkdir -p build
  exec 7>build/.run
  flock -n 7 || give_up "another run of tests is under way in this folder"
  results=$PWD/$1
  rm -rf "$results"
  mkdir -p "$results/failed"
  # Where the end-to-end tests keep the logs of what failed.
  export DAVIT_TEST_LOGS=$results/failed
  # ... and how long each of their test cases took.
  export DAVIT_TEST_TIMES=$results/e2e-cases.tsv
  export CCACHE_STATSLOG=$results/ccache.log
  # What has a session of its own (PostgreSQL, the API server) is a group of its own for the scheduler (sched(7), autogroup).
  # If ours was given a higher priority, it would starve them.
  if grep -qs 'nice -' /proc/self/autogroup; then echo 0 >/proc/self/autogroup || true; fi
  trap finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# left_running [--end]: what this run has started and still runs
left_running() {
  env -u DAVIT_TEST_RUN python3 tests/left_running.py "$DAVIT_TEST_RUN" "$@"
}

finish() {
  local code=$?
  trap '' INT TERM HUP
  left_running --end >/dev/null
  exit "$code"
}

give_up() {
  echo "tests: $*" >&2
  exit 1
}

# Sanitizers: LeakSanitizer guesses where glibc puts the thread-local storage of a library that is loaded later, and can
# guess wrong and end; what lies there it finds all the same, through glibc's own tables (intercept_tls_get_addr). With
# equal addresses suppressed, ThreadSanitizer searches a list of all suppressed accesses for each: minutes of it. By default
# each process sleeps a second before it ends.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:intercept_tls_get_addr=0 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/tsan.supp:history_size=7:suppress_equal_addresses=0:atexit_sleep_ms=100

# begin PART: ends the one before; its time goes to parts.tsv
begin() {
  end_part
  part=$1
  part_began=$EPOCHREALTIME
  printf '\n=== %s (%s)\n' "$part" "$(date +%H:%M:%S)"
}

end_part() {
  [ -n "$part" ] || return 0
  awk -v name="$part" -v from="$part_began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%s\t%.1f\n", name, to - from }' \
    >>"$results/parts.tsv"
  part=
}

# need_space FOLDER GIB: of the file system that FOLDER is, or will be, on
need_space() {
  local folder=$1 free
  while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
  free=$(df --output=avail -B 1M "$folder" | tail -n 1)
  [ "$free" -ge $(($2 * 1024)) ] || give_up "$1: $((free / 1024)) GiB are free there, $2 are needed"
}

# have PROGRAM: whether what tests/PROGRAM/build.sh builds from Go modules is there
have() { tests/"$1"/build.sh --find >/dev/null 2>&1; }

# What took part: a failure that only one machine shows often lies there.
print_versions() {
  local program
  {
    for program in g++ clang++ cmake ninja ld.mold ccache protoc python3 node; do
      command -v $program >/dev/null && echo "$program: $($program --version 2>&1 | head -n 1)"
    done
    command -v go >/dev/null && go version
    dpkg-query -W -f '${Package} ${Version}\n' 'libboost1.*-dev' libprotobuf-dev 'libgrpc++-dev' libtomlplusplus-dev \
      libyaml-cpp-dev libcli11-dev libnghttp2-dev libsqlite3-dev libpqxx-dev 'libcurl4-*-dev' libsodium-dev libssl-dev libgtest-dev postgresql 2>/dev/null
    echo "$(uname -sr), $(nproc) cores, $(awk '/MemTotal/ { printf "%.1f", $2 / 1048576 }' /proc/meminfo) GiB"
  } | tee "$results/versions.txt"
}

# build NAME TARGET-of-make
build() {
  make "$2" || give_up "the build $1 failed; its output is above"
}

# run_tests NAME BUILD[/FOLDER] ctest-arguments...
# Half of a test's time is waiting, so there are twice as many as cores; `parallel` says another number.
run_tests() {
  local name=$1 build=$2 made=build/${2%%/*}/gtest
  shift 2
  rm -rf "$made"
  ctest --test-dir "build/$build" -j"${parallel:-$((jobs * 2))}" --output-on-failure --no-tests=error --timeout 1500 \
    --output-junit "$results/$name.xml" "$@" || failed=1
  [ ! -d "$made" ] || mv "$made" "$results/$name"
}

end_run() {
  end_part
  local left
  left=$(left_running)
  if [ -n "$left" ]; then
    echo "a test has left something running, which ends now:"
    sed 's/^/  /' <<<"$left"
    failed=1
  fi
  python3 tests/summary.py "$results" "${skips[@]}" || failed=1
  exit "$failed"
}
