// Counts of different things are of types that do not mix: a count of processes is not taken for one of cores, though
// both are plain 32-bit numbers at run time. A count comes from a number and is used as one without a word; no language
// rule converts twice, so that from one kind to another there is no way but a function that says what it assumes
// (cores_needed() and processes_on() of job.hpp).
#pragma once

#include <charconv>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace replay {

template <class Kind>
class Count {
 public:
  constexpr Count() = default;
  constexpr Count(std::int32_t number) : number_(number) {}  // NOLINT(google-explicit-constructor): see above
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr explicit Count(Number number) : number_(static_cast<std::int32_t>(number)) {}
  template <class Other>
  Count(Count<Other>) = delete;
  constexpr operator std::int32_t() const { return number_; }  // NOLINT(google-explicit-constructor): see above

  constexpr Count& operator+=(Count by) { return *this = *this + by; }
  constexpr Count& operator-=(Count by) { return *this = *this - by; }
  constexpr Count& operator*=(std::int32_t by) { return *this = *this * by; }
  constexpr Count& operator/=(std::int32_t by) { return *this = *this / by; }
  constexpr Count& operator++() { return *this += 1; }
  constexpr Count& operator--() { return *this -= 1; }
  constexpr Count operator++(int) { return ++*this - 1; }
  constexpr Count operator--(int) { return --*this + 1; }

 private:
  std::int32_t number_ = 0;
};

template <class Kind>
[[nodiscard]] constexpr std::int32_t number(Count<Kind> count) {
  return count;
}
/// What fmt writes for it: its number.
template <class Kind>
[[nodiscard]] constexpr std::int32_t format_as(Count<Kind> count) {
  return count;
}
/// What parse_number() reads: a number that it can hold.
template <class Kind>
std::from_chars_result from_chars(const char* first, const char* last, Count<Kind>& count) {
  std::int32_t number = count;
  const std::from_chars_result result = std::from_chars(first, last, number);
  count = number;
  return result;
}
/// What nlohmann-json writes for it.
template <class Json, class Kind>
void to_json(Json& json, Count<Kind> count) {
  json = number(count);
}

/// Numbers that leave a count what it is. With others (64 bits, unsigned, floating-point) a count is the number it
/// holds, and so it is in a comparison and in a quotient of counts.
template <class T>
concept SmallNumber = std::integral<T> && std::same_as<std::common_type_t<T, std::int32_t>, std::int32_t>;

// clang-format off
template <class Kind> constexpr Count<Kind> operator-(Count<Kind> a) { return -number(a); }
template <class Kind> constexpr Count<Kind> operator+(Count<Kind> a, Count<Kind> b) { return number(a) + number(b); }
template <class Kind> constexpr Count<Kind> operator-(Count<Kind> a, Count<Kind> b) { return number(a) - number(b); }
template <class Kind> constexpr Count<Kind> operator%(Count<Kind> a, Count<Kind> b) { return number(a) % number(b); }
template <class Kind> constexpr Count<Kind> operator+(Count<Kind> a, SmallNumber auto b) { return number(a) + b; }
template <class Kind> constexpr Count<Kind> operator-(Count<Kind> a, SmallNumber auto b) { return number(a) - b; }
template <class Kind> constexpr Count<Kind> operator*(Count<Kind> a, SmallNumber auto b) { return number(a) * b; }
template <class Kind> constexpr Count<Kind> operator/(Count<Kind> a, SmallNumber auto b) { return number(a) / b; }
template <class Kind> constexpr Count<Kind> operator%(Count<Kind> a, SmallNumber auto b) { return number(a) % b; }
template <class Kind> constexpr Count<Kind> operator+(SmallNumber auto a, Count<Kind> b) { return a + number(b); }
template <class Kind> constexpr Count<Kind> operator-(SmallNumber auto a, Count<Kind> b) { return a - number(b); }
template <class Kind> constexpr Count<Kind> operator*(SmallNumber auto a, Count<Kind> b) { return a * number(b); }

// Without a common unit there is no sum and no order.
template <class A, class B> requires(!std::same_as<A, B>) void operator+(Count<A>, Count<B>) = delete;
template <class A, class B> requires(!std::same_as<A, B>) void operator-(Count<A>, Count<B>) = delete;
template <class A, class B> requires(!std::same_as<A, B>) void operator%(Count<A>, Count<B>) = delete;
template <class A, class B> requires(!std::same_as<A, B>) bool operator==(Count<A>, Count<B>) = delete;
template <class A, class B> requires(!std::same_as<A, B>) std::strong_ordering operator<=>(Count<A>, Count<B>) = delete;
// clang-format on

}  // namespace replay

template <class Kind>
struct std::numeric_limits<replay::Count<Kind>> : std::numeric_limits<std::int32_t> {};
