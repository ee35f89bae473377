#!/usr/bin/env bash
# run.sh REPLAY FOLDER [FILE...]: runs the browser tests, or some of them (or bench.mjs), on pages that REPLAY makes; what they need
# and leave is in FOLDER. Exit status 77, with the reason, where Chromium, Node.js or playwright-core cannot be had.
set -euo pipefail
export LC_ALL=C.UTF-8

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
replay=$(readlink -f "$1")
mkdir -p "$2"
folder=$(readlink -f "$2")
shift 2

skip() {
  printf 'SKIPPED: %s\n' "$*"
  exit 77
}

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[[ -n $chromium ]] || skip "no chromium (apt: chromium)"
command -v node >/dev/null || skip "no node (apt: nodejs)"
(($(node -p 'process.versions.node.split(".")[0]') >= 18)) || skip "expected Node.js 18 or later, found $(node --version)"

modules=$folder/modules
if ! cmp -s "$here/package.json" "$modules/installed.json"; then
  command -v npm >/dev/null || skip "no npm (apt: npm), which brings playwright-core"
  rm -rf "$modules"
  mkdir -p "$modules"
  cp "$here/package.json" "$modules"
  # playwright-core brings no browser by itself.
  if ! timeout 120 npm install --prefix "$modules" --ignore-scripts --no-audit --no-fund --no-package-lock >"$folder/npm.log" 2>&1; then
    cat "$folder/npm.log"
    skip "npm cannot fetch playwright-core"
  fi
  cp "$here/package.json" "$modules/installed.json"
fi

export REPLAY_PROGRAM=$replay REPLAY_BROWSER_FOLDER=$folder REPLAY_CHROMIUM=$chromium
if (($# == 0)); then set -- "$here"/*.test.mjs; fi
if [[ $1 == *bench.mjs ]]; then exec node "$1"; fi
exec node --test --test-reporter=spec "$@"
