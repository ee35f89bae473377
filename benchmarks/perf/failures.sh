#!/usr/bin/env bash
# Measures what nodes that fail cost a trace under every policy: the tables of docs/measurements/failures.md, as Markdown. All of it
# is simulated, so the same build prints the same bytes on every machine. Some minutes.
# usage: failures.sh BUILD KTH-LOG     BUILD holds bin/replay; KTH-LOG is the archive's KTH-SP2-1996-2.1-cln.swf.gz
# SEEDS=10 of the failures.
set -euo pipefail
replay=$(cd "${1:?usage: failures.sh BUILD KTH-LOG}" && pwd)/bin/replay
log=$(realpath "${2:?usage: failures.sh BUILD KTH-LOG}")
root=$(cd "$(dirname "$0")/../.." && pwd)
seeds=${SEEDS:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# All names but those that the pattern matches.
policies() { "$replay" policies | grep -x '[a-z-]*' | grep -vxE "$1" | paste -sd,; }

# simulate TRACE MACHINE POLICIES [OPTION...]: rows "policy metric value half-width", of several seeds the mean.
simulate() {
  local trace=$1 machine=$2 names=$3
  shift 3
  "$replay" simulate --trace "$trace" --machine "$machine" --policy "$names" --outputs none --json "$@" 2>errors |
    awk '{ gsub(/[",:]/, "") }
         $1 == "policy" { policy = $2 }
         $2 == "{" { metric = $1 }
         $1 == "mean" { mean = $2 }
         $1 == "half_width" { tell(metric, mean, $2) }
         NF == 2 && $2 ~ /^[0-9]/ { tell($1, $2, 0) }
         # Comparisons with the first policy come behind, under the same names.
         function tell(name, value, half) {
           if (!told[policy, name]++) print policy, name, value, half
         }' ||
    { cat errors >&2 && exit 1; }
}

# measure TRACE MACHINE NODES [PATTERN]: two tables, without the policies that PATTERN matches.
measure() {
  local names
  names=$(policies "${4:-}")
  for ((seed = 1; seed <= seeds; ++seed)); do
    awk -v nodes="$3" -v days=31 -v mtbf=60 -v seed=$seed -f "$root/benchmarks/perf/failures.awk" >"failures-$seed.csv"
  done
  simulate "$1" "$2" "$names" --nodes-from none >without
  simulate "$1" "$2" "$names" --seeds "1-$seeds" --nodes-from 'failures-{seed}.csv' >lost
  simulate "$1" "$2" "$names" --seeds "1-$seeds" --nodes-from 'failures-{seed}.csv' --requeue-lost >requeued
  awk -v names="$names" '
    function time(run, metric) { return sprintf("%.0f", mean[run, policy, metric] / 60) }
    function spread(run, metric) { return time(run, metric) sprintf(" ± %.0f", half[run, policy, metric] / 60) }
    function hours(run) { return sprintf("%.0f ± %.0f", mean[run, policy, "lost_work"] / 3600, half[run, policy, "lost_work"] / 3600) }
    function use(run, metric) { return sprintf("%.3f", mean[run, policy, metric]) }
    { mean[FILENAME, $1, $2] = $3; half[FILENAME, $1, $2] = $4 }
    END {
      count = split(names, name, ",")
      print "| | no failures: mean wait | p95 | use | lost: jobs | core-hours | mean wait | p95 | use |"
      print "|---|---|---|---|---|---|---|---|---|"
      for (i = 1; i <= count; ++i) {
        policy = name[i]
        printf "| `%s` | %s | %s | %s | %.1f | %s | %s | %s | %s |\n", policy, time("without", "mean_wait"), time("without", "p95_wait"),
          use("without", "utilisation"), mean["lost", policy, "jobs_lost"], hours("lost"), spread("lost", "mean_wait"),
          time("lost", "p95_wait"), use("lost", "present_utilisation")
      }
      print ""
      print "| `--requeue-lost` | times | core-hours | mean wait | p95 | use |"
      print "|---|---|---|---|---|---|"
      for (i = 1; i <= count; ++i) {
        policy = name[i]
        printf "| `%s` | %.1f | %s | %s | %s | %s |\n", policy, mean["requeued", policy, "requeues"], hours("requeued"),
          spread("requeued", "mean_wait"), time("requeued", "p95_wait"), use("requeued", "present_utilisation")
      }
    }' without lost requeued
}

"$replay" trace cut "$log" --month 1997-01 --rebase -o kth.swf 2>/dev/null
"$replay" generate lublin --jobs 3000 --duration 720h --machine-size 128 --load 0.6 --solve runtimes --seed 1 -o model.swf 2>/dev/null
"$replay" trace declare model.swf --speedup three-point --malleable 1 --estimates tsafrir --cpu-util uniform:0.5:1 \
  -o lublin.swf 2>/dev/null
echo "## KTH-SP2, January 1997, on 100x1x1"
echo
measure kth.swf 100x1x1 100 '.*-malleable|greedy-moldable|cirne-berman|scojo|scojo-p|g-lomarc-ts'
echo
echo "## Lublin, 30 days, on 32x2x2"
echo
measure lublin.swf 32x2x2 32
