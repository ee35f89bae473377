#include "scheduler/log/record.hpp"

#include <algorithm>
#include <iterator>

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

std::string_view word_of(const What& what) {
  const Told* const told = std::get_if<Told>(&what);
  return kWords[what.index() + (told != nullptr ? told->fact.index() : 0)];
}

Tee::Tee(std::vector<Sink*> sinks) : sinks_(std::move(sinks)) {
  for (std::size_t kind = 0; kind < kKindCount; ++kind)
    std::ranges::copy_if(sinks_, std::back_inserter(by_kind_[kind]),
                         [kind](const Sink* sink) { return sink->kinds().test(kind); });
}

Kinds Tee::kinds() const {
  Kinds all;
  for (const Sink* sink : sinks_) all |= sink->kinds();
  return all;
}

void Tee::header(const Header& header) {
  for (Sink* sink : sinks_) sink->header(header);
}

void Tee::record(const Record& record) {
  for (Sink* sink : by_kind_[record.what.index()]) sink->record(record);
}

}  // namespace replay::log
