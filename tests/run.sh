#!/usr/bin/env bash
# `make test`: builds and tests everything. Three builds take part: asan (ASan+UBSan) runs all tests, the real
# Kubernetes included; tsan runs all but those and other forms of the same requests; release runs the quick ones, so
# that what ships is tested, too, and the short bench. What was skipped, and why, stands in the last lines. With
# DAVIT_NO_SKIPS=1 a skip is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
results=build/test-results
rm -rf "$results"
mkdir -p "$results"
failed=0
skips=()

step() { printf '\n=== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

# run_tests NAME BUILD ctest-arguments...
run_tests() {
  local name=$1 build=$2
  shift 2
  step "tests: $name"
  ctest --test-dir "build/$build" --output-on-failure --no-tests=error --timeout 1500 \
    --output-junit "$PWD/$results/$name.xml" "$@" || failed=1
}

build() {
  step "build: $1"
  make "$2" || { echo "the build $1 failed"; exit 1; }
}

kubernetes_programs() {
  step "the Kubernetes of the tests"
  if ! tests/kubernetes/build.sh >"$results/kubernetes-build.log" 2>&1; then
    tail -n 20 "$results/kubernetes-build.log"
    skips+=("tests on a real Kubernetes: its programs could not be built ($results/kubernetes-build.log)")
    return 1
  fi
}

kubernetes_programs
kubernetes=$?

build release build
build asan build-asan
build tsan build-tsan
build fuzz build-fuzz

# The last option: LeakSanitizer guesses where glibc puts the thread-local storage of a library that is loaded later, and
# can guess wrong and end. What lies there it finds all the same, through glibc's own tables.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:intercept_tls_get_addr=0 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/lsan.supp:print_suppressions=0
# Without the last option every suppressed access is kept in a list that is searched for each: minutes of it.
export TSAN_OPTIONS=suppressions=$PWD/tests/sanitizers/tsan.supp:history_size=7:suppress_equal_addresses=0

run_tests release release -j"$jobs" -LE 'kubernetes|bench'
run_tests tsan tsan -j"$jobs" -LE 'kubernetes|bench|^form$'
run_tests asan asan -j"$jobs" -LE 'kubernetes|bench'
if [ "$kubernetes" = 0 ]; then
  run_tests kubernetes asan -j"$jobs" -L kubernetes
fi

step "fuzzing"
tests/fuzz/run.sh build/fuzz 30 >"$results/fuzz.log" 2>&1 || { failed=1; cat "$results/fuzz.log"; }
grep '^fuzz ' "$results/fuzz.log"

step "short bench"
tests/e2e/python.sh tests/bench/run.py --build build/release --short || echo "bench: some lines missed their target (a finding, not a failure)"

step "result"
python3 tests/summary.py "$results" "${skips[@]}"
summary=$?
[ "$failed" = 0 ] && [ "$summary" = 0 ]
