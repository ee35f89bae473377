#include "scheduler/experiment/kept_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/record_file.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"
#include "scheduler/log/fields.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;
using std::chrono::microseconds;

constexpr const char* kFormat = "replay-turns 2";  // another one where the inputs of a turn mean something else

void say(const std::string& line) { say_on_stderr("replay: " + line); }

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  std::getline(file, id);
  return id;
}

// What these say is believed: which policy and which programs go on.
fs::path own_turns_file(const fs::path& folder) {
  for (const fs::path& file : {folder / results::kTurnsFile, folder / results::file_of("run")}) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0 && status.st_uid != ::geteuid())
      throw InputError(
          fmt::format("{}: expected a file of your own, found one of uid {}", file.string(), status.st_uid));
  }
  return folder / results::kTurnsFile;
}

// 0: there is none. Its number stays when it is moved within a file system, and no copy has it.
std::uint64_t inode_of(const fs::path& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
}

KeptRun in_folder(KeptRun run, const fs::path& folder) {
  run.folder = inode_of(folder);
  return run;
}

// Two daemons would take the agents from each other, each with inputs that the other one lacks.
KeptRun expect_in(const fs::path& folder, KeptRun run) {
  if (run.folder != inode_of(folder))
    throw InputError(
        fmt::format("{0}: is a copy of the folder in which the run began: expected that one, with which its jobs go "
                    "on, or one that "
                    "was moved within its file system; `replay results {0}` makes results of this one",
                    folder.string()));
  return run;
}

template <class Clock>
std::int64_t us_of(Clock now) {
  return std::chrono::duration_cast<microseconds>(now.time_since_epoch()).count();
}

