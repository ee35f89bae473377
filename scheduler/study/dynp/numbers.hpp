// The numbers that Streit prints: Evaluation of an Unfair Decider Mechanism for the Self-Tuning dynP Job Scheduler,
// IPDPS workshops 2004. Means over ten job sets without the smallest and the largest.
//
// Gains are in SLDwA over SJF, in per cent; differences in utilisation are to SJF, in points (Table 5's header says FCFS,
// its numbers are to SJF). Table 3 has their means over the factors. Two cells that the text of the paper has lost are
// filled from the differences beside them: KTH 0.7 advanced, utilisation 82.37, and LANL 0.7 SJF, 85.46 (also in Table 4).
#pragma once

#include "scheduler/study/printed.hpp"

namespace replay::study {

[[nodiscard]] inline const Printed& dynp_printed() {
  static const Printed numbers{R"(
tables 4 and 5 | SLDwA FCFS | SLDwA SJF | SLDwA LJF | SLDwA advanced | SLDwA SJF-preferred |
  utilisation FCFS | utilisation SJF | utilisation LJF | utilisation advanced | utilisation SJF-preferred |
  gain advanced | gain preferred | difference advanced | difference preferred
CTC 1    |  2.61 |  2.78 |   3.55 |  2.48 |  2.49 |  76.2 | 75.48 |  76.5 | 76.07 | 76.13 | 10.92 | 10.39 |  0.59 |  0.64
CTC 0.9  |  3.99 |   4.8 |   5.99 |  4.16 |   3.9 | 83.43 | 80.74 | 84.29 | 82.09 | 82.54 | 13.19 | 18.65 |  1.35 |   1.8
CTC 0.8  |  7.51 |  8.36 |  13.25 |  7.44 |  7.37 | 89.13 | 83.07 |  91.7 | 84.84 | 84.72 | 10.92 | 11.79 |  1.77 |  1.65
CTC 0.7  | 13.01 | 12.27 |  23.42 | 11.76 | 11.83 | 91.65 | 85.36 | 95.01 | 86.32 |  86.3 |  4.12 |  3.56 |  0.96 |  0.94
CTC 0.6  | 19.61 | 17.46 |  36.22 |  16.4 | 16.54 | 93.38 | 85.94 |  96.6 | 87.39 | 86.95 |  6.03 |  5.23 |  1.45 |  1.01
KTH 1    |  4.06 |  3.32 |   7.33 |  3.25 |   3.2 | 69.33 | 68.81 | 69.48 | 69.04 | 68.98 |  2.15 |  3.56 |  0.23 |  0.17
KTH 0.9  |  5.51 |  4.35 |  11.11 |  4.31 |  4.42 | 76.64 | 75.46 | 76.84 | 75.68 | 75.68 |  1.04 | -1.46 |  0.22 |  0.22
KTH 0.8  |   9.0 |  6.85 |  20.75 |   6.7 |  6.91 | 85.08 | 80.37 | 85.41 | 80.72 | 80.63 |  2.17 | -0.87 |  0.35 |  0.26
KTH 0.7  | 20.72 | 12.29 |  54.58 | 12.79 |  12.8 | 92.08 | 82.59 |  93.2 | 82.37 | 82.42 | -4.04 | -4.07 | -0.22 | -0.17
KTH 0.6  | 45.73 | 21.29 | 120.84 | 21.41 | 21.45 | 94.03 | 84.25 |  96.3 | 84.33 |  84.4 | -0.57 | -0.75 |  0.08 |  0.15
LANL 1   |  2.53 |  2.47 |   2.92 |  2.43 |  2.42 | 63.61 | 63.61 | 63.63 | 63.61 | 63.61 |  1.81 |  1.96 |     0 |     0
LANL 0.9 |   3.2 |  3.16 |   3.83 |  3.13 |  3.13 | 70.64 | 70.59 | 70.66 | 70.63 | 70.63 |  1.11 |  0.95 |  0.04 |  0.04
LANL 0.8 |  4.69 |  5.11 |   6.26 |  4.95 |   5.0 | 79.37 | 79.11 | 79.42 | 79.14 | 79.12 |  3.28 |  2.19 |  0.03 |  0.01
LANL 0.7 | 10.05 | 14.93 |  16.52 |  14.5 | 14.58 | 90.13 | 85.46 | 90.43 | 85.64 | 85.57 |  2.92 |  2.34 |  0.18 |  0.11
LANL 0.6 | 44.46 | 41.73 |  82.88 | 42.37 | 42.13 |  96.1 | 86.71 | 97.67 | 86.81 |  87.0 | -1.55 | -0.97 |   0.1 |  0.29
SDSC 1   |  6.16 |   6.0 |  14.49 |  5.56 |  5.59 | 79.41 | 78.59 | 79.69 | 78.75 | 78.73 |  7.29 |  6.78 |  0.16 |  0.14
SDSC 0.9 | 10.36 | 16.48 |   30.7 |  13.9 | 14.09 | 86.85 | 80.55 | 87.49 | 81.99 |  82.2 | 15.66 | 14.48 |  1.44 |  1.64
SDSC 0.8 | 25.06 | 29.86 |  84.77 | 27.64 | 27.54 | 91.83 | 81.23 | 92.87 | 82.59 | 82.42 |  7.43 |  7.76 |  1.36 |  1.19
SDSC 0.7 |  46.2 | 42.83 | 121.05 | 41.95 | 41.74 | 93.15 | 81.87 |  95.0 | 83.01 | 82.96 |  2.05 |  2.56 |  1.14 |  1.08
SDSC 0.6 | 71.08 | 57.01 | 162.54 | 57.35 | 57.29 | 94.05 | 82.38 | 96.19 | 82.94 | 82.86 | -0.61 |  -0.5 |  0.56 |  0.49

table 3 | gain advanced | gain preferred | difference advanced | difference preferred
CTC     |          9.04 |           9.92 |                1.22 |                 1.21
KTH     |          0.15 |          -0.72 |                0.13 |                 0.12
LANL    |          1.51 |           1.29 |                0.07 |                 0.09
SDSC    |          6.36 |           6.22 |                0.93 |                 0.91
)"};
  return numbers;
}

}  // namespace replay::study
