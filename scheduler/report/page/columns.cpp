#include "scheduler/report/page/columns.hpp"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "scheduler/base/text/clean_text.hpp"

namespace replay::report {

using nlohmann::ordered_json;

namespace {

template <class To, class From>
bool all_fit(std::span<const From> values) {
  return std::ranges::all_of(values, [](From value) {
    const auto wide = static_cast<double>(value);
    return wide >= std::numeric_limits<To>::min() && wide <= std::numeric_limits<To>::max() && wide == std::trunc(wide);
  });
}

template <class To, class From>
std::vector<To> converted(std::span<const From> values) {
  std::vector<To> result;
  result.reserve(values.size());
  for (const From value : values) result.push_back(static_cast<To>(value));
  return result;
}

template <class Value>
ordered_json array_of(std::span<const Value> values) {
  ordered_json array = ordered_json::array();
  array.get_ref<ordered_json::array_t&>().assign(values.begin(), values.end());  // NaN is written as null
  return array;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "columns are little-endian");

ordered_json Columns::add(const char* type, std::size_t length, std::span<const std::byte> bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string& block = blocks_.emplace_back(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(block.data(), block.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    kVariant);
  block.pop_back();  // the NUL
  return {{"bin", blocks_.size() - 1}, {"type", type}, {"length", length}};
}

ordered_json Columns::add(std::span<const double> values) {
  if (form_ == Form::kArrays) return array_of(values);
  if (all_fit<std::uint8_t>(values)) return add(std::span<const std::uint8_t>{converted<std::uint8_t>(values)});
  if (all_fit<std::int32_t>(values)) return add(std::span<const std::int32_t>{converted<std::int32_t>(values)});
  return add("f64", values.size(), std::as_bytes(values));
}
ordered_json Columns::add(std::span<const std::int32_t> values) {
  if (form_ == Form::kArrays) return array_of(values);
  if (all_fit<std::uint8_t>(values)) return add(std::span<const std::uint8_t>{converted<std::uint8_t>(values)});
  return add("i32", values.size(), std::as_bytes(values));
}
ordered_json Columns::add(std::span<const std::uint8_t> values) {
  return form_ == Form::kArrays ? array_of(values) : add("u8", values.size(), std::as_bytes(values));
}

ordered_json Columns::add(std::span<const std::string> texts) {
  if (form_ == Form::kArrays) {
    ordered_json array = ordered_json::array();
    for (const std::string& text : texts) array.push_back(clean_lines(text));
    return array;
  }
  std::string all;
  std::vector<std::int32_t> offsets{0};
  for (const std::string& text : texts) {
    all += clean_lines(text);
    offsets.push_back(static_cast<std::int32_t>(all.size()));
  }
  ordered_json json = add("utf8", texts.size(), std::as_bytes(std::span{all}));
  json["offsets"] = add(std::span<const std::int32_t>{offsets});
  return json;
}

}  // namespace replay::report
