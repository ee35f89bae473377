// Fuzz target of the JSON reader: arbitrary bytes give a JsonError or a value that can be copied, compared and written,
// and reads back the same.
#include <string>
#include <string_view>

#include "scheduler/base/json/read_json.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

template <class Json>
void read_write_read(std::string_view bytes) {
  try {
    const Json value = parse_json<Json>(bytes);
    const Json copy = value;
    check(copy == value);
    const std::string text = copy.dump(-1, ' ', false, Json::error_handler_t::replace);
    check(parse_json<Json>(text).dump() == text);
  } catch (const JsonError&) {  // a valid result, not a failure
  }
}

}  // namespace

void json(std::string_view bytes) {
  read_write_read<nlohmann::json>(bytes);
  read_write_read<nlohmann::ordered_json>(bytes);
}

}  // namespace replay::fuzz
