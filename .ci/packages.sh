#!/usr/bin/env bash
# What people would install: the sdist holds every file and passes its own tests, and the wheel works on every newer Python of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
newer=(3.12 3.13 3.14)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python -m build -o "$work" . >/dev/null # the wheel is built from the sdist

tar xzf "$work"/*.tar.gz -C "$work" --one-top-level=sdist --strip-components=1
diff <(git ls-files | LC_ALL=C sort) <(cd "$work/sdist" && find . -type f -printf '%P\n' | grep -vx PKG-INFO | LC_ALL=C sort)
(
  cd "$work/sdist"
  python3 -m venv .venv
  .venv/bin/pip install -q --no-compile '.[test]'
  .venv/bin/python -m pytest --collect-only -qq >/dev/null
  .venv/bin/python -m pytest tests/test_packaging.py tests/cli/test_{completions,manpage,safety,api}.py tests/commands/test_golden.py tests/output/test_schema.py # what reads files of the tree
)

python_of() { # the interpreter of that version, if the machine has or offers one
  local found
  for found in "$(command -v "python$1" || true)" ~/.pyenv/versions/"$1".*/bin/python "$(uv python find "$1" 2>/dev/null || true)"; do
    if [ -n "$found" ] && "$found" -c 'import ensurepip, venv' 2>/dev/null; then echo "$found" && return; fi
  done
  if command -v uv >/dev/null && timeout 120 uv python install -q "$1" 2>/dev/null; then uv python find "$1" && return; fi
  if apt-cache show "python$1-venv" >/dev/null 2>&1 && apt-get install -y -qq "python$1-venv" >/dev/null 2>&1; then command -v "python$1"; fi
}

for version in "${newer[@]}"; do
  python=$(python_of "$version") || true
  if [ -z "$python" ]; then
    echo "skipped: no Python $version"
    continue
  fi
  "$python" -m venv "$work/$version"
  "$work/$version/bin/pip" install -q --no-compile "$work"/*.whl
  (cd "$work/$version" && bin/python -W error::DeprecationWarning:dpcalc - <"$OLDPWD/.ci/smoke.py")
done
