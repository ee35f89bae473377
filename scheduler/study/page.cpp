#include "scheduler/study/page.hpp"

#include <fmt/format.h>

#include "scheduler/report/draw/markup.hpp"
#include "scheduler/report/draw/svg_canvas.hpp"

namespace replay::study {
namespace {

using report::escaped;

constexpr double kWidth = 1180, kGap = 30, kPanelHeight = 320;
constexpr double kHalf = (kWidth - kGap) / 2;

constexpr std::string_view kStyle =
    "body{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;color:#222;max-width:1180px;margin:24px auto;"
    "padding:0 16px;line-height:1.4}\n"
    "h1{font-size:26px}h2{font-size:20px;margin-top:36px}h3{font-size:16px}\n"
    "table{border-collapse:collapse;font-size:14px;margin:8px 0}\n"
    "th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #ddd}\n"
    "th{border-bottom:2px solid #444;vertical-align:bottom}\n"
    "th:first-child,td:first-child{text-align:left;min-width:8em}\n"
    ".checks td,.checks th{text-align:left;vertical-align:top}\n"
    ".paper{color:#777}.outside{background:#fbe3d6}.fails{color:#a33a00}.remark{font-size:13px;color:#444;margin:2px "
    "0}\n"
    ".wide{overflow-x:auto}svg{max-width:100%;height:auto;display:block}\n";

void add_paragraphs(std::string& html, const std::vector<std::string>& paragraphs, std::string_view kind = {}) {
  for (const std::string& text : paragraphs)
    html +=
        fmt::format("<p{}>{}</p>\n", kind.empty() ? std::string{} : fmt::format(" class=\"{}\"", kind), escaped(text));
}

void add_table(std::string& html, const Table& table) {
  html += fmt::format("<h3>{}</h3>\n", escaped(table.title));
  html += "<div class=\"wide\"><table>\n";
  const auto lines = cells_of(table);
  for (std::size_t l = 0; l < lines.size(); ++l) {
    html += "<tr>";
    for (std::size_t c = 0; c < lines[l].size(); ++c) {
      const std::string& cell = lines[l][c];
      const bool is_paper = lines[0][c] == "paper";
      const std::string_view kind = l > 0 && c > 0 && cell.ends_with('*') ? " class=\"outside\""
                                    : is_paper                            ? " class=\"paper\""
                                                                          : "";
      html += fmt::format("<{0}{1}>{2}</{0}>", l == 0 ? "th" : "td", kind, escaped(cell));
    }
    html += "</tr>\n";
  }
  html += "</table></div>\n";
  if (!table.source.empty()) html += fmt::format("<p class=\"remark\">Paper: {}</p>\n", escaped(table.source));
  add_paragraphs(html, remarks_of(table), "remark");
}

void add_checks(std::string& html, const std::vector<Check>& checks) {
  if (checks.empty()) return;
  html +=
      "<h2>What the paper says, and whether it comes out</h2>\n<table class=\"checks\">\n"
      "<tr><th>statement</th><th>here</th><th></th></tr>\n";
  for (const Check& check : checks)
    html += fmt::format("<tr><td>{}</td><td>{}</td><td{}>{}</td></tr>\n", escaped(check.statement),
                        escaped(check.found), check.holds ? "" : " class=\"fails\"", escaped(verdict_of(check)));
  html += "</table>\n";
}

void add_section(std::string& html, const Section& section) {
  html += fmt::format("<h2>{}</h2>\n", escaped(section.title));
  add_paragraphs(html, section.text);
  for (const Figure& figure : section.figures)
    html += fmt::format("<h3>{}</h3>\n{}", escaped(figure.title), to_svg(figure));
  for (const Table& table : section.tables) add_table(html, table);
}

}  // namespace

std::string to_svg(const Figure& figure) {
  const auto rows = static_cast<double>((figure.panels.size() + 1) / 2);
  report::SvgCanvas canvas(figure.panels.size() == 1 ? kHalf : kWidth, rows * (kPanelHeight + kGap), "");
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const report::Box area{.x = i % 2 == 0 ? 0 : kHalf + kGap,
                           .y = static_cast<double>(i / 2) * (kPanelHeight + kGap),
                           .width = kHalf,
                           .height = kPanelHeight};
    std::visit([&](const auto& chart) { draw(canvas, area, chart); }, figure.panels[i]);
  }
  return canvas.finish(figure.title);
}

std::string to_html(const Result& result) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
      "charset=\"utf-8\"><title>{0}</title>\n<style>\n{1}</style></head>\n"
      "<body>\n<h1>{0}</h1>\n<p>{2}</p>\n",
      escaped(result.title), kStyle, escaped(result.paper));
  if (!result.limits.empty()) {
    html += "<p class=\"fails\"><b>Not the whole study:</b></p>\n<ul>\n";
    for (const std::string& limit : result.limits) html += fmt::format("<li>{}</li>\n", escaped(limit));
    html += "</ul>\n";
  }
  add_paragraphs(html, result.about);
  add_checks(html, result.checks);
  for (const Section& section : result.sections) add_section(html, section);
  return html + "</body>\n</html>\n";
}

}  // namespace replay::study
