#include "scheduler/report/live/http_request.hpp"

#include <algorithm>
#include <cctype>

#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/base/text/trimmed.hpp"

namespace replay::report {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_name_of_field(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

// Takes the text in front of `mark` from `rest`; none: there is no such mark.
std::optional<std::string_view> take(std::string_view& rest, std::string_view mark) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return taken;
}

HttpRequest::Method method_of(std::string_view word) {
  if (word == "GET") return HttpRequest::Method::kGet;
  return word == "HEAD" ? HttpRequest::Method::kHead : HttpRequest::Method::kOther;
}

std::optional<HttpRequest> parse_first_line(std::string_view line) {
  const auto method = take(line, " ");
  const auto path = take(line, " ");
  if (!method || !path || !is_name_of_field(*method) || !is_printable(*path) || !path->starts_with('/'))
    return std::nullopt;
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return std::nullopt;
  return HttpRequest{method_of(*method), *path, {}};
}

}  // namespace

std::optional<std::size_t> head_length(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  return end + 4;
}

std::optional<HttpRequest> parse_request(std::string_view head) {
  const auto first = take(head, kLineEnd);
  auto request = first ? parse_first_line(*first) : std::nullopt;
  if (!request) return std::nullopt;
  bool has_host = false;
  while (const auto line = take(head, kLineEnd)) {
    if (line->empty()) break;
    std::string_view value = *line;
    const auto name = take(value, ":");
    if (!name || !is_name_of_field(*name)) return std::nullopt;  // a line that continues the one before, too
    value = trimmed(value);
    if (same_but_for_case(*name, "transfer-encoding")) return std::nullopt;
    if (same_but_for_case(*name, "content-length") && value != "0") return std::nullopt;
    if (!same_but_for_case(*name, "host")) continue;
    if (has_host || !is_printable(value)) return std::nullopt;
    has_host = true;
    request->host = value;
  }
  return has_host ? request : std::nullopt;
}

bool is_loopback_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    const std::string_view port = host.substr(colon + 1);
    if (port.size() > 5 || !std::ranges::all_of(port, [](unsigned char c) { return std::isdigit(c) != 0; }))
      return false;
    host = host.substr(0, colon);
  }
  return host == "127.0.0.1" || same_but_for_case(host, "localhost") || host == "[::1]";
}

}  // namespace replay::report