template <std::size_t Size>
std::string to_hex(const std::array<std::uint8_t, Size>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

template <std::size_t Size>
std::array<std::uint8_t, Size> bytes_in(const JsonPlace<json>& place) {
  const std::string text = place.text();
  std::array<std::uint8_t, Size> bytes{};
  if (text.size() != 2 * Size || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    place.fail(fmt::format("{} hexadecimal digits", 2 * Size));
  for (std::size_t i = 0; i < Size; ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

json to_json(const KeptAgents::Node& node) {
  return {{"host", node.host},         {"agent", node.address},           {"session", to_hex(node.session)},
          {"cores", node.hello.cores}, {"packages", node.hello.packages}, {"emulated", node.hello.emulated},
          {"node", node.hello.host}};
}

KeptAgents::Node node_of(const JsonPlace<json>& place) {
  KeptAgents::Node node;
  node.host = place.at("host").text();
  node.address = place.at("agent").text();
  node.session = bytes_in<std::tuple_size_v<protocol::SessionId>>(place.at("session"));
  node.hello.cores = place.at("cores").as<std::vector<std::int32_t>>("a list of cores");
  node.hello.packages = place.at("packages").count();
  node.hello.emulated = place.at("emulated").flag();
  node.hello.host = place.at("node").text();
  return node;
}

}  // namespace

AgentsLock::AgentsLock(const fs::path& file) : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_.is_open()) file_.reset(::open(file.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_.is_open() || ::flock(file_.get(), LOCK_SH | LOCK_NB) != 0)
    throw InputError(fmt::format("{}: cannot be locked: {}", file.string(), std::strerror(errno)));
}

bool is_free_of_agents(const fs::path& file) {
  const UniqueFd opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  return opened.is_open() ? ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0 : errno == ENOENT;
}

KeptRun KeptRun::now(KeptAgents agents, Instant begin) {
  return {boot_id(),        us_of(std::chrono::steady_clock::now()), us_of(std::chrono::system_clock::now()), begin, 0,
          std::move(agents)};
}

KeptRun KeptRun::parse(const std::string& text, const std::string& file) {
  json value;
  try {
    value = parse_json<json>(text);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
  const JsonPlace<json> all{value, file};
  if (all.at("format").text() != kFormat) all.at("format").fail(fmt::format("\"{}\"", kFormat));
  KeptRun run;
  run.boot = all.at("boot").text();
  run.steady_us = all.at("steady_us").as<std::int64_t>("microseconds");
  run.unix_us = all.at("unix_us").as<std::int64_t>("microseconds");
  run.begin = Instant{Duration{all.at("begin_us").as<std::int64_t>("microseconds")}};
  run.folder = all.at("folder").as<std::uint64_t>("an inode");
  run.agents.key = bytes_in<std::tuple_size_v<protocol::LinkKey>>(all.at("key"));
  for (const auto& node : all.list("nodes")) run.agents.nodes.push_back(node_of(node));
  if (run.agents.nodes.empty()) all.fail("a node");
  return run;
}

std::string KeptRun::to_text() const {
  json nodes = json::array();
  for (const KeptAgents::Node& node : agents.nodes) nodes.push_back(to_json(node));
  return json{{"format", kFormat},
              {"boot", boot},
              {"steady_us", steady_us},
              {"unix_us", unix_us},
              {"begin_us", begin.time_since_epoch().count()},
              {"folder", folder},
              {"key", to_hex(agents.key)},
              {"nodes", std::move(nodes)}}
      .dump();
}

std::chrono::steady_clock::time_point KeptRun::started() const {
  const auto now = std::chrono::steady_clock::now();
  if (boot == boot_id()) return std::chrono::steady_clock::time_point{microseconds{steady_us}};
  return now - microseconds{us_of(std::chrono::system_clock::now()) - unix_us};
}

Keeping::Keeping(const fs::path& folder, const KeptRun& run, std::vector<live::TurnLog::Input> before)
    : log_(folder / results::file_of("events")),
      before_(folder / results::kLogBefore),
      turns_(folder / results::kTurnsFile, in_folder(run, folder).to_text(), say, std::move(before)),
      run_(in_folder(run, folder)) {}

Keeping::Keeping(const fs::path& folder)
    : log_(folder / results::file_of("events")),
      before_(folder / results::kLogBefore),
      turns_(own_turns_file(folder), say),
      run_(expect_in(folder, KeptRun::parse(turns_.about(), (folder / results::kTurnsFile).string()))) {}

KeptRun read_kept_run(const fs::path& folder) {
  const fs::path file = own_turns_file(folder);
  const std::vector<std::string> records = RecordFile::read(file);
  if (records.empty()) throw InputError(fmt::format("{}: says nothing of its run", file.string()));
  return expect_in(folder, KeptRun::parse(records.front(), file.string()));
}

std::optional<KeptAgents> agents_of_copy(const fs::path& folder) {
  try {
    const fs::path file = folder / results::kTurnsFile;
    const std::vector<std::string> records = RecordFile::read(file);
    KeptRun run = KeptRun::parse(records.empty() ? "" : records.front(), file.string());
    if (run.folder != inode_of(folder)) return std::move(run.agents);
  } catch (const InputError&) {  // its reader will say so
  }
  return std::nullopt;
}

Keeping::~Keeping() {
  std::error_code error;
  if (is_aside_) fs::rename(before_, log_, error);
}

bool Keeping::has_adopted() const {
  return std::ranges::any_of(
      turns_.before(), [](const live::TurnLog::Input& input) { return input.kind == live::TurnLog::Kind::kAdopt; });
}

// It is aside already if the last daemon has ended before its comparison.
void Keeping::put_log_aside() {
  if (!goes_on()) return;
  std::error_code error;
  is_aside_ = fs::exists(before_, error) || (fs::rename(log_, before_, error), !error);
}

void Keeping::tell(live::RunOptions& options, results::Recorder& recorder, std::function<void()> then) {
  options.turns = &turns_;
  options.started = run_.started();
  options.played_back = [this, &recorder, then = std::move(then)] {
    recorder.flush();
    if (!recorder.unwritten_log().empty())
      throw InputError(fmt::format("{}; the run stays as it was: expected to go on with it when that is mended",
                                   recorder.unwritten_log()));
    if (is_aside_) compare_logs();
    if (then) then();
  };
}

// What could not be written of the old one stands at its end as a mark, or not at all.
void Keeping::compare_logs() {
  std::ifstream before{before_, std::ios::binary}, again{log_, std::ios::binary};
  const std::uintmax_t all = fs::file_size(before_);
  std::uintmax_t same = 0;
  for (char was = 0, is = 0; before.get(was) && again.get(is) && was == is;) ++same;
  before.clear();
  before.seekg(static_cast<std::streamoff>(same));
  std::string rest;
  std::getline(before, rest);
  const bool is_cut_there = rest.starts_with(log::kCutMark) && (before.peek(), before.eof());
  if (same < all && !is_cut_there)
    throw live::TurnLogDiffers(fmt::format("{}: does not come out as it was: expected its {} bytes, found {} of them",
                                           log_.string(), all, same));
  is_aside_ = false;
  fs::remove(before_);
}

}  // namespace replay::experiment
