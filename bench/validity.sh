#!/usr/bin/env bash
# Make the two environments of the validity tables from hash-pinned files (again only when those
# change), then print the tables. Arguments are passed on: bench/validity.sh --quick
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/environment.sh

find_python
make_environment .venv-bench-validity requirements/bench-validity.txt with-project
# Without the second, its rows stay empty and say so.
second=()
if make_environment .venv-bench-semantic-kernel requirements/bench-semantic-kernel.txt; then
  second=(--semantic-kernel .venv-bench-semantic-kernel/bin/python)
fi
exec .venv-bench-validity/bin/python bench/validity.py "${second[@]}" "$@"
