// main() of `replay`. It owns the stop signals, finds the command, runs it, and turns an error into one line and an
// exit status, also a failed write to standard output in any command.

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/plugin/resolver.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kReaderGone = 128 + SIGPIPE;  // as a shell reports a program that SIGPIPE has ended

void complain(const std::string& what) { replay::say_on_stderr("replay: " + what); }

int complain(int status, const char* what) {
  complain(what);
  return status;
}

// Whether standard output is a pipe or a socket that its reader has closed.
bool has_reader_gone() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

// The result of a command.
struct End {
  int status = 0;
  bool is_output_told_of = false;  // the failed write to standard output has been reported
  int output_error = 0;            // errno of writing to it; 0: not known
};

constexpr std::string_view kOutput = "standard output: cannot be written";

End told_of(const std::exception& error) {
  const std::string what = error.what();
  if (std::ferror(stdout) == 0) return {complain(kFailed, error.what())};
  const auto* const of_print =
      dynamic_cast<const std::system_error*>(&error);  // fmt::print() does not say of which file
  const bool is_of_output = of_print != nullptr || what.starts_with(kOutput);
  if (!is_of_output) return {complain(kFailed, error.what())};
  if (!has_reader_gone())
    complain(of_print != nullptr ? fmt::format("{}: {}", kOutput, of_print->code().message()) : what);
  return {has_reader_gone() ? kReaderGone : kFailed, true};
}

// The exit status: that of the command, or of a failed write to standard output at any time. A reader that has closed
// the pipe (`| head`) is not reported as an error.
int with_output_written(const End& end) {
  const bool is_flushed = std::fflush(stdout) == 0;
  const int error = is_flushed ? end.output_error : errno;
  if (is_flushed && std::ferror(stdout) == 0) return end.status;
  const bool has_gone = has_reader_gone();
  if (!has_gone && !end.is_output_told_of)
    complain(error == 0 ? std::string{kOutput} : fmt::format("{}: {}", kOutput, std::strerror(error)));
  return end.status != 0 ? end.status : has_gone ? kReaderGone : kFailed;
}

replay::cli::Command add_help(CLI::App& app) {
  app.add_subcommand("help", "this text; `help COMMAND` is `COMMAND --help`");
  return [&app] {
    fmt::print("{}", app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
    return 0;
  };
}

// `help trace cut` becomes `trace --help cut`, which CLI11 reads as `trace cut --help`. With --help before PROGRAM,
// `help run PROGRAM` does not run it.
std::vector<const char*> arguments_of(int argc, char** argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc > 2 && std::string_view{argv[1]} == "help") {
    arguments[1] = argv[2];
    arguments[2] = "--help";
  }
  return arguments;
}

// Before a word that looks like an option and is none, for CLI11.
constexpr char kIsNoOption = '\x01';

std::string without_mark(std::string word) {
  if (word.starts_with(kIsNoOption)) word.erase(0, 1);
  return word;
}

// Commands get such words as the user has written them.
void take_off_marks(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->get_positional(); }))
    option->transform([](const std::string& word) { return without_mark(word); }, "", "");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) take_off_marks(*command);
}

// "--" ends options. CLI11 leaves what follows to `replay` itself where the command has a word already, or takes no
// words but a program. So it is taken out, and what looks like an option behind it is marked as none; `marked` keeps
// those words. In front of a program an empty word is put before it: CLI11 takes all behind a first word as it is, and
// command_words() removes the two.
void mark_end_of_options(CLI::App& app, std::vector<const char*>& words, std::deque<std::string>& marked) {
  const auto named = [&words](const CLI::App* command) { return words.size() > 1 && command->get_name() == words[1]; };
  const auto commands = app.get_subcommands(named);
  if (commands.empty() || !commands.front()->get_prefix_command()) {
    const auto mark =
        std::ranges::find(words, std::string_view{"--"}, [](const char* word) { return std::string_view{word}; });
    if (mark == words.end()) return;
    take_off_marks(app);
    for (auto word = words.erase(mark); word != words.end(); ++word)
      if (**word == '-') *word = marked.emplace_back(kIsNoOption + std::string{*word}).c_str();
    return;
  }
  for (std::size_t at = 2; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "--") {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "");
      return;
    }
    if (word.size() < 2 || word.front() != '-') return;  // the program
    const CLI::Option* const option = commands.front()->get_option_no_throw(std::string{word});
    const bool takes_next_word = option != nullptr && option->get_items_expected_max() > 0;
    if (takes_next_word) ++at;
  }
}

// The command that the user has chosen, and `replay` itself where there is none.
const CLI::App& chosen_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_of(*chosen.front());
}

// The message if a command was expected and another word, or none, was found; nothing if the error is another one.
// `is_help`: the user asked for help, which needs no command.
std::optional<std::string> missing_command(const CLI::App& app, bool is_help) {
  const CLI::App& group = chosen_of(app);
  const std::string name = replay::cli::full_name(group);
  std::vector<std::string> names;
  for (const CLI::App* command : group.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::vector<std::string> words = group.remaining();
  if (names.empty() || (words.empty() && (is_help || &group == &app))) return std::nullopt;
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (words.empty()) return fmt::format("{}: expected a command{}", name, replay::suggestion("", known));
  if (words.front().starts_with('-')) return std::nullopt;
  const std::string found = without_mark(words.front());
  return fmt::format("{}: expected a command, found '{}'{}", name, found, replay::suggestion(found, known));
}

// Rejects an option of `replay` itself before the name of a command: the command would not get it.
void refuse_options_before(const CLI::App& command, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0)
      throw replay::UsageError(fmt::format("{} stands before the command: expected `replay {} {} ...`",
                                           option->get_name(), command.get_name(), option->get_name()));
}

