#include "scheduler/policy/sharing/party.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace replay::sharing {
namespace {

// The controller computes a rate in another way: it may differ in its last bit, which must move no end.
bool is_same_rate(double a, double b) { return std::abs(a - b) <= 1e-12 * b; }

}  // namespace

void Party::clear(Instant now) {
  now_ = now;
  guests_.clear();
  meetings_.clear();
  places_.clear();
}

void Party::add(std::span<KnownJob* const> jobs, int per_node, int nodes, int covered) {
  const std::size_t unit = places_.size();
  const std::size_t first = guests_.size();
  places_.push_back({nodes, covered});
  for (KnownJob* const job : jobs) {
    const double alone = slowdowns_.rate_alone(*job, per_node);
    Guest guest{.job = job, .unit = unit, .alone = alone, .work = job->work};
    if (job->unit == nullptr) guest.work = Progress{job->job->estimate, now_, alone};
    guest.left = guest.work.left_at(now_);
    guests_.push_back(guest);
    for (std::size_t mate = first; mate + 1 < guests_.size(); ++mate)
      meet(mate, guests_.size() - 1, per_node, per_node);
  }
  if (unit == 0) {
    of_primary_ = guests_.size();
    per_node_of_primary_ = per_node;
  } else if (covered > 0) {
    for (std::size_t guest = first; guest < guests_.size(); ++guest)
      for (std::size_t primary = 0; primary < of_primary_; ++primary)
        meet(primary, guest, per_node_of_primary_, per_node);
  }
}

void Party::set_work(const KnownJob& job, const Progress& work) {
  Guest& guest = *std::ranges::find(guests_, &job, &Guest::job);
  guest.work = work;
  guest.left = work.left_at(now_);
}

void Party::meet(std::size_t a, std::size_t b, int per_node_a, int per_node_b) {
  KnownJob& first = *guests_[a].job;
  KnownJob& second = *guests_[b].job;
  meetings_.push_back(
      {a, b, slowdowns_.rate_beside(first, per_node_a, second), slowdowns_.rate_beside(second, per_node_b, first)});
}

void Party::set_rates() {
  for (Guest& guest : guests_) guest.rate = guest.alone;
  for (const Meeting& meeting : meetings_) {
    Guest &a = guests_[meeting.a], &b = guests_[meeting.b];
    if (!a.is_there || !b.is_there) continue;
    a.rate = std::min(a.rate, meeting.rate_a);
    b.rate = std::min(b.rate, meeting.rate_b);
  }
}

double Party::gain() {
  constexpr double kNothing = 1e-6;  // microseconds of work: what rounding leaves
  int matched_nodes = 0;
  for (std::size_t unit = 1; unit < places_.size(); ++unit) matched_nodes += places_[unit].nodes;
  double work = 0, time = 0;
  const auto is_any_there = [this](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (guests_[i].is_there) return true;
    return false;
  };
  while (is_any_there(0, of_primary_) && is_any_there(of_primary_, guests_.size())) {
    set_rates();
    double period = std::numeric_limits<double>::infinity();
    for (const Guest& guest : guests_)
      if (guest.is_there) period = std::min(period, guest.left / guest.rate);
    time += period;
    for (Guest& guest : guests_) {
      if (!guest.is_there) continue;
      work += guest.job->processes() * period * guest.rate;
      guest.left -= period * guest.rate;
      guest.is_there = guest.left > kNothing;
    }
  }
  const double node_time = time * std::max(places_[0].nodes, matched_nodes);
  return node_time > 0 ? work / node_time - 1 : -1;
}

void Party::foresee() {
  std::size_t there = guests_.size();
  bool is_first = true;
  for (Instant t = now_; there > 0; is_first = false) {
    set_rates();
    Instant next = kNever;
    for (Guest& guest : guests_) {
      if (!guest.is_there) continue;
      if (!is_same_rate(guest.work.rate(), guest.rate)) guest.work.change_rate(t, guest.rate);
      if (is_first) guest.present = guest.work;
      next = std::min(next, guest.work.end());
    }
    next = std::max(next, t);
    for (Guest& guest : guests_) {
      if (!guest.is_there || guest.work.end() > next) continue;
      guest.is_there = false;
      guest.end = std::max(guest.work.end(), now_ + kOneTick);
      --there;
    }
    t = next;
  }
}

void Party::releases(Releases& out) const {
  out.clear();
  Instant end_of_primary = Instant::min();
  for (std::size_t i = 0; i < of_primary_; ++i) end_of_primary = std::max(end_of_primary, guests_[i].end);
  int uncovered = places_[0].nodes;
  std::size_t guest = of_primary_;
  for (std::size_t unit = 1; unit < places_.size(); ++unit) {
    Instant end = Instant::min();
    for (; guest < guests_.size() && guests_[guest].unit == unit; ++guest) end = std::max(end, guests_[guest].end);
    const auto [nodes, covered] = places_[unit];
    if (covered > 0) out.push_back({std::max(end, end_of_primary), covered});
    if (nodes > covered) out.push_back({end, nodes - covered});
    uncovered -= covered;
  }
  if (uncovered > 0) out.push_back({end_of_primary, uncovered});
  put_in_order(out);
}

void put_in_order(Releases& releases) {
  std::ranges::sort(releases, {}, &Release::until);
  std::size_t kept = 0;
  for (const Release& release : releases) {
    if (kept > 0 && releases[kept - 1].until == release.until)
      releases[kept - 1].nodes += release.nodes;
    else
      releases[kept++] = release;
  }
  releases.resize(kept);
  std::erase_if(releases, [](const Release& release) { return release.nodes == 0; });
}

}  // namespace replay::sharing
