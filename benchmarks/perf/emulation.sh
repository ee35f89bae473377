#!/usr/bin/env bash
# Measures how far a real run on emulated cores is from the traced jobs: 150 jobs of 1 to 16 processes on 32 emulated
# cores, at 90 % load, under fcfs-malleable, then the error of each job's run time. About five minutes; needs a machine
# without other load: the run reports at its end whether there was any.
# usage: emulation.sh BUILD [OUT]     BUILD holds bin/replay and benchmarks/emulation_error
set -euo pipefail
build=$(cd "${1:?usage: emulation.sh BUILD [OUT]}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
trace=${TRACE:-$root/traces/emulated-150.swf}
machine=${MACHINE:-emulated:8x2x2}
if [[ $# -ge 2 ]]; then
  out=$2
  mkdir -p "$out"
else
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
"$build/bin/replay" --trace "$trace" --policy "${POLICY:-fcfs-malleable}" --machine "$machine" --plain --out "$out/run" \
  --force >"$out/replay.out"
sed -n '/^machine /,$p' "$out/replay.out"
times >"$out/times" # in this shell: a subshell has no children yet
echo "CPU time of the run and all its ranks (user, system): $(tail -1 "$out/times")"
echo
"$build/benchmarks/emulation_error" "$out/run/events.log"
