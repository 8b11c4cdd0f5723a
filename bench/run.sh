#!/usr/bin/env bash
# Make .venv-bench from the hash-pinned file (again only when it changes), then run the benchmark.
# Arguments are passed on: bench/run.sh --quick, bench/run.sh --only a,e
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=.venv-bench
pinned=requirements/bench.txt
pip() { "$venv/bin/python" -m pip --disable-pip-version-check --no-input -qq "$@"; }

# The interpreter: PYTHON, else the first of these that is new enough.
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
python=${PYTHON:-}
if [ -z "$python" ]; then
  for candidate in python3 python3.11 python3.12 python3.13 python3.14; do
    if "$candidate" -c "$new_enough" >/dev/null 2>&1; then python=$candidate && break; fi
  done
fi
if [ -z "$python" ] || ! "$python" -c "$new_enough"; then
  echo "bench: needs Python 3.11 or newer; name it with PYTHON=/path/to/python3" >&2
  exit 2
fi

stamp=$(cat "$pinned" pyproject.toml | cksum)
if [ ! -f "$venv/.stamp" ] || [ "$(cat "$venv/.stamp")" != "$stamp" ]; then
  echo "bench: making $venv (once)" >&2
  "$python" -m venv --clear "$venv"
  pip install --require-hashes -r "$pinned"
  pip install --no-deps --no-build-isolation -e .
  printf '%s\n' "$stamp" >"$venv/.stamp"
fi

exec "$venv/bin/python" bench/run.py "$@"
