// Core and node numbers of a machine, each a type of its own: neither is taken for the other, for a count of cores, or
// for a hardware thread of the operating system. Core numbers move by a count, as iterators do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/model/units.hpp"

namespace replay {

/// A core's index in its machine, from 0, nodes first: node 0's cores, then node 1's.
enum class CoreId : std::int32_t {};
/// A node's index in its machine, from 0.
enum class NodeId : std::int32_t {};

[[nodiscard]] constexpr std::int32_t number(CoreId core) { return static_cast<std::int32_t>(core); }
[[nodiscard]] constexpr std::int32_t number(NodeId node) { return static_cast<std::int32_t>(node); }
/// What fmt writes for it: its number.
[[nodiscard]] constexpr std::int32_t format_as(CoreId core) { return number(core); }
[[nodiscard]] constexpr std::int32_t format_as(NodeId node) { return number(node); }

/// Its place in an array with one entry for each core (or node). Beyond the end of any array for a negative number.
[[nodiscard]] constexpr std::size_t index_of(CoreId core) { return static_cast<std::size_t>(core); }
[[nodiscard]] constexpr std::size_t index_of(NodeId node) { return static_cast<std::size_t>(node); }

[[nodiscard]] constexpr CoreId next(CoreId core, CoreCount by = 1) { return CoreId{number(core) + number(by)}; }
[[nodiscard]] constexpr CoreId prev(CoreId core, CoreCount by = 1) { return CoreId{number(core) - number(by)}; }

/// The cores from `first` to `last`, both included, for loops over them. Empty if `last` is below `first`.
struct CoreRange {
  CoreId first;
  CoreId last;
  bool operator==(const CoreRange&) const = default;

  [[nodiscard]] constexpr CoreCount size() const { return number(last) - number(first) + 1; }
  [[nodiscard]] constexpr bool contains(CoreId core) const { return first <= core && core <= last; }

  class Iterator {
   public:
    constexpr explicit Iterator(std::uint32_t at) : at_(at) {}
    constexpr CoreId operator*() const { return static_cast<CoreId>(at_); }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    std::uint32_t at_;  // unsigned: the end behind the highest core number there is does not overflow
  };
  [[nodiscard]] constexpr Iterator begin() const { return Iterator{static_cast<std::uint32_t>(first)}; }
  [[nodiscard]] constexpr Iterator end() const { return Iterator{static_cast<std::uint32_t>(last) + 1}; }
};

/// Cores 0 to `count` - 1.
[[nodiscard]] constexpr CoreRange first_cores(CoreCount count) { return {CoreId{0}, CoreId{number(count) - 1}}; }

}  // namespace replay
