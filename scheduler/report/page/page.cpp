#include "scheduler/report/page/page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/report/draw/markup.hpp"
#include "scheduler/report/page/assets.hpp"
#include "scheduler/report/page/columns.hpp"
#include "scheduler/report/page/run_json.hpp"

namespace replay::report {
namespace {

using nlohmann::ordered_json;

// As text of a script element: no '<', so that no name in it can end the element.
std::string script_text(const ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) c == '<' ? safe.append("\\u003c") : safe.append(1, c);
  return safe;
}

// The head up to the data, and from there on.
struct Head {
  std::string before, after;
};

Head head_of(std::string_view title, bool live) {
  std::string head{kPageAssets.head};
  const auto place = [&head](std::string_view word) {
    const std::size_t at = head.find(word);
    INVARIANT(at != std::string::npos, "page.html has no {}", word);
    return at;
  };
  const std::size_t data = place("@DATA@");
  Head parts{head.substr(0, data), head.substr(data + 6)};
  head = std::move(parts.before);
  head.replace(place("@CONNECT@"), 9, live ? "'self'" : "'none'");
  head.replace(place("@TITLE@"), 7, escaped(clean_line(title)));  // last: it may hold any text
  parts.before = std::move(head);
  return parts;
}

ordered_json difference_json(const PageDifference& difference, Columns& columns) {
  ordered_json json = {{"run", difference.run}, {"against", difference.against}, {"tolerance", difference.tolerance}};
  json["first"] = nullptr;
  if (difference.parts) {
    json["first"] = {{"at", difference.at}, {"text", clean_lines(difference.first)}};
    if (difference.job >= 0) json["first"]["job"] = difference.job;
  }
  json["text"] = clean_lines(difference.text);
  json["remarks"] = ordered_json::array();
  for (const std::string& remark : difference.remarks) json["remarks"].push_back(clean_line(remark));
  json["jobs"] = columns.add(std::span<const std::int32_t>{difference.jobs});
  json["wait_difference"] = columns.add(std::span<const double>{difference.wait_difference});
  return json;
}

ordered_json page_json(std::string_view title) {
  return {{"format", 1},   {"title", clean_line(title)},    {"program", "replay " REPLAY_VERSION},
          {"live", false}, {"runs", ordered_json::array()}, {"differences", ordered_json::array()}};
}

std::string data_element(const ordered_json& json) {
  return fmt::format("<script type=\"application/json\" id=\"replay-data\">{}</script>\n", script_text(json));
}

}  // namespace

void write_page(ByteSink& out, std::string_view title, std::span<const RunData> runs,
                std::span<const PageDifference> differences) {
  Columns columns;
  ordered_json json = page_json(title);
  for (const RunData& run : runs) json["runs"].push_back(run_json(run, columns));
  for (const PageDifference& difference : differences)
    json["differences"].push_back(difference_json(difference, columns));
  const Head head = head_of(title, false);
  out.write(head.before);
  out.write(data_element(json));
  for (std::size_t i = 0; i < columns.blocks().size(); ++i) {
    out.write(fmt::format("<script type=\"application/octet-stream\" id=\"replay-bin-{}\">", i));
    out.write(columns.blocks()[i]);
    out.write("</script>\n");
  }
  out.write(head.after);
  out.write(kPageAssets.script);
  out.write(kPageAssets.tail);
}

std::string live_page(std::string_view title, std::string_view events) {
  ordered_json json = page_json(title);
  json["live"] = {{"events", events}};
  const Head head = head_of(title, true);
  std::string page = head.before + data_element(json) + head.after;
  return page.append(kPageAssets.script).append(kPageAssets.tail);
}

}  // namespace replay::report
