// Tests every #include of the tree against the tables in docs/architecture.md, section 2. The tables are parsed from
// the page, so that page and test cannot differ. A row names only rows above it: no cycles.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Row {
  std::string files;     ///< a folder or one file, as a path from the root
  Lines may_include;     ///< the same; "all above" is spelled out
  Lines packages;        ///< "all" is spelled out
  bool is_open = false;  ///< may include all above, so that a grant says nothing
};

struct Layers {
  std::vector<Row> rows;
  std::map<std::string, Lines> headers_of_package;
};

struct Include {
  int line;
  bool quoted;
  std::string path;
};

Lines lines_of(std::string_view text) {
  Lines lines;
  std::istringstream in{std::string{text}};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string read_file(const fs::path& path) {
  std::ifstream in{path};
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string join(const Lines& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "nothing" : text;
}

bool has(const Lines& list, const std::string& item) { return std::ranges::find(list, item) != list.end(); }

/// Whether `path` is `place` or lies in it.
bool lies_in(std::string_view path, std::string_view place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

// ---- the tables of architecture.md ----

/// "`a`, `b`" -> a, b. "-" -> nothing.
Lines parse_list(std::string_view cell) {
  Lines items;
  std::string plain;
  std::ranges::remove_copy(cell, std::back_inserter(plain), '`');
  std::istringstream in{plain};
  for (std::string item; std::getline(in, item, ',');) {
    const auto first = item.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    item = item.substr(first, item.find_last_not_of(' ') - first + 1);
    if (item != "-") items.push_back(item);
  }
  return items;
}

/// The cells of the table with a header row that begins with "| `first_heading` |", without its two header rows.
std::vector<Lines> parse_table(std::string_view page, const std::string& first_heading) {
  const Lines lines = lines_of(page);
  auto line = std::ranges::find_if(lines, [&](const auto& l) { return l.starts_with("| " + first_heading + " |"); });
  if (line == lines.end()) throw std::runtime_error("docs/architecture.md has no table headed '" + first_heading + "'");
  std::vector<Lines> table;
  for (line += 2; line != lines.end() && line->starts_with("|"); ++line) {
    std::istringstream in{line->substr(1)};
    Lines& cells = table.emplace_back();
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  }
  return table;
}

Layers parse_layers(std::string_view page) {
  Layers layers;
  Lines all_packages;
  for (const Lines& cells : parse_table(page, "package")) {
    const std::string package = parse_list(cells.at(0)).at(0);
    layers.headers_of_package[package] = parse_list(cells.at(1));
    all_packages.push_back(package);
  }
  Lines above;
  for (const Lines& cells : parse_table(page, "files in")) {
    Row row{parse_list(cells.at(0)).at(0), parse_list(cells.at(1)), parse_list(cells.at(2))};
    row.is_open = has(row.may_include, "all above");
    if (row.is_open) row.may_include = above;
    if (has(row.packages, "all")) row.packages = all_packages;
    above.push_back(row.files);
    layers.rows.push_back(row);
  }
  return layers;
}

/// The longest row that `path` lies in; nullptr if there is none.
const Row* row_of(const Layers& layers, std::string_view path) {
  const Row* best = nullptr;
  for (const Row& row : layers.rows)
    if (lies_in(path, row.files) && (best == nullptr || row.files.size() > best->files.size())) best = &row;
  return best;
}

// ---- one file against the tables ----

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// The rest of `text` after `word`, without leading blanks; nothing if `text` does not begin with `word`.
std::optional<std::string_view> after(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  return without_blanks_before(text.substr(word.size()));
}

std::optional<Include> parse_include(int number, std::string_view line) {
  const auto directive = after("#", without_blanks_before(line));
  if (!directive) return std::nullopt;
  const auto name = after("include", *directive);
  if (!name || name->empty()) return std::nullopt;
  const bool quoted = name->front() == '"';
  if (!quoted && name->front() != '<') return std::nullopt;
  return Include{number, quoted, std::string{name->substr(1, name->find(quoted ? '"' : '>', 1) - 1)}};
}

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : lines_of(text))
    if (auto include = parse_include(++number, line)) includes.push_back(*std::move(include));
  return includes;
}

/// Headers of libc and the kernel: <unistd.h>, <sys/socket.h>. Those of the C++ library have no dot: <vector>.
bool is_system_header(std::string_view header) {
  static constexpr std::string_view kFolders[] = {"sys/", "linux/", "net/", "netinet/", "arpa/", "asm/"};
  if (header.find('/') == std::string_view::npos) return true;
  return std::ranges::any_of(kFolders, [&](std::string_view folder) { return header.starts_with(folder); });
}

/// The package to which `header` belongs; empty for the standard library and libc; "?" if it is unknown.
std::string package_of(const Layers& layers, const std::string& header) {
  for (const auto& [package, prefixes] : layers.headers_of_package)
    for (const std::string& prefix : prefixes)
      if (header == prefix || (prefix.ends_with('/') && header.starts_with(prefix))) return package;
  return is_system_header(header) ? "" : "?";
}

/// The complaint about this #include of a file in `row`; empty if it is allowed.
std::string complaint(const Layers& layers, const Row& row, const Include& include) {
  if (include.quoted) {
    const Row* target = row_of(layers, include.path);
    if (target == nullptr)
      return "includes \"" + include.path + "\", which no row of docs/architecture.md knows (paths begin at the root)";
    if (target->files == row.files || has(row.may_include, target->files)) return {};
    return "includes " + include.path + ", but " + row.files + " may include only: " + join(row.may_include);
  }
  const std::string package = package_of(layers, include.path);
  if (package.empty() || has(row.packages, package)) return {};
  if (package == "?") return "includes <" + include.path + "> of a package that docs/architecture.md does not list";
  return "includes <" + include.path + "> of " + package + ", but " + row.files +
         " may use only these packages: " + join(row.packages);
}

Lines complaints(const Layers& layers, const std::string& path, std::string_view text) {
  const Row* row = row_of(layers, path);
  if (row == nullptr) return {path + ":1: lies in no folder of the table in docs/architecture.md"};
  Lines found;
  for (const Include& include : includes_of(text))
    if (const std::string what = complaint(layers, *row, include); !what.empty())
      found.push_back(path + ":" + std::to_string(include.line) + ": " + what);
  return found;
}

/// The grants of rows that no include of `texts` (path to text) uses: "live: model". Rows without a file are for later.
Lines unused_grants(const Layers& layers, const std::map<std::string, std::string>& texts) {
  std::map<const Row*, Lines> used;
  for (const auto& [path, text] : texts) {
    const Row* const row = row_of(layers, path);
    if (row == nullptr) continue;
    Lines& list = used[row];
    for (const Include& include : includes_of(text)) {
      const Row* const target = include.quoted ? row_of(layers, include.path) : nullptr;
      list.push_back(target != nullptr ? target->files : package_of(layers, include.path));
    }
  }
  Lines unused;
  for (const auto& [row, list] : used) {
    if (row->is_open) continue;
    for (const Lines* const grants : {&row->may_include, &row->packages})
      for (const std::string& grant : *grants)
        if (!has(list, grant)) unused.push_back(row->files + ": " + grant);
  }
  std::ranges::sort(unused);
  return unused;
}

// ---- the tree ----

const fs::path kRoot{REPLAY_SOURCE_DIR};

bool is_header(const fs::path& path) { return path.extension() == ".hpp" || path.extension() == ".h"; }
bool is_source(const fs::path& path) {
  return is_header(path) || path.extension() == ".cpp" || path.extension() == ".cc" || path.extension() == ".c";
}

/// Whether a top folder is foreign or no source: hidden folders, build trees, results.
bool is_skipped(const std::string& top_folder) {
  return top_folder.starts_with('.') || top_folder.starts_with("build") || top_folder == "runs" || top_folder == "out";
}

/// All C and C++ files, as paths from the root, sorted.
Lines source_files() {
  Lines files;
  for (const fs::directory_entry& top : fs::directory_iterator{kRoot}) {
    if (!top.is_directory() || is_skipped(top.path().filename().string())) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{top.path()})
      if (entry.is_regular_file() && is_source(entry.path()))
        files.push_back(entry.path().lexically_relative(kRoot).generic_string());
  }
  std::ranges::sort(files);
  return files;
}

