#!/usr/bin/env bash
# Make .venv-bench from the hash-pinned file (again only when it changes), then run the benchmark.
# Arguments are passed on: bench/run.sh --quick, bench/run.sh --only a,e
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/environment.sh

find_python
make_environment .venv-bench requirements/bench.txt with-project
exec .venv-bench/bin/python bench/run.py "$@"
