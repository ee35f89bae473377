#include "scheduler/log/node_names.hpp"

#include <fmt/core.h>

#include <iterator>
#include <string_view>

#include "scheduler/base/text/split.hpp"

namespace replay::log {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool is_host(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

NodeNames::NodeNames(const Header& header, const Machine& machine) {
  const std::string& text = header.value("hosts");
  if (text.empty()) return;
  if (!machine.names_cores())
    throw BadRecord(fmt::format("header '#hosts': expected a machine of nodes, found {}", machine.to_text()));
  for (const std::string_view name : split(text, ' ')) {
    if (!is_host(name))
      throw BadRecord(
          fmt::format("header '#hosts': expected names of hosts with a blank between them, found '{}'", name));
    hosts_.emplace_back(name);
  }
  if (std::ssize(hosts_) != machine.nodes())
    throw BadRecord(fmt::format("header '#hosts': expected a host for each of the {} nodes of {}, found {}",
                                machine.nodes(), machine.to_text(), hosts_.size()));
}

std::string NodeNames::of(NodeId node) const {
  return hosts_.empty() ? fmt::format("node {}", static_cast<int>(node)) : hosts_[index_of(node)];
}

}  // namespace replay::log
