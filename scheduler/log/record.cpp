#include "scheduler/log/record.hpp"

namespace replay::log {

void Header::set(std::string name, std::string value) {
  for (auto& [known, old] : entries) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  entries.emplace_back(std::move(name), std::move(value));
}

const std::string& Header::value(std::string_view name) const {
  static const std::string kAbsent;
  for (const auto& [known, value] : entries) {
    if (known == name) return value;
  }
  return kAbsent;
}

void Tee::header(const Header& header) {
  for (Sink* sink : sinks_) sink->header(header);
}

void Tee::record(const Record& record) {
  for (Sink* sink : sinks_) sink->record(record);
}

}  // namespace replay::log
