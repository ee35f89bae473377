// The runtime model `pairs`: how much jobs slow down by sharing nodes. A job's own processes on one node cost it
// SL_sno, and SL_sno * SL_scr if several of them are on the cores of one CPU; the jobs that have a core on one of its
// nodes cost it the largest SL(job, other) of them. SL comes from --pairs, else from the pairs that a profile has
// measured, else from the keys of both jobs. On a pool no job has neighbours.
// Source: G-LOMARC-TS, section 4.9 and Table 4.
#pragma once

#include <memory>

#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay {

/// `files.pairs` must outlive it; of the profile it keeps what it needs.
[[nodiscard]] std::unique_ptr<RuntimeModel> make_pairs(const ModelFiles& files);

}  // namespace replay
