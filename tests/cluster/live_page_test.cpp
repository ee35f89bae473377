// `replay --live-page` with real MPI programs on emulated cores: a client gets the run while it goes on, and the run ends as
// it does without one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/background.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/live_state.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

class LivePageOfARun : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    // The second and third jobs shrink the first, which is expanded again.
    write_text(folder_ / "t.swf",
               "; MaxProcs: 4\n"
               "1 0 -1 3 4 1.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "2 0.5 -1 0.5 2 0.5 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "3 1.5 -1 0.5 1 0.5 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  }
  void start(const std::string& policies) {
    const std::vector<std::string> arguments{
        "--trace", (folder_ / "t.swf").string(), "--policy",   policies, "--machine", "emulated:1x2x2",
        "--out",   (folder_ / "r").string(),     "--live-page"};
    replay_ = std::make_unique<Background>(REPLAY_PROGRAM, arguments, folder_ / "out", folder_ / "err");
    ASSERT_TRUE(comes_true([this] { return !address().empty(); })) << replay_->err();
    ASSERT_TRUE(comes_true([this] { return replay_->out().find("job 1 started") != std::string::npos; }))
        << replay_->err();
  }
  [[nodiscard]] std::filesystem::path address_file() const { return folder_ / "r" / "live-page"; }
  /// As the program has written it; empty: it has not yet.
  [[nodiscard]] std::string address() const {
    const std::string text = std::filesystem::exists(address_file()) ? text_of(address_file()) : "";
    return text.substr(0, text.find('\n'));
  }
  [[nodiscard]] HttpClient browse() const {
    const std::string url = address();
    HttpClient client{static_cast<std::uint16_t>(std::stoi(url.substr(17)))};
    client.get(url.substr(url.find('/', 7)) + "events");
    return client;
  }
  [[nodiscard]] static std::size_t count(const HttpClient& client, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::count(events_in(client.body()), name, &SentEvent::name));
  }
  [[nodiscard]] static std::string last_words(const HttpClient& client) {
    const auto events = events_in(client.body());
    return events.empty() || events.back().name != "end" ? "" : events.back().data;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Background> replay_;
};

TEST_F(LivePageOfARun, EndsWithWhatThePageOfItsEventLogShows) {
  start("fcfs-malleable");
  HttpClient client = browse();
  ASSERT_TRUE(comes_true([&client] { return client.read(), count(client, "records") > 3; })) << client.received();
  ASSERT_TRUE(reads_to_end(client));
  EXPECT_EQ(replay_->wait(), 0) << replay_->err();
  EXPECT_NE(last_words(client).find("the run is over"), std::string::npos) << last_words(client);
  EXPECT_NE(replay_->out().find("shrunk"), std::string::npos) << replay_->out();
  if (const std::string missing = why_no_node(); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_EQ(difference_to_page(client.body(), folder_ / "r" / "events.log"), "");
}

TEST_F(LivePageOfARun, TheAddressIsForItsUserAloneWhereTheOutputIsNoTerminal) {
  start("fcfs");
  EXPECT_NE(replay_->out().find("live page: its address is in " + address_file().string() + "\n"), std::string::npos)
      << replay_->out();
  EXPECT_EQ(std::filesystem::status(address_file()).permissions(), std::filesystem::perms{0600});
  const std::string token = address().substr(address().find('/', 7));
  ASSERT_GT(token.size(), 40U);
  replay_->send(SIGINT);
  EXPECT_EQ(replay_->wait(), 130) << replay_->err();
  EXPECT_EQ((replay_->out() + replay_->err()).find(token), std::string::npos) << replay_->out() << replay_->err();
  EXPECT_FALSE(std::filesystem::exists(address_file())) << "it leads nowhere any more";
}

TEST_F(LivePageOfARun, ARunThatWasKilledLeavesItsAddressAndItsFolderCanBeReplaced) {
  start("fcfs");
  replay_->send(SIGKILL);
  (void)replay_->wait();
  EXPECT_TRUE(std::filesystem::exists(address_file()));
  const ShellResult again = shell(fmt::format("{} simulate --trace {} --policy fcfs --out {} --force", REPLAY_PROGRAM,
                                              (folder_ / "t.swf").string(), (folder_ / "r").string()));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_FALSE(std::filesystem::exists(address_file()));
}

TEST_F(LivePageOfARun, GoesOnWithTheNextPolicy) {
  start("fcfs-malleable,fcfs");
  HttpClient client = browse();
  ASSERT_TRUE(reads_to_end(client));
  EXPECT_EQ(replay_->wait(), 0) << replay_->err();
  EXPECT_EQ(count(client, "begin"), 2U);
  EXPECT_EQ(count(client, "end"), 1U);
  if (const std::string missing = why_no_node(); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_EQ(difference_to_page(client.body(), folder_ / "r" / "fcfs" / "events.log"), "");
}

TEST_F(LivePageOfARun, IsToldOfCtrlC) {
  start("fcfs-malleable");
  HttpClient client = browse();
  ASSERT_TRUE(comes_true([&client] { return client.read(), count(client, "records") > 0; })) << client.received();
  replay_->send(SIGINT);
  ASSERT_TRUE(reads_to_end(client));
  EXPECT_EQ(replay_->wait(), 130) << replay_->err();
  EXPECT_NE(last_words(client).find("the run was interrupted"), std::string::npos) << last_words(client);
}

}  // namespace
}  // namespace replay::test
