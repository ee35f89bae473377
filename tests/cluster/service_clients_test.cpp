// The service as its users have it: `replay submit`, `jobs`, `cancel` and the live views, with real MPI programs on emulated cores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/background.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/live_state.hpp"
#include "tests/support/pty_shell.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

// A job that runs until it is cancelled, on all four cores.
constexpr const char* kLong =
    "submit -n 4 --rigid --time 1h --name long phases --runtime 600 --cpu-use 0.5 --pattern bsp";

class ServiceClients : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    ::setenv("REPLAY_SERVICE", (folder_ / "s").c_str(), 1);
    ::unsetenv("OMP_NUM_THREADS");  // a note about it would be with the messages
  }
  void TearDown() override {
    stop();
    EXPECT_TRUE(comes_true([this] { return left_behind().empty(); })) << left_behind();
    ::unsetenv("REPLAY_SERVICE");
  }
  [[nodiscard]] std::string left_behind() const {
    return processes_marked("REPLAY_TEST_RUN=" + folder_.path().string());
  }

  void start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"serve", "--machine", "emulated:1x2x2", "--policy", "fcfs-malleable", "--plain"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    service_ = std::make_unique<Background>(REPLAY_PROGRAM, arguments, folder_ / "out", folder_ / "err");
    ASSERT_TRUE(comes_true([this] { return replay("jobs").status == 0; })) << service_->out() << service_->err();
  }
  void stop() {
    if (!service_) return;
    service_->send(SIGTERM);
    service_->wait();
    service_.reset();
  }
  [[nodiscard]] ShellResult replay(const std::string& words) const {
    return run(fmt::format("{} {}", REPLAY_PROGRAM, words));
  }
  // Again where the service was too busy to answer, on a computer with other work: nothing was done.
  [[nodiscard]] ShellResult run(const std::string& command) const {
    ShellResult result;
    do result = shell(command, folder_.path());
    while (result.err.find("the service is busy since") != std::string::npos);
    return result;
  }
  // What `replay jobs` shows, once it has that.
  [[nodiscard]] bool shows(const std::string& jobs, const std::string& text) const {
    return comes_true([&] { return replay(jobs).out.find(text) != std::string::npos; });
  }

  TemporaryFolder folder_;
  std::unique_ptr<Background> service_;
};