Layers layers_of_the_tree() { return parse_layers(read_file(kRoot / "docs/architecture.md")); }

constexpr std::string_view kExamplePage =
    "| files in | may include | packages |\n"
    "|---|---|---|\n"
    "| `model` | - | fmt |\n"
    "| `live/seam.hpp` | `model` | - |\n"
    "| `live` | `model` | fmt, libevent |\n"
    "| `launcher` | `model`, `live/seam.hpp` | - |\n"
    "| `tests` | all above | all |\n"
    "\n"
    "| package | headers |\n"
    "|---|---|\n"
    "| fmt | `fmt/` |\n"
    "| libevent | `event2/`, `event.h` |\n";

Lines complaints_in_example(const std::string& path, std::string_view text) {
  return complaints(parse_layers(kExamplePage), path, text);
}

}  // namespace

TEST(Layers, EveryIncludeIsInItsRow) {
  const Layers layers = layers_of_the_tree();
  const Lines files = source_files();
  ASSERT_TRUE(has(files, "tests/unit/layers_test.cpp")) << "found " << files.size() << " files under " << kRoot;
  for (const std::string& file : files)
    for (const std::string& complaint : complaints(layers, file, read_file(kRoot / file))) ADD_FAILURE() << complaint;
}

TEST(Layers, EveryGrantIsUsed) {
  std::map<std::string, std::string> texts;
  for (const std::string& file : source_files()) texts[file] = read_file(kRoot / file);
  EXPECT_EQ(unused_grants(layers_of_the_tree(), texts), Lines{});
}

