// The operating system's numbers of hardware threads. A core of the machine that jobs are placed on is a CoreId;
// LocalMachine::pu_of_core says which hardware thread stands for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replay::launcher {

/// The system's number of a hardware thread ("OS index"); a type of its own, so that no process id, rank or core is
/// taken for it. Of an emulated core, which has no thread: its number on the node.
enum class PuId : std::int32_t {};

[[nodiscard]] constexpr std::int32_t number(PuId pu) { return static_cast<std::int32_t>(pu); }
/// What fmt writes for it: its number.
[[nodiscard]] constexpr std::int32_t format_as(PuId pu) { return number(pu); }

/// For sets of CPUs, which the system indexes by them.
[[nodiscard]] constexpr std::size_t index_of(PuId pu) { return static_cast<std::size_t>(pu); }

/// As the messages between daemon and agent carry them, and back.
[[nodiscard]] inline std::vector<std::int32_t> numbers(std::span<const PuId> pus) {
  std::vector<std::int32_t> found;
  found.reserve(pus.size());
  for (const PuId pu : pus) found.push_back(number(pu));
  return found;
}
[[nodiscard]] inline std::vector<PuId> pus_of(std::span<const std::int32_t> numbers) {
  std::vector<PuId> found;
  found.reserve(numbers.size());
  for (const std::int32_t number : numbers) found.push_back(PuId{number});
  return found;
}
/// Those of `count` emulated cores: 0 to `count` - 1.
[[nodiscard]] inline std::vector<PuId> emulated_pus(std::int32_t count) {
  std::vector<PuId> found;
  for (std::int32_t number = 0; number < count; ++number) found.push_back(PuId{number});
  return found;
}

}  // namespace replay::launcher
