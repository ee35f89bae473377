#include "scheduler/sweep/engine/cell_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/json/read_json.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kStart = "{\"id\":\"", kVersion = "\",\"version\":\"", kFailure = "\",\"failure\":\"",
                           kCheck = ",\"check\":\"", kEnd = "\"}";
constexpr std::size_t kIdDigits = 16, kCheckDigits = 8;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;

std::string check_of(std::string_view text) {
  return fmt::format("{:08x}", ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

std::string json_string(const std::string& text) {
  return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

ordered_json to_json(const Results& results) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, value] : results) json[name] = number_or_null(value);
  return json;
}

std::string results_json(const Results& results) { return to_json(results).dump(); }

Results results_of(const ordered_json& json) {
  Results results;
  for (const auto& [name, value] : json.items())
    results[name] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  return results;
}

Results parse_results(std::string_view json) { return results_of(parse_json<ordered_json>(json)); }

std::string to_text(const CellLine& line, std::string_view results) {
  std::string text = fmt::format("{}{}\",\"version\":{}", kStart, id_text(line.id), json_string(line.version));
  if (!line.failure.empty()) text += ",\"failure\":" + json_string(line.failure);
  text += fmt::format(",\"cell\":{},\"seconds\":{:.3f}", line.parameters, line.seconds);
  if (line.failure.empty()) text += fmt::format(",\"metrics\":{}", results);
  return text + fmt::format("{}{}{}\n", kCheck, check_of(text), kEnd);
}

std::optional<LineHead> head_of(std::string_view line) {
  constexpr std::size_t kTail = kCheck.size() + kCheckDigits + kEnd.size();
  constexpr std::size_t kHead = kStart.size() + kIdDigits + kVersion.size();
  if (line.size() < kHead + kTail || !line.starts_with(kStart) || !line.ends_with(kEnd)) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - kTail), tail = line.substr(body.size());
  if (!tail.starts_with(kCheck) || tail.substr(kCheck.size(), kCheckDigits) != check_of(body)) return std::nullopt;
  const auto id = parse_id(line.substr(kStart.size(), kIdDigits));
  const std::size_t end = line.find('"', kHead);
  if (!id || line.substr(kStart.size() + kIdDigits, kVersion.size()) != kVersion || end == std::string_view::npos)
    return std::nullopt;
  return LineHead{*id, line.substr(kHead, end - kHead), line.substr(end).starts_with(kFailure)};
}

CellLine parse_line(std::string_view text) {
  const auto json = parse_json<ordered_json>(text);
  CellLine line;
  line.id = head_of(text)->id;
  line.version = json.at("version").get<std::string>();
  line.failure = json.value("failure", std::string{});
  line.parameters = json.at("cell").dump();
  line.seconds = json.at("seconds").get<double>();
  if (json.contains("metrics")) line.results = results_of(json["metrics"]);
  return line;
}

CellFile::~CellFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void CellFile::append(std::string_view line) {
  const fs::path first = path_;
  for (int number = 2; descriptor_ < 0; ++number) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 &&
        errno == EEXIST)  // of a process that had the same number before the computer was started again
      path_.replace_filename(fmt::format("{}-{}{}", first.stem().string(), number, first.extension().string()));
    else if (descriptor_ < 0)
      throw TryAgain(fmt::format("{}: cannot be created: {}", path_.string(), std::strerror(errno)));
  }
  ssize_t written = 0;
  do written = ::pwrite(descriptor_, line.data(), line.size(), end_);
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) {
    end_ += written;
    return;
  }
  const int error = written < 0 ? errno : ENOSPC;
  static_cast<void>(
      !::ftruncate(descriptor_, end_));  // if that fails, the line's check is wrong, and its end is missing
  throw TryAgain(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(error)));
}

void CellFiles::read_new(const std::function<void(const LineHead& head, std::string_view line)>& visit) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry{folder_, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error))
    if (entry->path().extension() == ".jsonl") files.push_back(entry->path());
  if (error && error != std::errc::no_such_file_or_directory)
    throw InputError(fmt::format("{}: cannot be read: {}", folder_.string(), error.message()));
  std::ranges::sort(files);
  for (const fs::path& file : files) read_new_of(file, visit);
}

void CellFiles::read_new_of(const fs::path& file,
                            const std::function<void(const LineHead& head, std::string_view line)>& visit) {
  off_t& done = read_[file.filename().string()];
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0 && found.st_size == done) return;
  const UniqueFd from{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!from.is_open()) {
    if (errno == ENOENT) return;
    throw InputError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  }
  std::string text;  // of lines that are not complete yet
  for (off_t at = done;;) {
    const std::size_t before = text.size();
    text.resize(before + kReadAtOnce);
    const ssize_t got = ::pread(from.get(), text.data() + before, kReadAtOnce, at);
    if (got < 0 && errno != EINTR)
      throw InputError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return;
    at += std::max<ssize_t>(got, 0);
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      const std::string_view line = std::string_view{text}.substr(start, end - start);
      if (const auto head = head_of(line))
        visit(*head, line);
      else
        ++damaged_;
    }
    done += static_cast<off_t>(start);
    text.erase(0, start);
  }
}

}  // namespace replay::sweep
