#include "launcher/bootstrap/hosts_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "launcher/os/topology.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

constexpr std::array<std::string_view, 5> kWords{"slots", "cores", "emulated", "iface", "agent"};
constexpr int kMostCores = REPLAY_VM_MAX_CORES;
constexpr std::size_t kLongestName = 253;  // of DNS
constexpr std::size_t kLongestList = 1024;
constexpr std::size_t kShown = 80;

/// Only letters, digits and these: what no shell changes, and no program takes for an option.
bool is_name(std::string_view text, std::string_view further) {
  return !text.empty() && text.size() <= kLongestName && text.front() != '-' &&
         std::ranges::all_of(text, [further](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  further.find(c) != std::string_view::npos;
         });
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  constexpr std::string_view kBlanks = " \t";
  for (line = line.substr(0, line.find('#')); !line.empty();) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::string_view field = line.substr(0, line.find_first_of(kBlanks));
    if (!field.empty()) fields.push_back(field);
    line.remove_prefix(field.size());
  }
  return fields;
}

std::optional<EmulatedCores> parse_emulated(std::string_view text) {
  const auto counts = split(text, 'x');
  if (counts.size() != 2) return std::nullopt;
  const auto packages = parse_number(counts[0], 1, kMostCores), cores = parse_number(counts[1], 1, kMostCores);
  if (!packages || !cores || *packages * *cores > kMostCores) return std::nullopt;
  return EmulatedCores{*packages, *cores};
}

/// Empty: it is no list.
std::vector<PuId> cores_of(std::string_view text) {
  if (text.size() > kLongestList) return {};
  try {
    return parse_core_list(text);
  } catch (const InputError&) {
    return {};
  }
}

class HostsReader {
 public:
  explicit HostsReader(std::unique_ptr<ByteSource> source, bool are_words = false)
      : lines_(std::move(source)), are_words_(are_words) {}

  std::vector<Host> read() {
    while (const auto line = lines_.next()) {
      if (line->too_long) fail(fmt::format("expected at most {} characters, found more", kLongestLine));
      if (const auto fields = fields_of(line->text); !fields.empty()) read_line(fields);
    }
    if (hosts_.empty())
      throw InputError(
          fmt::format("{}: expected a host on a line, such as 'node1 cores=0-3', found none", lines_.name()));
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      if (counts_slots_ && marks_[i].plain_slots > 0) hosts_[i].slots = marks_[i].plain_slots;
    return std::move(hosts_);
  }

 private:
  struct Mark {
    std::size_t line = 0;
    int plain_slots = 0;  ///< of lines HOST and HOST:N; 0: it has words of its own
  };

  void read_line(const std::vector<std::string_view>& fields) {
    const std::size_t colon = fields[0].find(':');
    const std::string_view name = fields[0].substr(0, colon);
    if (!is_host_name(name))
      fail(1, "host", "a name or an IPv4 address of letters, digits, '.', '_' and '-', and no '-' in front", name);
    int slots = 1;
    if (colon != std::string_view::npos) {
      const std::string_view count = fields[0].substr(colon + 1);
      slots = slots_of(1, "slots", count);
      if (fields.size() > 1)
        fail(2, "word", fmt::format("nothing behind HOST:{0}, or slots={0} for it", count), fields[1]);
      counts_slots_ = true;
    }
    const auto [place, is_new] = places_.emplace(name, hosts_.size());
    if (is_new) return add(fields, slots);
    Mark& first = marks_[place->second];
    if (first.plain_slots == 0 || fields.size() > 1)
      fail(1, "host", fmt::format("one line for a host with words of its own; line {} is of the same host", first.line),
           name);
    first.plain_slots += slots;
    counts_slots_ = true;
    if (first.plain_slots > kMostCores)
      fail(1, "host", fmt::format("at most {} slots of a host", kMostCores), fmt::format("{}", first.plain_slots));
  }

