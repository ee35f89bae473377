// Values that text shows, and options read, as a whole number.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace replay {

/// An integer, or a type that holds one and converts to it (model/count.hpp).
template <class T>
concept WholeNumber = std::integral<T> ||(std::is_class_v<T>&& std::is_convertible_v<T, std::int64_t>);

}  // namespace replay
