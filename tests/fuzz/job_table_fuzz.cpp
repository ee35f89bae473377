// Fuzz target of the side file reader: arbitrary bytes give rows or an InputError; rows are the same after writing and
// reading, and lookups of job numbers in any order find each row once.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/memory_bytes.hpp"
#include "traces/job_table.hpp"

namespace replay::fuzz {
namespace {

// Candidate job numbers: the numbers at the beginnings of lines.
std::vector<std::int64_t> numbers_in(std::string_view bytes) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at > 0 && bytes[at - 1] != '\n' && bytes[at - 1] != '\r') continue;
    std::int64_t number = 0;
    for (std::size_t i = at; i < bytes.size() && i < at + 18 && bytes[i] >= '0' && bytes[i] <= '9'; ++i)
      number = number * 10 + (bytes[i] - '0');
    numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void read_write_read(std::string_view bytes) {
  JobTableReader reader(test::memory_source(bytes));
  std::string text;
  JobTableWriter writer(test::string_sink(text));
  std::vector<std::pair<std::int64_t, JobTraits>> rows;
  for (const std::int64_t number : numbers_in(bytes))
    if (auto traits = reader.find(number)) {
      writer.write(number, *traits);
      rows.emplace_back(number, *traits);
      check(!reader.find(number));
    }
  writer.close();
  JobTableReader again(test::memory_source(text));
  for (const auto& [number, traits] : rows) check(again.find(number) == traits);
  check(again.unused().count == 0);
}

}  // namespace

void job_table(std::string_view bytes) {
  try {
    read_write_read(bytes);
  } catch (const InputError&) {  // a valid result, not a failure
  }
}

}  // namespace replay::fuzz
