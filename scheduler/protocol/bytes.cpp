#include "scheduler/protocol/bytes.hpp"

#include <cmath>

namespace replay::protocol {

std::string_view ByteReader::take_bytes(std::size_t count, std::string_view field) {
  if (count > rest_.size())
    throw ProtocolError(fmt::format("{}: expected {} bytes, found {} before the end", field, count, rest_.size()));
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

double ByteReader::take_double(std::string_view field) {
  const auto value = std::bit_cast<double>(take<std::uint64_t>(field));
  if (!std::isfinite(value)) throw ProtocolError(fmt::format("{}: expected a finite number, found {}", field, value));
  return value;
}

bool ByteReader::take_bool(std::string_view field) {
  const auto value = take<std::uint8_t>(field);
  if (value > 1) throw ProtocolError(fmt::format("{}: expected 0 or 1, found {}", field, value));
  return value == 1;
}

std::string ByteReader::take_text(std::string_view field) {
  const auto length = take<std::uint32_t>(field);
  return std::string{take_bytes(length, field)};
}

std::size_t ByteReader::take_count(std::size_t least_bytes, std::string_view field) {
  const auto count = take<std::uint32_t>(field);
  if (count > rest_.size() / least_bytes)
    throw ProtocolError(fmt::format("{}: {} elements need at least {} bytes each, found {} bytes", field, count,
                                    least_bytes, rest_.size()));
  return count;
}

void ByteReader::expect_end() const {
  if (!rest_.empty())
    throw ProtocolError(fmt::format("expected the end of the message, found {} more bytes", rest_.size()));
}

}  // namespace replay::protocol
