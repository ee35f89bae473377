// Anonymisation of a log before it is published: it removes who ran what, and where. Users, groups, executables, queues
// and partitions become numbers in order of appearance; of the header only lines that name no person stay; the date is
// made coarse, weekday and hour stay. What cannot be taken out without spoiling the log is in docs/formats/sacct.md.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/swf_header.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

struct AnonymiseOptions {
  bool keep_acknowledgement = false;  ///< Acknowledge and Copyright stay: names of people, by their own wish
};

/// Numbers in order of first appearance, from 1.
class Renumbering {
 public:
  /// Unknown (below 0) stays so.
  [[nodiscard]] std::int32_t operator()(std::int32_t number);

 private:
  std::unordered_map<std::int32_t, std::int32_t> known_;
};

class Anonymiser {
 public:
  explicit Anonymiser(AnonymiseOptions options = {}) : options_(options) {}

  /// The header that may be published.
  [[nodiscard]] SwfHeader header(const SwfHeader& original);
  /// Queue 0 stays 0: it is interactive by convention. Memory grows with the number of users and so on, not of jobs.
  void apply(TraceEntry& entry);

  /// Labels of the lines that header() left out, each once; "free text" for lines without one.
  [[nodiscard]] const std::vector<std::string>& removed() const { return removed_; }

 private:
  void coarsen_start(SwfHeader& header, const SwfHeader& original);

  AnonymiseOptions options_;
  Renumbering users_, groups_, executables_, queues_, partitions_;
  std::vector<std::string> removed_;
};

}  // namespace replay