// The message for an option that the command does not have, or a word too many.
std::string unexpected_word(const CLI::App& app) {
  const CLI::App& command = chosen_of(app);
  const std::string name = replay::cli::full_name(command);
  std::vector<std::string> words = app.remaining(true);
  const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  if (option == words.end())
    return fmt::format("{}: expected no further word, found '{}'", name,
                       words.empty() ? "" : without_mark(std::move(words.front())));
  const std::string given = option->substr(0, option->find('='));
  if (replay::cli::has_option(command, given))
    return fmt::format("replay: {} stands before the command: expected `{} {} ...`", given, name, given);
  return replay::cli::no_such_option(command, given);
}

// CLI11's message about an option or a value in our words; what is about something else is as it was.
std::string in_our_words(const CLI::App& command, const std::string& message) {
  static const std::regex kRequired("(\\S+) is required");
  static const std::pair<std::regex, const char*> kWords[] = {
      {std::regex("(\\S+): \\d+ required TEXT(:.*)? missing"), "$1: expected a value"},
      {std::regex("(\\S+): \\d+ required ([^:]*)(:.*)? missing"), "$1: expected a value ($2)"},
      {std::regex("(\\S+): At Most 1 required but received (\\d+)"), "$1: expected once, found $2 times"},
      {std::regex("(\\S+) excludes (\\S+)"), "$1: expected without $2"},
      {std::regex("(.*): Value (.*) not in range (\\S+) to (\\S+)"), "$1: expected a number from $3 to $4, found '$2'"},
      {std::regex("(.*): (.*) not in \\{(.*)\\}"), "$1: expected one of $3, found '$2'"},
      {std::regex("Could not convert: (\\S+) = (.*)"), "$1: expected a number, found '$2'"}};
  std::smatch part;
  if (std::regex_match(message, part, kRequired)) {
    const CLI::Option* const option = command.get_option_no_throw(part.str(1));
    return "expected " + part.str(1) + (option == nullptr ? "" : ", " + option->get_description());
  }
  for (const auto& [theirs, ours] : kWords)
    if (std::regex_match(message, part, theirs)) return part.format(ours);
  return message;
}

// Opens closed standard descriptors on /dev/null; else one of our files or sockets would become stdin or stdout of a
// child process. Standard output is opened read-only, so that lost output is reported as on a full disk.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) == -1 &&
        ::open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR) == -1)
      return;
}

End run_command(int argc, char** argv) {
  using namespace replay::cli;
  replay::plugin::add_to_policies();
  prepare_runtime();
  const std::string command_line = replay::command_line_of(std::vector<std::string>(argv, argv + argc));
  CLI::App app{"replay: replays job traces of parallel machines, simulated and for real", "replay"};
  app.footer(
      "Examples:\n"
      "  replay --trace traces/synth.swf --policy fcfs-malleable     run the trace on this machine's cores\n"
      "  replay simulate --trace traces/synth.swf --policy easy,fcfs-malleable --machine 1x1x2");
  app.set_version_flag("--version", REPLAY_VERSION);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);

  const AddCommand add_simulate_here = [&](CLI::App& to) { return add_simulate(to, command_line); };
  const AddCommand add_serve_here = [&](CLI::App& to) { return add_serve(to, command_line); };
  const Command run = add_run(app, command_line);
  const Command run_chosen = add_commands(  // in the order of `replay --help`
      app, {add_help,       add_simulate_here, add_sweep,  add_validate,   add_trace,       add_generate, add_reproduce,
            add_serve_here, add_submit,        add_jobs,   add_cancel,     add_agent,       add_sbatch,   add_audit,
            add_calibrate,  add_policies,      add_models, add_benchmarks, add_run_program, add_report,   add_plot,
            add_results,    add_export,        add_diff,   add_why,        add_rerun});
  std::vector<const char*> arguments = arguments_of(argc, argv);
  std::deque<std::string> marked;
  mark_end_of_options(app, arguments, marked);

  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
    if (argc == 1) {
      fmt::print("{}", app.help());
      return {};
    }
    if (app.get_subcommands().empty()) return {run()};
    refuse_options_before(*app.get_subcommands().front(), app);
    return {run_chosen()};
  } catch (const CLI::ParseError& error) {
    if (const auto no_command = missing_command(app, error.get_exit_code() == 0)) {
      replay::say_on_stderr(*no_command);
      return {kWrongUsage};
    }
    const CLI::App& command = chosen_of(app);
    const bool has_words_left =
        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !command.remaining().empty();
    if (has_words_left || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      replay::say_on_stderr(unexpected_word(app));
      return {kWrongUsage};
    }
    if (error.get_exit_code() != 0) {
      replay::say_on_stderr(fmt::format("{}: {}", full_name(command), in_our_words(command, error.what())));
      return {kWrongUsage};
    }
    std::ostringstream out;
    (void)app.exit(error, out, out);
    const bool is_written = std::fputs(out.str().c_str(), stdout) >= 0;
    return {0, false, is_written ? 0 : errno};
  } catch (const replay::UsageError& error) {
    return {complain(kWrongUsage, error.what())};
  } catch (const std::exception& error) {  // InputError, PolicyError, a full disk, no memory
    return told_of(error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  const replay::StopSignals stop_signals;
  return with_output_written(run_command(argc, argv));
}
