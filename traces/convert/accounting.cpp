#include "traces/convert/accounting.hpp"

#include <fmt/format.h>

#include "scheduler/base/error.hpp"

namespace replay::accounting {

Tally& Tally::operator+=(const Tally& other) {
  jobs += other.jobs, steps += other.steps, lone_steps += other.lone_steps, components += other.components;
  without_submit += other.without_submit;
  of_other_clusters += other.of_other_clusters, continued += other.continued, broken += other.broken;
  other_records += other.other_records;
  if (unknown_states == 0) unknown_state = other.unknown_state;
  unknown_states += other.unknown_states;
  for (const std::string& message : other.broken_messages)
    if (broken_messages.size() < kMostMessages) broken_messages.push_back(message);
  return *this;
}

void Reader::note_broken(const std::string& file, std::size_t line, const std::string& message) {
  const InputError error(file, line, message);
  if (strict_) throw error;
  ++tally_.broken;
  if (tally_.broken_messages.size() < kMostMessages) tally_.broken_messages.emplace_back(error.what());
}

void Reader::fail_without_jobs(std::string_view rows, std::string_view otherwise) const {
  throw InputError(fmt::format("{}: no jobs: expected {}, found {}", name(), rows,
                               tally_.broken > 0           ? tally_.broken_messages.front()
                               : tally_.without_submit > 0 ? "none with a time of submission"
                                                           : otherwise));
}

}  // namespace replay::accounting
