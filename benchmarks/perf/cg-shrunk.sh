#!/usr/bin/env bash
# Measures what half its cores cost a communicating program: NAS CG class W, 2 processes, on 2 cores and on 1, with
# stock MPICH and under replay, which shrinks it from 2 cores to 1 in the middle of its run. Medians of alternating
# rounds.
# usage: cg-shrunk.sh BUILD [REPEAT]     BUILD holds bin/replay and lib/replay; needs two free cores
set -euo pipefail
build=$(cd "${1:?usage: cg-shrunk.sh BUILD [REPEAT]}" && pwd)
repeat=${2:-160}
rounds=${ROUNDS:-3}
lib=$build/lib/replay
mapfile -t cores < <(taskset -pc $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{for (i=$1; i<=($2==""?$1:$2); ++i) print i}' | head -2)
[[ ${#cores[@]} = 2 ]] || { echo "two cores are needed" >&2; exit 1; }
a=${cores[0]} b=${cores[1]}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

per_repeat() { # binding repeats [mpiexec options] -> seconds per repeat
  local binding=$1 repeats=$2
  shift 2
  timeout -k 5 300 mpiexec -n 2 -bind-to "user:$binding" "$@" "$lib/cg" --class W --repeat "$repeats" |
    awk '/time_per_repeat_s/ {t=$2} /VERIFICATION SUCCESSFUL/ {ok=1} END {if (!ok) exit 1; print t}'
}
# The scheduler does it: job 1 is cg on 2 cores, job 2 needs one core from the middle of job 1's run to its end.
shrunk_by_replay() { # seconds at which to shrink -> "s per repeat before", "s per repeat after"
  cat >"$work/t.swf" <<EOF
; MaxProcs: 2
; Program: 1 cg --class W --repeat $repeat
1 0 -1 10 2 10 -1 2 200 -1 1 1 1 1 -1 -1 -1 -1
2 $1 -1 60 1 0 -1 1 200 -1 1 1 1 2 -1 -1 -1 -1
EOF
  sed -i 's/^; MaxProcs: 2/&\n; Program: 2 phases --runtime 20 --cpu-use 0/' "$work/t.swf"
  "$build/bin/replay" --trace "$work/t.swf" --policy fcfs-malleable --machine "local:$a,$b" --out "$work/r" --force --plain \
    --yes >"$work/out"
  grep -q 'finish job=1 outcome=completed verification=passed' "$work/r/events.log"
  awk '/ launch job=1/ {l=$1} / resized job=1 cores=1/ {s=$1} / finish job=1/ {f=$1} END {print s-l, f-s}' "$work/r/events.log"
}

for ((round = 0; round < rounds; ++round)); do
  per_repeat "$a,$b" 40 >>"$work/stock2"
  per_repeat "$a,$a" 1 >>"$work/stock1"
  read -r before after < <(shrunk_by_replay "$(awk -v r="$repeat" '{s=r*$1/2; exit} END {print s}' "$work/stock2")")
  echo "$before $after" >>"$work/shrunk"
done
median() { sort -n "$1" | awk '{t[NR]=$1} END {print t[int((NR+1)/2)]}'; }
two=$(median "$work/stock2") one=$(median "$work/stock1")
# Of REPEAT repetitions the first `before` seconds ran at the two-core speed; the rest took `after` seconds on one core.
awk -v two="$two" -v repeat="$repeat" '{done=$1/two; left=repeat-done; print $2/left}' "$work/shrunk" >"$work/vm1"
vm=$(median "$work/vm1")
awk -v two="$two" -v one="$one" -v vm="$vm" 'BEGIN {
  printf "cg class W, 2 processes, seconds per repetition (medians)\n"
  printf "  stock MPICH, 2 cores            %8.4f   1.0 x\n", two
  printf "  stock MPICH, 1 core             %8.4f   %.1f x\n", one, one/two
  printf "  shrunk 2 -> 1 core by replay    %8.4f   %.2f x\n", vm, vm/two}'
