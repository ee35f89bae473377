// The head of an HTTP request, read strictly: the server answers browsers on this machine and needs of a request its method,
// its path and the host that it is meant for. Everything else is skipped, and a body is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace replay::report {

struct HttpRequest {
  enum class Method : std::uint8_t { kGet, kHead, kOther };
  Method method = Method::kOther;
  std::string_view path;  ///< as sent, with its query; these two point into the head
  std::string_view host;  ///< with its port
};

/// The length of the head at the begin of `bytes`, its blank line included; none: it has not ended.
[[nodiscard]] std::optional<std::size_t> head_length(std::string_view bytes);

/// None: it is no request of HTTP/1, has no host or several, or has a body. `head`: as long as head_length() says.
[[nodiscard]] std::optional<HttpRequest> parse_request(std::string_view head);

/// Whether a Host field, with or without a port, is a name of this machine's loopback. A page of another site whose name leads
/// to 127.0.0.1 has its own name there.
[[nodiscard]] bool is_loopback_name(std::string_view host);

}  // namespace replay::report
