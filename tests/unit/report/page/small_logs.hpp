// Event logs that are small enough to be followed by hand.
#pragma once

namespace replay::test {

// Job 1 has four processes on four cores. At 2 it is to be shrunk to two cores for job 2, which gets them at 2.5. Job 4 fits
// no machine like this. When job 2 has failed, job 1 gets its cores back, at 8. Job 3 waits for it until 12, and runs when
// the log ends.
//
//   core 3  111112222222222.11111111
//   core 2  111112222222222.11111111
//   core 1  1111111111111111111111111
//   core 0  11111111111111111111111133333333333333..
//           0    2.5        8       12
inline constexpr const char* kShrinking =
    "#replay-events 1\n"
    "#body live\n"
    "#machine 1x2x2\n"
    "#policy fcfs-malleable\n"
    "#trace small.swf\n"
    "#time-scale 1\n"
    "0 submit job=1 processes=4 estimate=15 runtime=10 flexibility=malleable user=3 queue=2\n"
    "0 start job=1 cores=4 mpl=1 on=0-3:1\n"
    "0 launch job=1 cores=4 mpl=1 on=0-3:1\n"
    "2 submit job=2 processes=2 estimate=5 runtime=5 flexibility=malleable user=4\n"
    "2 resize job=1 cores=2 mpl=2 on=0-1:2\n"
    "2 start job=2 cores=2 mpl=1 on=2-3:1\n"
    "2.5 resized job=1 cores=2 mpl=2 on=0-1:2\n"
    "2.5 launch job=2 cores=2 mpl=1 on=2-3:1\n"
    "3 submit job=3 processes=1 estimate=70 runtime=60 flexibility=malleable\n"
    "3 submit job=4 processes=8 estimate=5 runtime=4000 flexibility=rigid\n"
    "3 finish job=4 outcome=rejected reason=\"it needs 8 cores\"\n"
    "7.5 finish job=2 outcome=failed exit_code=1 reason=\"residual\"\n"
    "7.5 resize job=1 cores=4 mpl=1 on=0-3:1\n"
    "8 resized job=1 cores=4 mpl=1 on=0-3:1\n"
    "12 finish job=1 outcome=completed\n"
    "12 start job=3 cores=1 mpl=1 on=0:1\n"
    "12 launch job=3 cores=1 mpl=1 on=0:1\n"
    "20 note text=\"the machine was slow\"\n";

// Jobs 1 and 2 share cores 0 and 1 as a group until job 2 ends at 30. At 50 the machine is given to the class of long jobs,
// and job 1 is suspended until 90.
inline constexpr const char* kSharing =
    "#replay-events 1\n"
    "#body sim\n"
    "#machine 1x2x2\n"
    "#policy scojo-pect\n"
    "0 slice class=short begins=0 ends=50\n"
    "0 submit job=1 processes=4 estimate=100 runtime=80 flexibility=malleable\n"
    "0 class job=1 class=short\n"
    "0 submit job=2 processes=2 estimate=100 runtime=30 flexibility=malleable\n"
    "0 class job=2 class=long\n"
    "0 group primary=1 matched=2 way=1 gain=0.5\n"
    "0 start job=1 cores=4 mpl=1 on=0-3:1 shareable=yes\n"
    "0 launch job=1 cores=4 mpl=1 on=0-3:1 shareable=yes\n"
    "0 start job=2 cores=2 mpl=1 on=0-1:1 shareable=yes\n"
    "0 launch job=2 cores=2 mpl=1 on=0-1:1 shareable=yes\n"
    "30 finish job=2 outcome=completed\n"
    "30 ungroup primary=1\n"
    "50 suspend job=1\n"
    "50 suspended job=1\n"
    "50 slice class=long begins=60 ends=90\n"
    "90 resume job=1\n"
    "90 resumed job=1\n"
    "100 finish job=1 outcome=completed\n";

}  // namespace replay::test
