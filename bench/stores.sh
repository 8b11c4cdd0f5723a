#!/usr/bin/env bash
# Make .venv-bench-stores from the hash-pinned file (again only when it changes), then measure the
# stores. Arguments are passed on: bench/stores.sh --quick, bench/stores.sh --only a,e
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/environment.sh

find_python
make_environment .venv-bench-stores requirements/bench-stores.txt with-project
exec .venv-bench-stores/bin/python bench/stores.py "$@"
