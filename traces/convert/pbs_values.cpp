#include "traces/convert/pbs_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/convert/accounting.hpp"
#include "traces/swf_record.hpp"

namespace replay::pbs {
namespace {

using accounting::kMostProcessors;

std::optional<std::int64_t> count(std::string_view text) {
  return parse_number<std::int64_t>(text, 0, kMostProcessors);
}

std::string_view without_brackets(std::string_view text) {
  while (text.starts_with('(')) text.remove_prefix(1);
  while (text.ends_with(')')) text.remove_suffix(1);
  return text;
}

// The number behind `key` among parts such as "ncpus=8"; `otherwise` if the key is not there.
std::optional<std::int64_t> value_of(std::string_view parts, std::string_view key, std::int64_t otherwise) {
  std::optional<std::int64_t> value = otherwise;
  for_each_part(parts, ':', [&](std::size_t /*index*/, std::string_view part) {
    if (part.starts_with(key) && part.substr(key.size()).starts_with('=')) value = count(part.substr(key.size() + 1));
  });
  return value;
}

// "3", "0-3" or "1*8": an index, a range of them, an index with its count.
std::optional<std::int64_t> processors_of_slots(std::string_view slots) {
  if (const std::size_t star = slots.find('*'); star != std::string_view::npos) return count(slots.substr(star + 1));
  const std::size_t dash = slots.find('-');
  const auto first = count(slots.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : count(slots.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return *last - *first + 1;
}

// Adds `of` of each part; nothing where one is malformed.
template <class Of>
std::optional<std::int64_t> sum_of(std::string_view text, char separator, Of of) {
  std::int64_t sum = 0;
  bool is_right = true;
  for_each_part(text, separator, [&](std::size_t /*index*/, std::string_view part) {
    const std::optional<std::int64_t> summand = of(part);
    is_right = is_right && summand && *summand <= kMostProcessors - sum;
    if (is_right) sum += *summand;
  });
  return is_right ? std::optional{sum} : std::nullopt;
}

}  // namespace

std::optional<Duration> read_duration(std::string_view text) {
  constexpr int kMostParts = 3;
  Duration sum{};
  int parts = 0;
  bool is_right = true;
  const std::size_t last = text.rfind(':');
  if (last != std::string_view::npos) {
    for_each_part(text.substr(0, last), ':', [&](std::size_t /*index*/, std::string_view part) {
      const auto value = parse_number<std::int64_t>(part, 0, kMostSwfRunSeconds / 60);
      is_right = is_right && value && ++parts < kMostParts;
      if (is_right) sum = (sum + std::chrono::seconds{*value}) * 60;
    });
    text.remove_prefix(last + 1);
  }
  const auto seconds = parse_seconds(text);
  if (!is_right || !seconds || *seconds < Duration::zero()) return std::nullopt;
  sum += *seconds;
  return sum <= std::chrono::seconds{kMostSwfRunSeconds} ? std::optional{sum} : std::nullopt;
}

std::optional<double> read_memory(std::string_view text) {
  static constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>({{"kb", 1},
                                                                                     {"mb", 1024},
                                                                                     {"gb", 1048576},
                                                                                     {"tb", 1073741824},
                                                                                     {"pb", 1099511627776},
                                                                                     {"kw", 8},
                                                                                     {"mw", 8 * 1024},
                                                                                     {"gw", 8 * 1048576},
                                                                                     {"tw", 8 * 1073741824.0},
                                                                                     {"b", 1.0 / 1024},
                                                                                     {"w", 8.0 / 1024}});
  double unit = 1.0 / 1024;
  for (const auto& [name, kilobytes] : kUnits)
    if (text.ends_with(name)) {
      unit = kilobytes;
      text.remove_suffix(name.size());
      break;
    }
  const auto number = parse_finite(text);
  if (!number || *number < 0 || *number * unit > accounting::kMostKilobytes) return std::nullopt;
  return *number * unit;
}

std::optional<std::int64_t> processors_of_vnodes(std::string_view text) {
  return sum_of(text, '+', [](std::string_view vnode) { return value_of(without_brackets(vnode), "ncpus", 0); });
}

std::optional<std::int64_t> processors_of_hosts(std::string_view text) {
  return sum_of(text, '+', [](std::string_view host) {
    const std::size_t slash = host.find('/');
    if (slash == std::string_view::npos) return std::optional<std::int64_t>{1};
    return sum_of(host.substr(slash + 1), ',', processors_of_slots);
  });
}

std::optional<std::int64_t> processors_of_request(std::string_view text) {
  text = text.substr(0, text.find('#'));  // "#shared" behind TORQUE's nodes
  return sum_of(text, '+', [](std::string_view chunk) -> std::optional<std::int64_t> {
    const std::int64_t copies = count(chunk.substr(0, chunk.find(':'))).value_or(1);  // else a resource, or a host
    const auto ncpus = value_of(chunk, "ncpus", 1), ppn = value_of(chunk, "ppn", 1);
    if (!ncpus || !ppn) return std::nullopt;
    return copies * std::max(*ncpus, *ppn);
  });
}

}  // namespace replay::pbs