// A folder with more files than this answers more than one question.
TEST(Layers, NoFolderIsCrowded) {
  constexpr int kMost = 32;
  std::map<std::string, int> files_in;
  for (const char* const top : {"scheduler", "launcher", "vmlib", "traces", "benchmarks"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{kRoot / top})
      if (entry.is_regular_file()) ++files_in[entry.path().parent_path().lexically_relative(kRoot).generic_string()];
  for (const auto& [folder, count] : files_in) EXPECT_LE(count, kMost) << folder;
}

TEST(Layers, ARowNamesOnlyRowsAboveIt) {
  Lines above;
  for (const Row& row : layers_of_the_tree().rows) {
    for (const std::string& place : row.may_include)
      EXPECT_TRUE(has(above, place)) << row.files << " names " << place << ", which is not a row above it";
    EXPECT_FALSE(has(above, row.files)) << row.files << " has two rows";
    above.push_back(row.files);
  }
}

TEST(Layers, ARowNamesOnlyPackagesOfTheSecondTable) {
  const Layers layers = layers_of_the_tree();
  for (const Row& row : layers.rows)
    for (const std::string& package : row.packages) EXPECT_TRUE(layers.headers_of_package.contains(package)) << package;
}

TEST(Layers, EveryHeaderGuardsItself) {
  for (const std::string& file : source_files()) {
    if (!is_header(file)) continue;
    const std::string text = read_file(kRoot / file);
    const bool is_c_too = file.ends_with(".h");
    EXPECT_TRUE(text.find("\n#pragma once\n") != std::string::npos || text.starts_with("#pragma once\n") ||
                (is_c_too && text.find("\n#ifndef ") != std::string::npos))
        << file << ":1: has no #pragma once";
  }
}

// A number of a failed fork, passed to kill(), ends every process of the user.
TEST(Layers, OnlyOneFileOfOursCallsKillAndItChecksTheNumber) {
  const std::regex qualified{R"((^|[^\w>])::(kill|killpg|setpriority|tgkill|tkill)\()"};
  // Where the system's is declared.
  const std::regex unqualified{R"((^|[=(!{;]|return|&&|\|\|)\s*(kill|killpg|setpriority|tgkill|tkill)\()"};
  const std::regex comment{R"(//.*)"};
  const std::regex declared{R"(<(csignal|signal\.h|sys/resource\.h)>)"};
  for (const char* bad : {"x = ::kill(pid, 9);", "if (!::kill(0, 0))", "(::killpg(1, 9))"})
    EXPECT_TRUE(std::regex_search(bad, qualified)) << bad;
  for (const char* bad : {"  kill(pid, 9);", "if (!kill(0, 0))", "return kill(1, 9);"})
    EXPECT_TRUE(std::regex_search(bad, unqualified)) << bad;
  for (const char* good :
       {"job.kill(9);", "jobs->kill(9);", "void Launcher::kill(JobId job) {", "void kill(JobId job);"}) {
    EXPECT_FALSE(std::regex_search(good, qualified)) << good;
    EXPECT_FALSE(std::regex_search(good, unqualified)) << good;
  }
  for (const std::string& file : source_files()) {
    if (file == "scheduler/base/process/send_signal.hpp" || file.starts_with("tests/unit/")) continue;
    const std::string text = std::regex_replace(read_file(kRoot / file), comment, "");
    EXPECT_FALSE(std::regex_search(text, qualified)) << file << ": call replay::send_signal() or Process::signal()";
    std::istringstream lines{std::regex_search(text, declared) ? text : ""};
    for (std::string line; std::getline(lines, line);)
      EXPECT_FALSE(std::regex_search(line, unqualified)) << file << ": " << line;
  }
}

TEST(LayersChecker, NamesFileLineAndWhatWouldBeAllowed) {
  EXPECT_EQ(
      complaints_in_example("live/loop.cpp", "// A loop.\n#include <vector>\n#include \"launcher/agent/agent.hpp\"\n"),
      Lines{"live/loop.cpp:3: includes launcher/agent/agent.hpp, but live may include only: model"});
}

TEST(LayersChecker, HoldsAGrantToItsOwnRow) {
  const std::string page =
      "| files in | may include | packages |\n|---|---|---|\n| `base` | - | - |\n| `base/json` | `base` | fmt |\n"
      "| `log` | `base` | - |\n\n| package | headers |\n|---|---|\n| fmt | `fmt/` |\n";
  EXPECT_EQ(complaints(parse_layers(page), "log/text.cpp", "#include \"base/json/read.hpp\"\n"),
            Lines{"log/text.cpp:1: includes base/json/read.hpp, but log may include only: base"});
}

TEST(LayersChecker, NamesGrantsThatNoIncludeUses) {
  EXPECT_EQ(unused_grants(parse_layers(kExamplePage),
                          {{"live/loop.cpp", "#include \"model/job.hpp\"\n#include <event.h>\n"}, {"tests/x.cpp", ""}}),
            Lines{"live: fmt"});
}

TEST(LayersChecker, AllowsOwnFolderAndRow) {
  EXPECT_EQ(complaints_in_example("live/loop.cpp",
                                  "#include \"live/loop.hpp\"\n#include \"model/job.hpp\"\n#include <event2/event.h>\n"
                                  "#include <sys/socket.h>\n#include <fmt/core.h>\n"),
            Lines{});
}

TEST(LayersChecker, LetsTheLauncherSeeTheSeamOnly) {
  EXPECT_EQ(
      complaints_in_example("launcher/agent/agent.cpp",
                            "#include \"live/seam.hpp\"\n#  include \"live/loop.hpp\"  // no\n"),
      Lines{"launcher/agent/agent.cpp:2: includes live/loop.hpp, but launcher may include only: model, live/seam.hpp"});
}

TEST(LayersChecker, HoldsAFileToItsOwnRowRatherThanItsFolders) {
  EXPECT_EQ(complaints_in_example("live/seam.hpp", "#include \"live/loop.hpp\"\n#include <event2/event.h>\n"),
            (Lines{"live/seam.hpp:1: includes live/loop.hpp, but live/seam.hpp may include only: model",
                   "live/seam.hpp:2: includes <event2/event.h> of libevent, but live/seam.hpp may use only these "
                   "packages: nothing"}));
}

TEST(LayersChecker, RefusesUnknownFoldersPathsAndPackages) {
  EXPECT_EQ(complaints_in_example("vendor/x.cpp", ""),
            Lines{"vendor/x.cpp:1: lies in no folder of the table in docs/architecture.md"});
  EXPECT_EQ(
      complaints_in_example("model/job.cpp", "#include \"job.hpp\"\n#include <spdlog/spdlog.h>\n"),
      (Lines{"model/job.cpp:1: includes \"job.hpp\", which no row of docs/architecture.md knows (paths begin at "
             "the root)",
             "model/job.cpp:2: includes <spdlog/spdlog.h> of a package that docs/architecture.md does not list"}));
}

TEST(LayersChecker, LetsTheLastRowIncludeAllAbove) {
  EXPECT_EQ(complaints_in_example("tests/unit/x_test.cpp", "#include \"live/loop.hpp\"\n#include <event.h>\n"),
            Lines{});
}
