#include "traces/tools/sort.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "traces/history.hpp"
#include "traces/tools/survivors.hpp"

namespace replay {
namespace {

// A record with all that has to stay below it.
struct Group {
  Duration submit;
  std::int64_t job;
  std::size_t first;
  std::size_t count;
};

std::vector<Group> groups_of(const std::vector<TraceEntry>& entries) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SwfRecord& record = entries[i].record;
    const bool stays =
        record.submit < Duration::zero() || (is_burst(record) && i > 0 && entries[i - 1].record.job == record.job);
    if (stays && !groups.empty())
      ++groups.back().count;
    else
      groups.push_back({record.submit, record.job, i, 1});
  }
  return groups;
}

void renumber(std::vector<TraceEntry>& entries, SortResult& result) {
  std::unordered_map<std::int64_t, std::int64_t> numbers;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SwfRecord& record = entries[i].record;
    const bool goes_on = i > 0 && is_burst(record) && entries[i - 1].record.job == record.job;
    if (!goes_on) ++next;
    numbers.try_emplace(record.job, next);  // of a number that is there twice, the first counts
  }
  next = 0;
  std::int64_t last = -1;
  for (TraceEntry& entry : entries) {
    SwfRecord& record = entry.record;
    const std::int64_t old = record.job;
    if (!(next > 0 && is_burst(record) && old == last)) ++next;
    record.job = next;
    last = old;
    if (record.preceding < 0) continue;
    const auto found = numbers.find(record.preceding);
    if (found != numbers.end()) {
      record.preceding = found->second;
    } else {
      record.preceding = -1;
      record.think_time = kUnknownTime;
      ++result.orphans;
    }
  }
}

}  // namespace

std::uint64_t sort_entries(std::vector<TraceEntry>& entries) {
  std::vector<Group> groups = groups_of(entries);
  std::uint64_t late = 0;
  Duration latest = Duration::min();
  for (const Group& group : groups) {
    if (group.submit < latest) ++late;
    latest = std::max(latest, group.submit);
  }
  std::ranges::stable_sort(groups, {}, [](const Group& g) { return std::tuple(g.submit, g.job); });
  std::vector<TraceEntry> sorted;
  sorted.reserve(entries.size());
  for (const Group& group : groups)
    for (std::size_t i = 0; i < group.count; ++i) sorted.push_back(std::move(entries[group.first + i]));
  entries = std::move(sorted);
  return late;
}

SortResult sort_trace(TraceReader& reader, TraceWriter& writer, const SortOptions& options, std::string_view command) {
  SwfHeader header = reader.header();
  std::vector<TraceEntry> entries;
  for (TraceEntry entry; reader.next(entry);) {
    // Comments among the records have no place once these move: they go behind the header.
    for (const std::string& comment : reader.swf().comments()) header.add_line(comment);
    entries.push_back(std::move(entry));
  }
  SortResult result;
  result.records = entries.size();
  result.moved = sort_entries(entries);
  if (options.renumber) renumber(entries, result);
  note_history(header, command);
  writer.write(header);
  for (const TraceEntry& entry : entries) writer.write(entry);
  return result;
}

}  // namespace replay
