// Fuzz target of the heads of HTTP requests that the live page's server reads. What is taken has a path and a host that can be
// used as they are, and does not change with a field that means nothing.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "scheduler/report/live/http_request.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {

void http_request(std::string_view bytes) {
  const auto length = report::head_length(bytes);
  if (!length) return;
  check(*length <= bytes.size() && bytes.substr(0, *length).ends_with("\r\n\r\n"));
  const std::string_view head = bytes.substr(0, *length);
  const auto request = report::parse_request(head);
  if (!request) return;
  const auto is_word = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  };
  check(request->path.starts_with('/') && is_word(request->path) && is_word(request->host));
  if (report::is_loopback_name(request->host))
    check(std::ranges::all_of(request->host, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == ':' || c == '[' || c == ']';
    }));
  const std::string more = std::string{head.substr(0, head.size() - 2)} + "X-More: of this\r\n\r\n";
  const auto same = report::parse_request(more);
  check(same && same->method == request->method && same->path == request->path && same->host == request->host);
}

}  // namespace replay::fuzz
