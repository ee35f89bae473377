// Whether what a browser has made of a live page's events is the run of the page of its event log.
#pragma once

#include <filesystem>
#include <string>

namespace replay::test {

/// Has node run the page's own reader on `body`, the stream of events, and compares its state with read_run(log). Empty: they are
/// the same; else what differs.
[[nodiscard]] std::string difference_to_page(const std::string& body, const std::filesystem::path& log);
/// Why difference_to_page() cannot be had here; empty: it can.
[[nodiscard]] std::string why_no_node();

}  // namespace replay::test
