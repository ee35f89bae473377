#include "tests/support/live_state.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/report/page/columns.hpp"
#include "scheduler/report/page/run_data.hpp"
#include "scheduler/report/page/run_json.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {

std::string difference_to_page(const std::string& body, const std::filesystem::path& log) {
  const TemporaryFolder folder;
  report::Columns columns{report::Columns::Form::kArrays};
  write_text(folder / "events", body);
  write_text(folder / "expected", report::run_json(report::read_run(log), columns).dump());
  const std::string source = REPLAY_SOURCE_DIR;
  const ShellResult result =
      shell(fmt::format("node {}/tests/support/live_state.js {}/scheduler/report/page/assets/live.js {} {}", source,
                        source, (folder / "events").string(), (folder / "expected").string()));
  return result.status == 0 && result.out.empty() ? "" : fmt::format("{}{}", result.out, result.err);
}

std::string why_no_node() { return find_program("node") ? "" : "node is not on the PATH: `apt install nodejs`"; }

}  // namespace replay::test
