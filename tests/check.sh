#!/usr/bin/env bash
# check.sh [FOLDER]: the unit and conformance tests of one build, or those of one folder: the part of the product that it
# is named after, `applier` or `rpc` say.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tests/parts.sh

# Folders of the build tree that are called so: a plugin's own and that of its tests.
folders_of() {
  find tests plugins sdk host proto -type d -name "$1" -not -path '*/seeds/*' -not -path '*/dictionaries/*' | while read -r folder; do
    [ ! -e "$folder/CMakeLists.txt" ] || echo "$folder"
  done
}

check_folder() {
  local folders folder
  folders=$(folders_of "$1")
  [ -n "$folders" ] || give_up "ONLY=$1: no such folder; there are: $(find tests plugins -mindepth 2 -name CMakeLists.txt -printf '%h\n' |
    xargs -n 1 basename | sort -u | tr '\n' ' ')"
  make configure || exit 1
  # shellcheck disable=SC2086
  cmake --build build/release -j"$jobs" --target $(sed 's|$|/all|' <<<"$folders") || give_up "the build failed; its output is above"
  for folder in $folders; do
    run_tests "${folder//\//.}" "release/$folder" -LE 'kubernetes|bench|e2e|packages'
  done
}

begin_run build/check-results
if [ -n "${1:-}" ]; then
  check_folder "$1"
else
  begin "build release"
  build release build
  begin "tests check"
  run_tests check release -LE 'kubernetes|bench|e2e|packages'
fi
end_part
echo
echo "left out: sanitizers, end-to-end tests, the real Kubernetes, fuzzing, the short bench: make test"
end_run
