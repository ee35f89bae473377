#!/usr/bin/env bash
# Compares what two builds of replay write, byte for byte: ten policies on a log, and a page of a study on seeded workloads.
# Of run.json the lines that tell when and where the run was made are left out; every other byte counts.
#
# usage: same-outputs.sh BEFORE AFTER [LOG]   BEFORE, AFTER: programs `replay`; LOG: SWF (default traces/synth.swf)
# Exit status 0: all the same; 1: the files that differ are named; 2: wrong usage.
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
[[ $# == 2 || $# == 3 ]] || {
  sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
before=$(readlink -f "$1") after=$(readlink -f "$2") log=$(readlink -f "${3:-$root/traces/synth.swf}")
policies=(fcfs sjf easy easy:reservations=4 priority-easy conservative plan slack dynp fcfs-malleable easy-malleable)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME PROGRAM: every output below $work/NAME, made under the same names.
run() {
  mkdir -p "$work/$1/bin"
  ln -s "$2" "$work/$1/bin/replay"
  (
    cd "$work/$1"
    export PATH=$work/$1/bin:$PATH
    ln -s "$log" log.swf"$([[ $log == *.gz ]] && echo .gz)"
    for policy in "${policies[@]}"; do
      replay simulate --trace log.swf* --policy "$policy" --out "out-$policy" >"stdout-$policy" 2>"stderr-$policy"
    done
    for seed in 1 2 3; do
      replay generate lublin --jobs 1000 --machine-size 64 --load 0.9 --seed "$seed" -o "t-$seed.swf" 2>/dev/null
    done
    replay simulate --trace 't-{seed}.swf' --policy easy,fcfs-malleable,slack,dynp --seeds 1-3 --out seeds >seeds.txt
    replay trace info t-1.swf --plot plot.html >info.txt
    find . -name run.json -exec sed -i -E '/"(started|ended|working_folder)"/d' {} +
  )
  rm -r "$work/$1/bin"
}

run before "$before"
run after "$after"
if diff -rq "$work/before" "$work/after"; then
  echo "the same: $(find "$work/after" -type f | wc -l) files of ${#policies[@]} policies on ${log##*/}, 3 seeds, a drawing"
else
  exit 1
fi
