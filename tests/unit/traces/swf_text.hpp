// Builders of logs as text: a line is an ordinary job; a test sets only the fields that matter to it.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/memory_bytes.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_writer.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {

/// Job `number`, submitted at 10 x number, 100 s on 4 processors, 200 s requested; `{4, "-1"}` sets field 4.
inline std::string job_line(int number, std::initializer_list<std::pair<int, std::string_view>> changes = {}) {
  std::array<std::string, 18> fields = {std::to_string(number),
                                        std::to_string(10 * number),
                                        "0",
                                        "100",
                                        "4",
                                        "-1",
                                        "-1",
                                        "4",
                                        "200",
                                        "-1",
                                        "1",
                                        "7",
                                        "8",
                                        "9",
                                        "2",
                                        "-1",
                                        "-1",
                                        "-1"};
  for (const auto& [field, text] : changes) fields.at(static_cast<std::size_t>(field - 1)) = text;
  std::string line;
  for (const std::string& field : fields) line += line.empty() ? field : " " + field;
  return line + "\n";
}

inline std::vector<SwfRecord> read_records(std::string_view text, SwfReaderOptions options = {}) {
  SwfReader reader(memory_source(text, "log.swf"), options);
  std::vector<SwfRecord> records;
  for (SwfRecord record; reader.next(record);) records.push_back(record);
  return records;
}

/// The lines of these records, and back: read_records().
inline std::string lines_of(std::span<const SwfRecord> records) {
  std::string text;
  SwfWriter writer(string_sink(text));
  for (const SwfRecord& record : records) writer.write(record);
  writer.close();
  return text;
}

inline LoadedWorkload load(std::string_view text, const CleaningRules& rules = {}) {
  return read_workload(memory_source(text, "log.swf"), rules);
}

/// The message of the exception that `action` throws, or "nothing was thrown".
template <class Error, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace replay::test