  void add(const std::vector<std::string_view>& fields, int slots) {
    if (hosts_.size() == kMostHosts) fail(fmt::format("expected at most {} hosts, found another one", kMostHosts));
    Host& host = hosts_.emplace_back();
    host.host = fields[0].substr(0, fields[0].find(':'));
    marks_.push_back({lines_.number(), fields.size() > 1 ? 0 : slots});
    std::vector<std::string_view> given;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const std::size_t equals = fields[i].find('=');
      const std::string_view word = fields[i].substr(0, equals);
      const bool is_refused = are_words_ && word == "agent";  // its agents are started
      if (equals == std::string_view::npos || is_refused || std::ranges::find(kWords, word) == kWords.end())
        fail(i + 1, "word",
             fmt::format("slots=N, cores=LIST, emulated=PACKAGESxCORES{}{}",
                         are_words_ ? " or iface=NAME" : ", iface=NAME or agent=PORT", is_refused ? "" : hint(word)),
             fields[i]);
      if (std::ranges::find(given, word) != given.end()) fail(i + 1, word, "each word once", fields[i]);
      const auto other = std::ranges::find_if(given, [&](std::string_view before) { return exclude(before, word); });
      if (other != given.end()) fail(i + 1, word, fmt::format("none beside {}=", *other), fields[i]);
      given.push_back(word);
      take(host, i + 1, word, fields[i].substr(equals + 1));
    }
  }

  /// "; did you mean 'slots'?", or nothing.
  static std::string hint(std::string_view word) {
    const std::string_view near = nearest(word, kWords);
    return near.empty() ? "" : fmt::format("; did you mean '{}='?", near);
  }

  /// One of them says which cores; an agent that runs already has its own.
  static bool exclude(std::string_view one, std::string_view other) { return one != "iface" && other != "iface"; }

  void take(Host& host, std::size_t field, std::string_view word, std::string_view value) {
    if (word == "slots") {
      host.slots = slots_of(field, word, value);
    } else if (word == "cores") {
      host.cores = cores_of(value);
      if (host.cores.empty()) fail(field, word, "OS indices such as 0-3,5, each once", value);
    } else if (word == "emulated") {
      host.emulated = parse_emulated(value);
      if (!host.emulated)
        fail(field, word, fmt::format("PACKAGESxCORES with at most {} cores, such as 2x4", kMostCores), value);
    } else if (word == "iface") {
      if (!is_name(value, "._-:")) fail(field, word, "the name of a network device, such as eth0", value);
      host.interface = value;
    } else {
      const auto port = parse_number<std::uint16_t>(value, 1, UINT16_MAX);
      if (!port) fail(field, word, "the port of an agent, 1 to 65535", value);
      host.agent_port = *port;
    }
  }

  [[nodiscard]] int slots_of(std::size_t field, std::string_view word, std::string_view text) const {
    const auto count = parse_number(text, 1, kMostCores);
    if (!count) fail(field, word, fmt::format("a count from 1 to {}", kMostCores), text);
    return *count;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    if (are_words_) throw InputError(fmt::format("{}: {}", lines_.name(), problem));
    throw InputError(lines_.name(), lines_.number(), problem);
  }
  [[noreturn]] void fail(std::size_t field, std::string_view name, std::string_view expected,
                         std::string_view found) const {
    fail(fmt::format("{}: expected {}, found '{}'",
                     are_words_ ? std::string{name} : fmt::format("field {} ({})", field, name), expected,
                     visible_text(found, kShown)));
  }

  LineReader lines_;
  bool are_words_;  // of a command line: they have no line and no field
  std::vector<Host> hosts_;
  std::vector<Mark> marks_;                                 // of hosts_
  std::map<std::string, std::size_t, std::less<>> places_;  // in hosts_, by name
  bool counts_slots_ = false;                               // a host repeats, or stands as HOST:N
};

}  // namespace

bool is_host_name(std::string_view text) { return is_name(text, "._-"); }

std::vector<Host> read_hosts(std::unique_ptr<ByteSource> source) { return HostsReader{std::move(source)}.read(); }

std::vector<Host> read_hosts_of_job(std::unique_ptr<ByteSource> source) {
  return HostsReader{std::move(source), true}.read();
}

}  // namespace replay::launcher
