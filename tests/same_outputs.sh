#!/usr/bin/env bash
# usage: same_outputs.sh OLD NEW FOLDER [TRACE]: compares what two builds of replay, given by their programs, write, byte for
# byte: all outputs of twelve policies on TRACE (default: traces/pwa/KTH-SP2-1996-2.1-cln.swf.gz of REPLAY_TRACES), of three
# seeds, two study pages, and everything that is made from the event logs of a real emulated run and of a service's period,
# which OLD makes once. FOLDER is made, and keeps all of it. Left out are run.json, seeds.json (its figures are in the
# table), and words that name a path, a time or a version.
# Exit status 0: the same; 1: different, and the files are named; 2: something could not be made.
set -euo pipefail
(($# == 3 || $# == 4)) || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
root=$(dirname "$(dirname "$(readlink -f "$0")")")
old=$(readlink -f "$1") new=$(readlink -f "$2") folder=$3
trace=$(readlink -f "${4:-${REPLAY_TRACES:-traces/pwa}/KTH-SP2-1996-2.1-cln.swf.gz}")
mkdir "$folder"
cd "$folder"
policies=(fcfs easy priority-easy conservative sjf slack dynp fcfs-malleable easy-malleable scojo-p
  g-lomarc-ts@25x2x2 scojo-pect:inner=easy@25x2x2) # @MACHINE: not the trace's own
export REPLAY_SERVICE=$PWD/service LC_ALL=C.UTF-8

# What only OLD makes: logs of real time are never the same twice.
"$old" --trace "$root/traces/emulated-small.swf" --policy fcfs-malleable --machine emulated:2x2x2 --time-scale 0.2 --plain \
  --yes --out kept-real >kept-real.txt 2>&1
"$old" serve --machine emulated:1x1x2 --policy easy-malleable --plain >kept-service.txt 2>&1 &
service=$!
trap 'kill "$service" 2>/dev/null || true' EXIT
for i in {1..100}; do [[ -S service/socket ]] && break || sleep 0.1; done
phases=$(dirname "$(dirname "$old")")/lib/replay/phases
for n in 2 1 1; do "$old" submit -n "$n" --time 60s -- "$phases" --runtime 1 >>kept-service.txt; done
"$old" submit -n 2 --time 60s --wait -- "$phases" --runtime 0.5 >>kept-service.txt
kill "$service"
wait "$service" || true
trap - EXIT

# $1: program, $2: where. In there, so that no path differs.
make_all() (
  replay=$1
  mkdir "$2"
  cd "$2"
  for policy in "${policies[@]}"; do
    name=simulated-${policy//[:=@]/-}
    on=()
    if [[ $policy == *@* ]]; then on=(--machine "${policy#*@}"); fi
    "$replay" simulate --trace "$trace" --policy "${policy%@*}" "${on[@]}" --out "$name" >"$name.txt" 2>&1
  done
  for seed in 1 2 3; do "$replay" generate lublin --jobs 500 --load 0.9 --seed "$seed" -o "set-$seed.swf" 2>/dev/null; done
  "$replay" simulate --trace 'set-{seed}.swf' --seeds 1-3 --policy easy,fcfs-malleable --outputs all --out seeds >seeds.txt
  for name in scojo-p g-lomarc-ts; do "$replay" reproduce "$name" --quick --out "study-$name" >"study-$name.txt" 2>&1; done
  for run in ../kept-real ../service/runs/*; do
    name=of-$(basename "$run")
    mkdir "$name"
    "$replay" results "$run" --out "$name/results" >"$name/results.txt" 2>&1
    "$replay" report "$run" -o "$name/report.html" >/dev/null
    for figure in gantt queue ecdf slowdown-by-size utilisation; do
      "$replay" plot "$run" --figure "$figure" -o "$name/$figure.svg" >/dev/null
    done
    for format in perfetto paje paraver evalys batsim swf csv gnuplot; do
      mkdir "$name/$format"
      "$replay" export "$run" --to "$format" -o "$name/$format/" >/dev/null
    done
    "$replay" diff "$run" "$run" >"$name/diff.txt"
    for job in 1 2 3 4; do "$replay" why "$run" "$job" --instants >"$name/why-$job.txt"; done
  done
)
make_all "$old" old
make_all "$new" new
diff -rq --exclude=run.json --exclude=seeds.json old new