TEST_F(ServiceClients, SubmitReturnsTheNumberOrWaitsForTheEnd) {
  start();
  const ShellResult good = replay("submit -n 2 --time 1min --wait phases --runtime 0.2 --cpu-use 0.5 --pattern bsp");
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_NE(good.out.find("job 1 (phases) of "), std::string::npos) << good.out;
  EXPECT_NE(good.out.find(": completed\n"), std::string::npos) << good.out;
  const ShellResult bad = replay("submit --wait --json sh -c 'exit 3'");
  EXPECT_EQ(bad.status, 1) << bad.out;
  const auto job = nlohmann::json::parse(bad.out);
  EXPECT_EQ(job["id"], 2);
  EXPECT_EQ(job["outcome"], "failed") << bad.out;
  EXPECT_EQ(job["directory"], std::filesystem::canonical(folder_.path()).string());
  EXPECT_EQ(replay("submit phases --runtime 0.1").out, "3\n");
  const ShellResult full = replay("submit phases --runtime 0.1 >/dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_NE(full.err.find("replay: job 4 has been submitted; its number could not be written\n"), std::string::npos)
      << full.err;
  const ShellResult closed =
      run(fmt::format("{{ trap '' PIPE; while echo 2>/dev/null; do :; done; trap - PIPE\n"  // until the reader has gone
                      "{} submit phases --runtime 0.1; echo $? >status; }} | true",
                      REPLAY_PROGRAM));
  EXPECT_EQ(closed.err, "replay: job 5 has been submitted; its number could not be written\n");
  EXPECT_EQ(text_of(folder_ / "status"), fmt::format("{}\n", 128 + SIGPIPE));
  EXPECT_TRUE(shows("jobs 5", "job 5 (phases) of "));
}

TEST_F(ServiceClients, ThreadsThatShareTheCoreOfTheirRankHaveANote) {
  start();
  const ShellResult result = run(fmt::format("OMP_NUM_THREADS=4,2 {} submit phases --runtime 0.1", REPLAY_PROGRAM));
  EXPECT_EQ(result.out, "1\n");
  EXPECT_NE(result.err.find("replay: note: OMP_NUM_THREADS=4: a rank has one core"), std::string::npos) << result.err;
}

TEST_F(ServiceClients, JobsAndCancelShowAndEndWhatWaitsAndRuns) {
  start();
  ASSERT_EQ(replay(kLong).status, 0);
  ASSERT_EQ(replay(kLong).status, 0);
  ASSERT_TRUE(shows("jobs", "running")) << replay("jobs").out;
  const ShellResult table = replay("jobs");
  EXPECT_NE(table.out.find("waiting"), std::string::npos) << table.out;
  EXPECT_EQ(std::ranges::count(table.out, '\n'), 3) << table.out;
  const ShellResult one = replay("jobs 2 9");
  EXPECT_EQ(one.status, 1) << "there is no job 9";
  EXPECT_NE(one.out.find("job 2 (long)"), std::string::npos) << one.out;
  EXPECT_NE(one.err.find("9"), std::string::npos) << one.err;

  const ShellResult cancel = replay("cancel 2 1 9");
  EXPECT_EQ(cancel.status, 1);
  EXPECT_NE(cancel.out.find("job 2: does not wait any more\n"), std::string::npos) << cancel.out;
  EXPECT_NE(cancel.out.find("job 1: is being ended\n"), std::string::npos) << cancel.out;
  ASSERT_TRUE(shows("jobs", "no job waits or runs")) << replay("jobs").out;
  const auto all = nlohmann::json::parse(replay("jobs --all --json").out);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["state"], "ended");
  EXPECT_EQ(all[1]["outcome"], "cancelled");
  EXPECT_EQ(replay("cancel 2").err, "replay: job 2 has ended already: cancelled\n");
}

TEST_F(ServiceClients, WrongInputIsRefusedWithWhatWasExpected) {
  const ShellResult nobody = replay("jobs");
  EXPECT_EQ(nobody.status, 1);
  EXPECT_NE(nobody.err.find("no service at"), std::string::npos) << nobody.err;
  EXPECT_NE(nobody.err.find("replay serve"), std::string::npos) << nobody.err;
  start();
  const auto expect_refused = [this](const std::string& words, int status, const char* message) {
    const ShellResult result = replay(words);
    EXPECT_EQ(result.status, status) << words;
    EXPECT_NE(result.err.find(message), std::string::npos) << words << ": " << result.err;
  };
  expect_refused("submit", 2, "submit: expected a program");
  expect_refused("submit --rigit phases", 2, "submit: there is no option '--rigit'; did you mean '--rigid'?");
  expect_refused("submit -n 5 phases --runtime 1", 1, "5");
  expect_refused("submit -n 0 phases --runtime 1", 2, "-n");
  expect_refused("submit --time 0.5s phases", 2, "--time: expected a duration from 1 s to 10 years");
  expect_refused("submit no-such-program", 1, "no-such-program: expected a program, one of `replay benchmarks`");
  expect_refused("submit ./err", 1, "./err: expected a program, found none that can be executed");
  expect_refused("submit --directory nowhere phases", 2, "--directory: expected a folder, found 'nowhere'");
  std::filesystem::create_directory(folder_ / "closed");
  std::filesystem::permissions(folder_ / "closed", std::filesystem::perms::none);
  const std::string closed = (folder_ / "closed").string();
  const std::string as_another =
      ::geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups -- " : "";  // root may enter it
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
  const ShellResult denied = run(fmt::format("{}{} submit --directory {} phases", as_another, REPLAY_PROGRAM, closed));
  EXPECT_EQ(denied.status, 2) << denied.err;
  EXPECT_EQ(denied.err, fmt::format("replay: --directory: cannot start in {}: Permission denied\n", closed));
  expect_refused("jobs --watch --json", 2, "jobs --watch shows all jobs");
  expect_refused("jobs 0", 2, "JOB");
  expect_refused("cancel", 2, "JOB");
  EXPECT_NE(replay("jobs --all").out.find("no job was submitted yet"), std::string::npos) << "nothing of it is a job";
}

