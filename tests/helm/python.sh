#!/bin/sh
# Python with what requirements.txt beside it names: as tests/e2e/python.sh.
#
#   python.sh --install    makes the environment if it is not there
#   python.sh ARGUMENT...  runs it
DAVIT_REQUIREMENTS=$(cd "$(dirname "$0")" && pwd)/requirements.txt
export DAVIT_REQUIREMENTS
exec "$(dirname "$0")/../e2e/python.sh" "$@"
