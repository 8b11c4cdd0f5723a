# Sourced by the scripts that compare with other packages: find a Python and make environments from hash-pinned files.
# shellcheck shell=bash

# The interpreter: PYTHON, else the first of these that is new enough.
find_python() {
  local new_enough='import sys; sys.exit(sys.version_info < (3, 11))' candidate
  python=${PYTHON:-}
  if [ -z "$python" ]; then
    for candidate in python3 python3.11 python3.12 python3.13 python3.14; do
      if "$candidate" -c "$new_enough" >/dev/null 2>&1; then python=$candidate && break; fi
    done
  fi
  if [ -z "$python" ] || ! "$python" -c "$new_enough"; then
    echo "this needs Python 3.11 or newer; name it with PYTHON=/path/to/python3" >&2
    exit 2
  fi
}

# make_environment FOLDER PINNED [with-project]: again only when the pins or the project change.
make_environment() {
  local venv=$1 pinned=$2 project=${3:-} stamp
  stamp=$(cat "$pinned" pyproject.toml | cksum)
  if [ -f "$venv/.stamp" ] && [ "$(cat "$venv/.stamp")" = "$stamp" ]; then return; fi
  echo "making $venv (once)" >&2
  "$python" -m venv --clear "$venv" || return 1
  local pip=("$venv/bin/python" -m pip --disable-pip-version-check --no-input -qq)
  "${pip[@]}" install --require-hashes -r "$pinned" || return 1
  if [ -n "$project" ]; then
    "${pip[@]}" install --no-deps --no-build-isolation -e . || return 1
  fi
  printf '%s\n' "$stamp" >"$venv/.stamp"
}
