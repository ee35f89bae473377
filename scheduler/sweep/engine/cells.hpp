// Cells: pieces of work that depend on nothing but their parameters, such as simulations of a study. They are numbered, and what
// is known of one follows from its number, so that a million of them take no memory.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay::sweep {

/// The first 64 bits of a hash of what the cell computes. Among a million cells two have the same with a probability of 3e-8.
using CellId = std::uint64_t;

/// 16 hexadecimal digits.
[[nodiscard]] inline std::string id_text(CellId id) { return fmt::format("{:016x}", id); }
/// Nothing: not such digits.
[[nodiscard]] inline std::optional<CellId> parse_id(std::string_view text) {
  CellId id = 0;
  if (text.size() != 16) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{id} : std::nullopt;
}

/// Of a cell, by name. NaN: it has none of that.
using Results = std::map<std::string, double, std::less<>>;

/// What may go well at another time or on another computer: a full disk, a process that was killed. Exit status 75.
class TryAgain : public InputError {
 public:
  using InputError::InputError;
};
inline constexpr int kTryAgainStatus = 75;  ///< EX_TEMPFAIL of sysexits.h

class Cells {
 public:
  virtual ~Cells() = default;
  /// The numbers are 0 .. count() - 1.
  [[nodiscard]] virtual std::size_t count() const = 0;
  /// Nothing: the number is left out.
  [[nodiscard]] virtual std::optional<CellId> id(std::size_t cell) const = 0;
  /// Its parameters, as a JSON object.
  [[nodiscard]] virtual std::string parameters(std::size_t cell) const = 0;
  /// In a process of its own, as Compute says.
  [[nodiscard]] virtual Results compute(std::size_t cell, const std::filesystem::path& scratch) const = 0;
};

}  // namespace replay::sweep
