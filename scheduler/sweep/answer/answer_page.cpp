#include "scheduler/sweep/answer/answer_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/report/draw/markup.hpp"
#include "scheduler/report/draw/svg_canvas.hpp"
#include "scheduler/sweep/answer/metric_over.hpp"

namespace replay::sweep {
namespace {

using report::escaped;

constexpr double kPanelWidth = 250;      // points; the page stretches a panel to its column
constexpr std::size_t kMostOnPage = 24;  // panels of one figure

// The colours of the page of a run (report/page/assets/page.css). Drawings have the colours of paper: in the dark each of them is
// replaced by a light one of the same hue.
constexpr std::string_view kStyle =
    R"(:root{--back:#fff;--panel:#f6f7f9;--ink:#16191e;--quiet:#5a6470;--line:#cfd5dc;--link:#0b5cad;--warn:#7a4100;--warn-back:#fff4df;
--best:#10603f;--best-back:#e1f3ea;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--back:#16191e;--panel:#1e2229;--ink:#e7eaee;--quiet:#a3adb9;--line:#3b434e;--link:#80bdf5;--warn:#ffd591;
--warn-back:#33290f;--best:#8fe3b9;--best-back:#143326}
svg [fill="#222222"]{fill:#e7eaee}svg [stroke="#222222"]{stroke:#e7eaee}
svg [fill="#0072b2"]{fill:#5db5f0}svg [stroke="#0072b2"]{stroke:#5db5f0}
svg [fill="#d55e00"]{fill:#ff9a4d}svg [stroke="#d55e00"]{stroke:#ff9a4d}
svg [fill="#009e73"]{fill:#3fd0a4}svg [stroke="#009e73"]{stroke:#3fd0a4}
svg [fill="#b0407f"]{fill:#ee8fc2}svg [stroke="#b0407f"]{stroke:#ee8fc2}
svg [fill="#a67c00"]{fill:#dcb33c}svg [stroke="#a67c00"]{stroke:#dcb33c}
svg [fill="#3a8fc7"]{fill:#a9d6f7}svg [stroke="#3a8fc7"]{stroke:#a9d6f7}
svg [fill="#777777"]{fill:#aaaaaa}svg [stroke="#777777"]{stroke:#aaaaaa}}
svg [fill="#ffffff"]{fill:var(--back)}
body{margin:0 auto;padding:10px 16px 30px;max-width:1400px;background:var(--back);color:var(--ink);font:14px/1.45 system-ui,"DejaVu Sans",sans-serif;
overflow-wrap:break-word}
h1{font-size:20px;margin:0 0 6px;font-weight:600}h2{font-size:17px;margin:28px 0 4px;font-weight:600;border-top:1px solid var(--line);padding-top:14px}
h3{font-size:13px;margin:14px 0 4px;font-weight:600}p{margin:4px 0}a{color:var(--link)}
.quiet,.method{color:var(--quiet)}.method{max-width:100ch;padding-left:18px}
.warn{background:var(--warn-back);color:var(--warn);border-left:4px solid currentColor;padding:5px 12px;margin:8px 0;border-radius:3px}
.verdicts{list-style:none;padding:8px 14px;margin:10px 0;background:var(--panel);border:1px solid var(--line);border-radius:5px}
.verdicts li{padding:2px 0}.verdict{font-weight:600}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;white-space:nowrap}
th,td{padding:2px 8px;border-bottom:1px solid var(--line);text-align:right}th{font-weight:600;vertical-align:bottom}
.name{text-align:left;font-weight:400}thead .name{font-weight:600}
.best{color:var(--best);background:var(--best-back);font-weight:600}.open{color:var(--quiet)}
.key{display:flex;flex-wrap:wrap;gap:2px 16px;margin:2px 0}.key span{display:inline-flex;align-items:center;gap:6px}.key svg{flex:none}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(320px,100%),1fr));gap:10px 18px}
figure{margin:0;min-width:0}figcaption{font-size:12px;font-weight:600}.panels svg{width:100%;max-width:460px;height:auto;display:block}
)";

std::string with_signs(std::string_view text) {
  std::string html = escaped(text);
  for (std::size_t at = html.find("+-"); at != std::string::npos; at = html.find("+-", at)) html.replace(at, 2, "±");
  return html;
}

void add_table(std::string& html, const AnswerTable& table) {
  html += fmt::format("<h3>{}</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n", with_signs(table.title));
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += r == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      const std::string& cell = table.rows[r][c];
      const bool is_name = c < table.names;
      const std::string_view tag = r == 0 || is_name ? "th" : "td";
      const std::string_view kind = is_name                                    ? " class=\"name\""
                                    : table.best[r] != 0 && c == table.best[r] ? " class=\"best\""
                                    : cell == "open" || cell == "equal"        ? " class=\"open\""
                                                                               : "";
      const std::string_view scope = r == 0 ? " scope=\"col\"" : is_name ? " scope=\"row\"" : "";
      html += fmt::format("<{0}{1}{2}>{3}</{0}>", tag, scope, kind, with_signs(cell));
    }
    html += r == 0 ? "</tr></thead>\n" : "</tr>\n";
  }
  html += "</table></div>\n";
}

void add_key(std::string& html, const std::vector<std::string>& curves) {
  constexpr double kWidth = 26, kHeight = 10, kMargin = 2;
  if (curves.size() < 2) return;
  html += "<div class=\"key\">";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    report::SvgCanvas canvas(kWidth, kHeight, "");
    report::marked_curve_entry(curves[i], i)
        .sample(canvas, {kMargin, kMargin, kWidth - 2 * kMargin, kHeight - 2 * kMargin});
    html += fmt::format("<span>{}{}</span>", canvas.finish(curves[i]), escaped(curves[i]));
  }
  html += "</div>\n";
}

bool has_point(const OverPanel& panel) {
  return std::ranges::any_of(panel.curves, [](const auto& curve) { return !curve.empty(); });
}

void add_figure(std::string& html, const MetricOver& figure) {
  if (std::ranges::none_of(figure.panels, has_point)) return;
  html += fmt::format("<h3>{} over {}, with 95 % intervals</h3>\n", escaped(figure.metric), escaped(figure.axis));
  if (figure.curves.size() > report::kMostCurves) {
    html += fmt::format(
        "<p class=\"quiet\">Not drawn: {} policies are more than can be told apart in one figure ({}).</p>\n",
        figure.curves.size(), report::kMostCurves);
    return;
  }
  add_key(html, figure.curves);
  html += "<div class=\"panels\">\n";
  const report::Layout all = layout_of(figure);
  const std::size_t shown = std::min(kMostOnPage, all.panels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    report::Layout one{.x = all.x, .panels = {all.panels[i]}, .panel_height = 120};
    one.panels[0].name.clear();
    const std::string& name = figure.panels[i].name;
    const std::string title = fmt::format("{} over {}{}{}", figure.metric, figure.axis, name.empty() ? "" : ", ", name);
    html += fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", escaped(name),
                        report::draw_layout(one, {.width = kPanelWidth}, "", title, "figure.svg"));
  }
  html += "</div>\n";
  if (shown < all.panels.size())
    html += fmt::format("<p class=\"quiet\">The first {} of {} panels; `replay plot` draws others (--where).</p>\n",
                        shown, all.panels.size());
}

void add_metric(std::string& html, const MetricAnswer& answer, const StudyComparison& study,
                const MetricComparison& metric) {
  html += fmt::format("<section id=\"{}\"><h2>{}</h2>\n<p class=\"verdict\">{}</p>\n", escaped(metric.metric),
                      escaped(answer.title), escaped(answer.verdict));
  add_table(html, answer.tables[0]);
  for (std::size_t axis = 0; axis < study.axes.size(); ++axis)
    if (is_numeric(study.axes[axis])) add_figure(html, metric_over(study, metric, axis));
  for (std::size_t i = 1; i < answer.tables.size(); ++i) add_table(html, answer.tables[i]);
  html += "</section>\n";
}

}  // namespace

