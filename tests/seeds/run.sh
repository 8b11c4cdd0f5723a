#!/usr/bin/env bash
# Run the published tests of the systems that Lockstitch stands in for against Lockstitch. Makes its
# own environment from a hash-pinned file (again only when that changes). Each script stands for one
# system; a difference that it does not list fails the run. Arguments choose scripts by name:
# tests/seeds/run.sh symfonic
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source bench/environment.sh

find_python
make_environment .venv-seeds requirements/seeds.txt with-project
failed=0
for script in tests/seeds/*_published.py; do
  name=$(basename "$script" _published.py)
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  .venv-seeds/bin/python "$script" || failed=1
done
exit "$failed"
