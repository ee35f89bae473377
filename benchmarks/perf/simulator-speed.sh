#!/usr/bin/env bash
# Jobs per second of `replay simulate`, whole process, reading and writing included: KTH-SP2 under easy and the other
# policies, uncompressed input from the page cache, with --outputs jobs and with all outputs. A B A B; medians.
# usage: simulator-speed.sh REPLAY [TRACE]   (default trace: $REPLAY_PWA_DIR/KTH-SP2-EASY-reference.swf.gz, else the
# sample of its first 1,127 jobs, which is too short for a figure and only shows that this works)
set -euo pipefail
replay=${1:?usage: simulator-speed.sh REPLAY [TRACE]}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
trace=${2:-${REPLAY_PWA_DIR:-$here/../../../shared/traces/pwa}/KTH-SP2-EASY-reference.swf.gz}
[[ -f $trace ]] || trace=$here/../../traces/samples/kth-easy-1127.swf
rounds=${ROUNDS:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $trace in *.gz) gzip -dc "$trace" >"$work/t.swf" ;; *) cp "$trace" "$work/t.swf" ;; esac
jobs=$(grep -vc '^;' "$work/t.swf")
echo "trace $(basename "$trace"), $jobs jobs, $rounds rounds"

once() { # policy outputs -> seconds
  local before after
  before=$(date +%s%N)
  "$replay" simulate --trace "$work/t.swf" --policy "$1" --outputs "$2" --out "$work/out" --force >/dev/null
  after=$(date +%s%N)
  echo $(((after - before) / 1000))
}
cases=("easy jobs" "easy all" "fcfs jobs" "fcfs-malleable jobs")
for ((round = 0; round < rounds; ++round)); do
  for case in "${cases[@]}"; do
    # shellcheck disable=SC2086
    once $case >>"$work/${case// /_}"
  done
done
for case in "${cases[@]}"; do
  sort -n "$work/${case// /_}" | awk -v jobs="$jobs" -v case="$case" \
    '{t[NR]=$1} END {m=t[int((NR+1)/2)]; printf "%-22s %8.1f ms  %10.0f jobs/s  (fastest %.0f, slowest %.0f)\n", case, m/1e3, jobs/m*1e6, jobs/t[1]*1e6, jobs/t[NR]*1e6}'
done