TEST_F(ServiceClients, WatchShowsTheJobsAndLeavesTheServiceAlone) {
  if (shell("test -x /bin/dash").status != 0) GTEST_SKIP() << "/bin/dash is missing";
  start();
  const PtyShell::Variables terminal{
      {"TERM", "xterm-256color"}, {"LANG", "C.UTF-8"}, {"REPLAY_SERVICE", (folder_ / "s").string()}};
  PtyShell user{folder_.path(), 80, 24, terminal};
  ASSERT_TRUE(user.shows("ready>"));
  const termios before = user.modes();
  const std::string watch = fmt::format("{} jobs --watch; echo \"status $?\"\r", REPLAY_PROGRAM);
  user.type(watch);
  ASSERT_TRUE(user.shows("fcfs-malleable on emulated:1x2x2")) << user.screen().text();
  ASSERT_EQ(replay(kLong).status, 0);
  ASSERT_EQ(replay(kLong).status, 0);
  ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
  user.type("?");
  EXPECT_TRUE(user.shows("leave; the run goes on")) << user.screen().text();
  user.type("?");
  ASSERT_TRUE(user.hides("this help"));
  user.type("q");
  ASSERT_TRUE(user.shows("status 0")) << user.screen().text();
  EXPECT_TRUE(are_equal(user.modes(), before));
  EXPECT_NE(replay("jobs").out.find("running"), std::string::npos) << "the service goes on";

  PtyShell late{folder_.path(), 80, 24, terminal};
  late.type(watch);
  ASSERT_TRUE(late.shows("A 1 (4")) << "what was before is read";
  stop();
  ASSERT_TRUE(late.shows("has ended")) << late.screen().text();
  ASSERT_TRUE(late.shows("status 0")) << late.screen().text();
  EXPECT_TRUE(are_equal(late.modes(), before));
}

TEST_F(ServiceClients, TheLivePageOfAServiceFollowsItsJobsAndIsToldOfItsEnd) {
  start({"--live-page"});
  const std::filesystem::path file = std::filesystem::canonical(folder_ / "s") / "live-page";
  ASSERT_TRUE(comes_true([&file] { return std::filesystem::exists(file); }));
  EXPECT_EQ(service_->out().find("http://"), std::string::npos) << "others may read the output of a service";
  EXPECT_NE(service_->out().find("live page: its address is in "), std::string::npos) << service_->out();
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms{0600});
  const std::string text = text_of(file), url = text.substr(0, text.find('\n'));
  HttpClient client{static_cast<std::uint16_t>(std::stoi(url.substr(17)))};
  client.get(url.substr(url.find('/', 7)) + "events");
  ASSERT_EQ(replay("submit -n 2 --wait phases --runtime 0.2 --cpu-use 0.5 --pattern bsp").status, 0);
  const auto has_end_of_job = [&client] {
    client.read();
    return std::ranges::any_of(events_in(client.body()), [](const SentEvent& event) {
      if (event.name != "records") return false;
      const auto changes = nlohmann::json::parse(event.data);
      return changes.contains("jobs") && changes["jobs"]["id"] == nlohmann::json::array({1}) &&
             changes["jobs"]["end"][0].is_number();
    });
  };
  EXPECT_TRUE(comes_true(has_end_of_job)) << client.body();
  stop();
  ASSERT_TRUE(reads_to_end(client));
  const auto events = events_in(client.body());
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().name, "end");
  EXPECT_NE(events.back().data.find("the service has ended"), std::string::npos) << events.back().data;
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace replay::test
