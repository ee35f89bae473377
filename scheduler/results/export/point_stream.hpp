// The load of the machine over time as a stream: each state once, when its instant is over. Nothing is kept.
#pragma once

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/series.hpp"

namespace replay::results {

class PointReader {
 public:
  /// The state from point.at until the next call, which differs from the one before.
  virtual void point(const metrics::Point& point) = 0;

 protected:
  ~PointReader() = default;
};

/// Pass it each record before other sinks: then a point comes in front of what happens after its instant.
class PointStream final : public log::Sink {
 public:
  /// `reader` must outlive this.
  explicit PointStream(PointReader& reader) : reader_(&reader) {}

  void header(const log::Header& header) override { series_.header(header); }
  void record(const log::Record& record) override;
  [[nodiscard]] log::Kinds kinds() const override { return series_.kinds(); }
  /// No record comes any more: hands over the last state.
  void finish() { hand_over(); }

  /// With the integrals of the run, but without its points.
  [[nodiscard]] const metrics::Series& series() const { return series_; }

 private:
  void hand_over();

  PointReader* reader_;
  metrics::Series series_{{.keep_points = false}};
  metrics::Point last_;
  bool has_last_ = false;
};

}  // namespace replay::results
