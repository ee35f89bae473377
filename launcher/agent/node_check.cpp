#include "launcher/agent/node_check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/sha256.hpp"
#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {
namespace {

constexpr std::size_t kLongestWord = 64;

void read_word(protocol::NodeChecked& node, const std::string& file) {
  const UniqueFd fd{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  node.word.resize(kLongestWord);
  const ssize_t got = fd.is_open() ? ::read(fd.get(), node.word.data(), node.word.size()) : -1;
  if (got < 0) node.unreadable = std::strerror(errno);
  node.word.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
}

std::string digest_text(const std::filesystem::path& library) {
  if (library.empty()) return {};
  try {
    return digest_of(library).sha256;
  } catch (const InputError&) {  // each job's start says so
    return {};
  }
}

}  // namespace

protocol::NodeChecked check_node_here(const protocol::CheckNode& order, const AgentOptions& options) {
  protocol::NodeChecked node;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  node.clock_us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  read_word(node, order.file);
  for (const std::string& program : order.programs)
    if (!find_program(program)) node.missing.push_back(program);
  node.mpi = options.mpi;
  node.vmlib = digest_text(options.vmlib);
  node.notes = options.notes;
  node.turn_us = options.turn_of_jobs().count();
  return node;
}

}  // namespace replay::launcher
