// What a field of a text may hold beyond what its type says: values that `holds`. Of others the reader's message says
// what was expected.
#pragma once

#include <string_view>

namespace replay {

template <class Holds>
struct FieldRule {
  std::string_view expected;
  Holds holds;
};
template <class Holds>
FieldRule(std::string_view, Holds) -> FieldRule<Holds>;  // clang 14 makes none of aggregates

}  // namespace replay
