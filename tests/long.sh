#!/usr/bin/env bash
# `make test-long`: what `make test` leaves out, as README.md beside this says.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tests/parts.sh

begin_run build/long-results
begin install
packaging/install-dependencies.sh || give_up "what is needed could not be installed: the lines above say what is missing"
print_versions
begin "build release"
build release build
begin "build asan"
build asan build-asan
begin "build tsan"
build tsan build-tsan
for name in release tsan asan; do
  begin "tests $name"
  run_tests $name $name -L long
done
begin "tests mutants"
DAVIT_LONG=1 run_tests mutants release -R '_naive|storage_shared'
end_run
