#!/usr/bin/awk -f
# Makes a trace for emulated cores, where jobs of seconds stand for jobs of hours:
#   awk -v jobs=150 -v seed=2012 -v cores=32 -v load=0.90 -v mean=8.7 -v shortest=1 -v longest=30 -f traces/emulated.awk
# Sizes by the table below, cut to the cores; run times lognormal (sigma 0.75), scaled to the mean, cut to the limits;
# arrivals Poisson, scaled so that the work is `load` of what the cores give between the first and the last of them; CPU
# use uniform in steps of 0.05 from 0.40 to 1; estimates twice the run time. Numbers by Lehmer's generator (48271 modulo
# 2^31 - 1), so that every awk makes the same trace.
function uniform() {
  state = state * 48271
  state -= 2147483647 * int(state / 2147483647)
  return state / 2147483647
}
function normal(    sum, i) {  # Irwin-Hall: needs neither logarithm nor cosine
  for (i = 0; i < 12; ++i) sum += uniform()
  return sum - 6
}
function size(    u, i) {
  u = uniform() * 100
  for (i = 1; i in width; ++i)
    if ((u -= share[i]) < 0) return width[i] < cores ? width[i] : cores
  return 1
}
function scale_runtimes_to_mean(    i, sum, round) {
  for (round = 0; round < 20; ++round) {  # again, as the limits change the mean
    for (sum = i = 0; i < jobs; ++i) sum += runtime[i]
    for (i = 0; i < jobs; ++i) {
      runtime[i] *= mean * jobs / sum
      if (runtime[i] < shortest) runtime[i] = shortest
      if (runtime[i] > longest) runtime[i] = longest
    }
  }
}
BEGIN {
  state = seed
  n = split("1 2 3 4 5 6 7 8 11 12 13 16", width, " ")
  split("14 15 6 18 5 4 4 17 2 3 2 10", share, " ")
  for (i = 0; i < jobs; ++i) {
    processes[i] = size()
    runtime[i] = exp(0.75 * normal())
    cpu_use[i] = 0.40 + 0.05 * int(uniform() * 13)
    gap[i] = i == 0 ? 0 : -log(uniform())
    user[i] = 1 + int(uniform() * 8)
  }
  scale_runtimes_to_mean()
  for (i = 0; i < jobs; ++i) {
    runtime[i] = sprintf("%.1f", runtime[i])
    work += processes[i] * runtime[i]
    span += gap[i]
  }
  stretch = work / (load * cores) / span

  print "; Version: 2.2"
  print "; Computer: " cores " emulated cores"
  print "; Installation: replay"
  print "; Information: A sample that comes with replay; traces/README.md says how it was made"
  print "; MaxJobs: " jobs
  print "; MaxRecords: " jobs
  print "; MaxProcs: " cores
  print "; UnixStartTime: 0"
  print "; TimeZoneString: UTC"
  print "; Note: awk -v jobs=" jobs " -v seed=" seed " -v cores=" cores " -v load=" load " -v mean=" mean \
    " -v shortest=" shortest " -v longest=" longest " -f traces/emulated.awk"
  print "; Note: run times lognormal, arrivals Poisson, CPU use (field 6 / field 4) uniform from 0.40 to 1, estimates twice the run time"
  for (i = 0; i < jobs; ++i) {
    at += gap[i] * stretch
    printf "%4d %7.2f -1 %5.1f %2d %6.3f -1 %2d %5.1f -1 1 %d 1 -1 -1 -1 -1 -1\n", i + 1, at, runtime[i], processes[i],
      runtime[i] * cpu_use[i], processes[i], 2 * runtime[i], user[i]
  }
}
