#include "traces/swf_writer.hpp"

#include <charconv>
#include <cstdint>

namespace replay {
namespace {

constexpr std::size_t kWriteBlock = std::size_t{64} * 1024;

template <class Number, class... Format>
void append_number(std::string& text, Number value, Format... format) {
  char digits[400];  // the longest double in fixed notation has some 310 digits
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value, format...);
  text.append(digits, end);
}

void append(std::string& text, std::int64_t value) { append_number(text, value); }
void append(std::string& text, double value) { append_number(text, value, std::chars_format::fixed); }
void append(std::string& text, Duration value) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  if (value.count() % kMicrosPerSecond == 0)
    append_number(text, value.count() / kMicrosPerSecond);
  else
    text += to_text(value);
}

}  // namespace

void append_swf_line(std::string& text, const SwfRecord& r) {
  const auto field = [&text](auto value) {
    append(text, value);
    text += ' ';
  };
  const auto count = [&field](std::int32_t value) { field(std::int64_t{value}); };
  field(r.job), field(r.submit), field(r.wait), field(r.run), count(r.allocated), field(r.average_cpu);
  field(r.used_memory), count(r.requested), field(r.requested_time), field(r.requested_memory), count(r.status);
  count(r.user), count(r.group), count(r.executable), count(r.queue), count(r.partition), field(r.preceding);
  append(text, r.think_time);
  text += '\n';
}

void SwfWriter::write(const SwfHeader& header) {
  for (const std::string& line : header.lines()) write_comment(line);
}

void SwfWriter::write(const SwfRecord& record) {
  append_swf_line(text_, record);
  flush_if_large();
}

void SwfWriter::write_comment(std::string_view line) {
  text_ += line;
  text_ += '\n';
  flush_if_large();
}

void SwfWriter::flush_if_large() {
  if (text_.size() < kWriteBlock) return;
  sink_->write(text_);
  text_.clear();
}

void SwfWriter::overwrite(const SwfHeader& header) {
  std::string lines;
  for (const std::string& line : header.lines()) lines.append(line).push_back('\n');
  finish();
  sink_->overwrite(lines);
}

void SwfWriter::finish() {
  sink_->write(text_);
  text_.clear();
  sink_->finish();
}

void SwfWriter::close() {
  finish();
  sink_->close();
}

}  // namespace replay
