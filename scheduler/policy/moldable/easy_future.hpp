// What the running and waiting jobs will do if no other job is submitted and all take as long as estimated, under EASY
// over classes with promotions: when would a job that is submitted now start? It makes the passes of priority-easy
// (plan/easy_pass.hpp) at each end and at each promotion, on a copied state.
// Source: SCOJO-P paper, section 3, on Cirne and Berman 2003.
#pragma once

#include <vector>

#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/easy_pass.hpp"
#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class EasyFuture {
 public:
  explicit EasyFuture(Aging aging) : aging_(aging) {}

  /// The running jobs of the view, and no waiting one.
  void begin(const ClusterView& view);
  /// A waiting job at the size that it will have.
  void add(const ClassedJob& job, Shape shape);

  /// The job that is submitted now. O(waiting log waiting).
  void submit(const ClassedJob& job);
  /// When it would start in this shape; kNever if not before `before`. REQUIRES: submit() was called after the last add(),
  /// and the shape fits the machine. O(passes x waiting).
  [[nodiscard]] Instant start_with(Shape shape, Instant before);

 private:
  struct Waiting {
    ClassedJob job;
    Shape shape;
    JobClass now = JobClass::kShort;  // with promotions
    bool is_submitted_now = false;
    bool started = false;
  };
  Instant order_by_class(std::vector<Waiting>& queue, Instant now) const;
  bool pass(Instant now);

  Aging aging_;
  Instant now_{};
  CoreCount free_ = 0;
  std::vector<Release> ends_;     // of running jobs, ascending
  std::vector<Waiting> waiting_;  // and, after submit(), the submitted job; that is in order then
  Instant first_promotion_{};

  // The state of a simulation.
  CoreCount free_then_ = 0;
  std::vector<Release> ends_then_;  // ascending; those before first_end_ are over
  std::size_t first_end_ = 0;
  std::vector<Waiting> queue_;
  std::vector<Release> started_;
};

}  // namespace replay
