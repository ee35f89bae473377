#include "scheduler/results/export/point_stream.hpp"

namespace replay::results {

void PointStream::record(const log::Record& record) {
  if (!series_.points().empty() && series_.points().back().at < record.at) hand_over();
  series_.record(record);
}

void PointStream::hand_over() {
  if (series_.points().empty()) return;
  const metrics::Point& now = series_.points().back();
  if (has_last_ && last_.same_state(now)) return;
  last_ = now;
  has_last_ = true;
  reader_->point(now);
}

}  // namespace replay::results
