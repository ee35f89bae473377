#include "vmlib/mode.hpp"

#include <string_view>

namespace replay::vm {

std::optional<replay_vm_mode> parse_mode(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view word = text;
  if (word == "progress") return REPLAY_VM_MODE_PROGRESS;
  if (word == "test-loop") return REPLAY_VM_MODE_TEST_LOOP;
  if (word == "none") return REPLAY_VM_MODE_NONE;
  return std::nullopt;
}

replay_vm_mode best_mode(std::optional<replay_vm_mode> wanted, const Means& means) {
  const auto may_be = [&](replay_vm_mode mode) { return !wanted || *wanted == mode; };
  if (may_be(REPLAY_VM_MODE_PROGRESS) && means.has_progress_hook) return REPLAY_VM_MODE_PROGRESS;
  const bool can_loop = means.has_nonblocking_calls && !means.is_fortran08;
  if (may_be(REPLAY_VM_MODE_TEST_LOOP) && can_loop) return REPLAY_VM_MODE_TEST_LOOP;
  return REPLAY_VM_MODE_NONE;
}

}  // namespace replay::vm
