#!/usr/bin/awk -f
# Makes node events, NAME.nodes.csv, of nodes that fail and are repaired:
#   awk -v nodes=100 -v days=31 -v mtbf=60 -v seed=1 -f benchmarks/perf/failures.awk
# nodes, days: of the machine and the trace; mtbf: the mean days between the failures of a node. Times between failures follow a
# Weibull distribution (shape=0.75), repair times a lognormal one (median=1 and mean=6 hours): the kinds of distribution that
# Schroeder and Gibson found for 23,000 failures at Los Alamos (A large-scale study of failures in high-performance computing
# systems, DSN 2006). A node has run for ten times mtbf when the trace begins. How long a repair takes is not known beforehand, so a
# row `up` ends it. Numbers by Lehmer's generator (48271 modulo 2^31 - 1), so that every awk makes the same file.
function uniform() {
  state = state * 48271
  state -= 2147483647 * int(state / 2147483647)
  return state / 2147483647
}
function normal(    sum, i) {  # Irwin-Hall: needs neither logarithm nor cosine
  for (i = 0; i < 12; ++i) sum += uniform()
  return sum - 6
}
function between_failures() {
  return scale * exp(log(-log(uniform())) / shape)
}
function repair(    seconds) {
  seconds = int(3600 * median * exp(sigma * normal()))
  return seconds < 60 ? 60 : seconds
}
function add(at, text,    i) {  # sorted by time
  for (i = rows++; i > 0 && time[i - 1] > at; --i) {
    time[i] = time[i - 1]
    row[i] = row[i - 1]
  }
  time[i] = at
  row[i] = text
}
BEGIN {
  state = seed * 7919 + 1
  for (i = 0; i < 20; ++i) uniform()  # so that seeds side by side have nothing in common
  if (!shape) shape = 0.75
  if (!median) median = 1
  if (!mean) mean = 6
  sigma = sqrt(2 * log(mean / median))
  # The mean of a Weibull distribution is scale * Gamma(1 + 1 / shape); Stirling's series for Gamma(x + 3) / (x (x + 1) (x + 2)).
  x = 1 + 1 / shape
  y = x + 3
  gamma = exp((y - 0.5) * log(y) - y + 0.91893853320467274 + 1 / (12 * y) - 1 / (360 * y ^ 3)) / (x * (x + 1) * (x + 2))
  scale = mtbf * 86400 / gamma
  for (node = 0; node < nodes; ++node) {
    at = -10 * mtbf * 86400
    while ((at = int(at + between_failures())) < days * 86400) {
      back = at + repair()
      if (back > 0) add(at < 0 ? 0 : at, "n" node ",down")
      if (back > 0) add(back, "n" node ",up")
      at = back
    }
  }
  print "time,nodes,state"
  for (i = 0; i < rows; ++i) printf "%d,%s\n", time[i], row[i]
}
