#include "scheduler/live/turn_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::live {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{500};
constexpr std::size_t kRecordOfBefore = 1 << 20;  // bytes, about

constexpr std::array<std::string_view, 12> kNames{"a turn",
                                                  "a reading of the clock",
                                                  "a report",
                                                  "a submission",
                                                  "a cancellation",
                                                  "a stop signal",
                                                  "a refusal",
                                                  "a note",
                                                  "an answer of the policy",
                                                  "a look at a job that was put off",
                                                  "an order",
                                                  "a job that runs already"};
static_assert(kNames.size() == static_cast<std::size_t>(TurnLog::kLastKind) + 1);

std::string_view name_of(TurnLog::Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

void add_inputs_of(std::string_view record, const std::filesystem::path& file, std::vector<TurnLog::Input>& inputs) {
  try {
    for (protocol::ByteReader reader{record}; !reader.is_at_end();) {
      const auto kind = reader.take_enum(TurnLog::kLastKind, "kind of input");
      inputs.push_back({kind, reader.take_text("input")});
    }
  } catch (const protocol::ProtocolError& error) {  // whole, but not of this version
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

std::string bytes_of(TurnLog::Kind kind, std::string_view text) {
  protocol::ByteWriter writer;
  writer.put(static_cast<std::uint8_t>(kind));
  writer.put_text(text);
  return writer.bytes();
}

// A run reads the clock before anything else.
bool is_of_before(const TurnLog::Input& input) {
  using enum TurnLog::Kind;
  return input.kind == kOrder || input.kind == kExecutor || input.kind == kAdopt;
}

[[nodiscard]] std::string first_of(const std::filesystem::path& file, const std::vector<std::string>& records) {
  if (records.empty()) throw InputError(fmt::format("{}: says nothing of its run, which had not begun", file.string()));
  return records.front();
}

}  // namespace

TurnLog::TurnLog(const std::filesystem::path& file, const std::string& about,
                 std::function<void(const std::string&)> warn, std::vector<Input> before)
    : path_(file), warn_(std::move(warn)), file_(RecordFile::make(file)), about_(about), before_(std::move(before)) {
  file_->add(about_);
  for (std::size_t i = 0; i < before_.size();) {
    std::string record;
    for (; i < before_.size() && record.size() < kRecordOfBefore; ++i)
      record += bytes_of(before_[i].kind, before_[i].text);
    file_->add(record);
  }
  file_->save();
}

TurnLog::TurnLog(const std::filesystem::path& file, std::function<void(const std::string&)> warn)
    : path_(file), warn_(std::move(warn)), goes_on_(true) {
  std::vector<std::string> records;
  file_ = RecordFile::open(file, records);
  about_ = first_of(file, records);
  for (std::size_t i = 1; i < records.size(); ++i) add_inputs_of(records[i], file, past_);
  const auto begin = std::ranges::find_if_not(past_, is_of_before);
  before_.assign(std::make_move_iterator(past_.begin()), std::make_move_iterator(begin));
  past_.erase(past_.begin(), begin);
}

TurnLog::Input TurnLog::take() {
  INVARIANT(is_playing(), "no input is left");
  Input input = std::move(past_[next_++]);
  if (input.kind == Kind::kTurn) ++turns_, instant_ = input.text;
  if (input.kind == Kind::kStops) {
    const auto words = split(input.text, ' ');  // a signal is not in those of older versions
    stops_ = stops_on_disk_ = stops_before_ = parse_number<int>(words.front()).value_or(0);
    if (first_stop_ == 0 && words.size() > 1) first_stop_ = parse_number<int>(words[1]).value_or(0);
  }
  return input;
}

std::optional<std::string> TurnLog::take_if(Kind kind) {
  if (!is_playing() || next().kind != kind) return std::nullopt;
  return take().text;
}

std::int64_t TurnLog::reading(Kind kind, std::int64_t now) {
  if (!is_playing()) {
    add(kind, fmt::format("{}", now));
    return now;
  }
  if (next().kind != kind) differs(name_of(kind), name_of(next().kind));
  const std::string text = take().text;
  if (const auto number = parse_number<std::int64_t>(text)) return *number;
  differs(name_of(kind), text);
}

int TurnLog::stops(int now) {
  if (is_playing()) {
    if (next().kind != Kind::kStops) differs(name_of(Kind::kStops), name_of(next().kind));
    (void)take();
    return stops_;
  }
  stops_ = now;
  if (first_stop_ == 0) first_stop_ = stop_signal();
  add(Kind::kStops, fmt::format("{} {}", now, first_stop_));
  return now;
}

void TurnLog::add(Kind kind, std::string_view text) {
  INVARIANT(!is_playing(), "an input comes while others are played back");
  unsaved_ += bytes_of(kind, text);
}

void TurnLog::secure() {
  if (unsaved_.empty()) return;
  file_->add(std::exchange(unsaved_, {}));
  for (bool is_told = false;;) {
    try {
      file_->save();
      stops_on_disk_ = stops_;
      if (is_told) warn_(fmt::format("{}: can be written again", path_.string()));
      return;
    } catch (const InputError& error) {
      if (stops_before_ + stops_asked() > stops_on_disk_) throw StoppedWithoutDisk(error.what());
      if (!std::exchange(is_told, true)) warn_(fmt::format("{}; the run waits until it can be", error.what()));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

void TurnLog::differs(std::string_view expected, std::string_view found) const {
  throw TurnLogDiffers(
      fmt::format("{}: the run does not come out as it did: after turn {} ({} us): expected {}, found {}",
                  path_.string(), turns_, instant_, expected, found));
}

std::vector<TurnLog::Input> read_turns(const std::filesystem::path& file) {
  const std::vector<std::string> records = RecordFile::read(file);
  (void)first_of(file, records);
  std::vector<TurnLog::Input> inputs;
  for (std::size_t i = 1; i < records.size(); ++i) add_inputs_of(records[i], file, inputs);
  return inputs;
}

}  // namespace replay::live
