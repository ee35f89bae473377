// The load of the machine over time as a stream: each state once, when its instant is over. Nothing is kept.
#pragma once

#include <optional>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/series.hpp"

namespace replay::results {

class PointReader {
 public:
  /// The state from point.at until the next call, which differs from the one before.
  virtual void point(const metrics::Point& point) = 0;

 protected:
  ~PointReader() = default;
};

/// Comes before other observers: then a point comes in front of what happens after its instant.
class PointStream final : public history::Observer {
 public:
  /// `reader` must outlive this.
  explicit PointStream(PointReader& reader) : reader_(&reader) {}

  void on_time(Instant /*now*/) override { finish(); }
  void on_load(Instant at, const history::Load& load) override { now_ = {load, at}; }
  /// No record comes any more: hands over the last state.
  void finish() {
    if (!now_ || last_ == *now_) return;
    last_ = *now_;
    reader_->point(*now_);
  }

 private:
  PointReader* reader_;
  std::optional<metrics::Point> now_;
  std::optional<history::Load> last_;
};

}  // namespace replay::results