std::string to_html(const AnswerText& answer, const StudyComparison& comparison) {
  INVARIANT(answer.metrics.size() == comparison.metrics.size(), "the text is about {} metrics, not {}",
            answer.metrics.size(), comparison.metrics.size());
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<style>\n{1}</style></head>\n<body>\n<h1>{0}</h1>\n<div class=\"{2}\">\n",
      escaped(answer.title), kStyle, answer.is_whole ? "quiet" : "warn");
  for (const std::string& line : answer.cells) html += fmt::format("<p>{}</p>\n", escaped(line));
  html += "</div>\n<ul class=\"verdicts\">\n";
  for (std::size_t i = 0; i < answer.metrics.size(); ++i)
    html += fmt::format("<li><a href=\"#{0}\">{0}</a>: {1}</li>\n", escaped(comparison.metrics[i].metric),
                        escaped(answer.metrics[i].verdict));
  html += "</ul>\n";
  for (std::size_t i = 0; i < answer.metrics.size(); ++i)
    add_metric(html, answer.metrics[i], comparison, comparison.metrics[i]);
  html += "<h2>What the numbers mean</h2>\n<ul class=\"method\">\n";
  for (const std::string& line : answer.method) html += fmt::format("<li>{}</li>\n", with_signs(line));
  return html + "</ul>\n</body>\n</html>\n";
}

}  // namespace replay::sweep
