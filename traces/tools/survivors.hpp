// The set of the jobs kept so far, so that no record follows a job that is gone (fields 17 and 18).
#pragma once

#include <cstdint>

#include "traces/number_set.hpp"
#include "traces/swf_record.hpp"

namespace replay {

/// The bursts of a partial execution (status 2, 3, 4) stand below the summary line of their job and belong to it.
[[nodiscard]] inline bool is_burst(const SwfRecord& record) { return record.status >= 2 && record.status <= 4; }

class Survivors {
 public:
  /// Call it for each record kept, in order: fields 17 and 18 become -1 where the job they name has not been kept
  /// above.
  void keep(SwfRecord& record);
  /// Records that lost their predecessor.
  [[nodiscard]] std::uint64_t orphans() const { return orphans_; }

 private:
  NumberSet numbers_;
  std::uint64_t orphans_ = 0;
};

}  // namespace replay
