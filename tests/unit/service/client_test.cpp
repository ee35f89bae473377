// Tests of a client of the service, against a server that answers what the test says.
#include "scheduler/service/client.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;

// Takes one client, reads its requests, and sends for each what the script says; then it closes the connection, if it is to.
class Server {
 public:
  /// Called with the stream and the first line of the request, without its end.
  using Script = std::function<void(int stream, const std::string& request)>;

  Server(const ServiceFolder& folder, Script script) : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(folder.socket().string(), std::begin(address.sun_path));
    ::unlink(address.sun_path);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    thread_ = std::thread{[this, script = std::move(script)] {
      const UniqueFd stream{::accept(listener_.get(), nullptr, nullptr)};
      script(stream.get(), line_from(stream.get()));
    }};
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { thread_.join(); }

  static std::string line_from(int stream) {
    std::string line;
    for (char byte = 0; ::recv(stream, &byte, 1, 0) == 1 && byte != '\n';) line += byte;
    return line;
  }

 private:
  UniqueFd listener_;
  std::thread thread_;
};

void say(int stream, const std::string& text) {
  EXPECT_EQ(::send(stream, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

class ClientOfService : public testing::Test {
 protected:
  [[nodiscard]] std::string place() const { return "the service at " + temporary_.path().string(); }
  /// What asking for job 1 ends with when the server sends `answer` and closes.
  [[nodiscard]] std::string asked(const std::string& answer) const {
    const Server server{folder_, [&answer](int stream, const std::string&) { say(stream, answer); }};
    Client client{folder_, 5s};
    return error_of([&client] { (void)client.get<Submitted>(ShowJob{JobId{1}}); });
  }
  TemporaryFolder temporary_;
  ServiceFolder folder_{temporary_.path().string()};
};

TEST_F(ClientOfService, SendsTheRequestAndReturnsTheAnswer) {
  std::string heard;
  const Server server{folder_, [&heard](int stream, const std::string& request) {
                        heard = request;
                        say(stream, R"({"ok":true,"submitted":17})");
                        say(stream,
                            "\n"
                            R"({"ok":true,"submitted":18})"
                            "\n");  // in pieces, and more than was asked for
                        (void)Server::line_from(stream);
                      }};
  Client client{folder_};
  EXPECT_EQ(client.get<Submitted>(ShowJob{JobId{17}}).job, JobId{17});
  EXPECT_EQ(heard, to_line(Request{ShowJob{JobId{17}}}));
  EXPECT_FALSE(client.has_service_gone());
  EXPECT_EQ(client.get<Submitted>(ShowJob{JobId{18}}).job, JobId{18});
}

TEST_F(ClientOfService, ARefusalIsAnErrorInTheWordsOfTheService) {
  EXPECT_EQ(asked("{\"ok\":false,\"error\":\"there is no job 1\"}\n"), "there is no job 1");
}

TEST_F(ClientOfService, SaysWhenThereIsNoService) {
  const std::string none = "no service at " + temporary_.path().string() + ": `replay serve` starts one";
  EXPECT_NE(error_of([this] { (void)Client{folder_}; }).find(none), std::string::npos) << "no socket";
  {
    const Server left{folder_, [](int, const std::string&) {}};
    (void)Client{folder_};
  }
  EXPECT_NE(error_of([this] { (void)Client{folder_}; }).find(none), std::string::npos) << "no process listens at it";
}

TEST_F(ClientOfService, AnswersThatAreNoneAreErrors) {
  EXPECT_NE(asked("nonsense\n").find(place() + " has sent what is no answer: answer: expected a JSON object"),
            std::string::npos);
  EXPECT_NE(asked("{\"ok\":true}\n").find("has sent what is no answer"), std::string::npos);
  EXPECT_EQ(asked("{\"ok\":true,\"jobs\":[],\"more\":false}\n"),
            place() + " has answered another request than this one");
  EXPECT_EQ(asked(""), place() + " has ended the connection, and not answered");
  EXPECT_EQ(asked("{\"ok\":tr"), place() + " has ended the connection, and not answered");
}

TEST_F(ClientOfService, WaitsNoLongerThanItsPatience) {
  const Server server{folder_, [](int stream, const std::string&) { (void)Server::line_from(stream); }};
  Client client{folder_, 1s};
  EXPECT_EQ(error_of([&client] { (void)client.get<Submitted>(ShowJob{JobId{1}}); }),
            place() + " has not answered for 1 s");
}

TEST_F(ClientOfService, WithoutAnAnswerToARequestThatChangesAJobItSaysThatItsFateIsNotKnown) {
  const auto asked = [this](const Request& request, const std::string& answer) {
    const Server server{folder_, [&answer](int stream, const std::string&) { say(stream, answer); }};
    Client client{folder_, 5s};
    return error_of([&] { (void)client.get<Submitted>(request); });
  };
  Submit submit;
  submit.job.command = {"a"};
  submit.job.directory = "/";
  const std::string ask_first =
      "; whether the job has been submitted is not known: look with `replay jobs --all` before it is submitted again";
  EXPECT_EQ(asked(submit, ""), place() + " has ended the connection, and not answered" + ask_first);
  EXPECT_NE(asked(submit, "nonsense\n").find(ask_first), std::string::npos);
  EXPECT_EQ(asked(submit, "{\"ok\":false,\"error\":\"no\"}\n"), "no") << "a refusal is known";
  EXPECT_NE(asked(CancelJob{JobId{1}}, "").find("whether the job has been cancelled is not known"), std::string::npos);
  EXPECT_EQ(asked(WaitForJob{JobId{17}}, ""),
            place() +
                " has ended the connection, and not answered; whether job 17 goes on is not known: `replay jobs 17` "
                "says, once a service is there");
  const Server silent{folder_, [](int stream, const std::string&) { (void)Server::line_from(stream); }};
  Client client{folder_, 1s};
  EXPECT_EQ(error_of([&] { (void)client.get<Submitted>(submit); }), place() + " has not answered for 1 s" + ask_first);
}

TEST_F(ClientOfService, AFolderThatOthersMayWriteOrThatIsAnothersIsNotTrusted) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_NE(error_of([this] {
              (void)Client{folder_};
            }).find("expected a service's folder that no other user may write (mode 0700), found mode 0777"),
            std::string::npos);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  if (::geteuid() != 0) return;  // only root can give a folder away
  ASSERT_EQ(::chown(folder_.path().c_str(), 12345, 0), 0);
  EXPECT_NE(error_of([this] { (void)Client{folder_}; }).find("or of root, found one of uid 12345"), std::string::npos);
}

TEST_F(ClientOfService, AServiceOfAnotherUserGetsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  UniqueFd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(folder_.socket().string(), std::begin(address.sun_path));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  // The kernel keeps the user of listen(); the system call changes that of one thread.
  std::thread{[&listener] {
    EXPECT_EQ(::syscall(SYS_setresuid, 12345, 12345, 12345), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
  }}.join();
  EXPECT_NE(
      error_of([this] { (void)Client{folder_}; }).find("belongs to another user: expected uid 0 or root, found 12345"),
      std::string::npos);
}

TEST_F(ClientOfService, ARequestThatIsTooLongIsNotSentAndSaysWhatMakesItLong) {
  const Server server{folder_, [](int, const std::string&) {}};
  Submit submit;
  submit.job.command = {"a"};
  submit.job.directory = "/";
  submit.job.environment = {"A=" + std::string(kLongestLine, 'x')};
  Client client{folder_};
  EXPECT_NE(error_of([&] { (void)client.get<Submitted>(submit); }).find("most of a job's is its environment"),
            std::string::npos);
  ::send(client.descriptor(), "\n", 1, MSG_NOSIGNAL);
}

TEST_F(ClientOfService, AFolderWithJobsAndWithoutAJournalIsRefused) {
  folder_.expect_journal();  // new
  std::filesystem::create_directories(folder_.path() / "jobs/1");
  EXPECT_NE(error_of([this] { folder_.expect_journal(); }).find("expected the journal of the jobs in"),
            std::string::npos);
}

TEST_F(ClientOfService, AnAnswerWithoutEndIsAnError) {
  const Server server{folder_, [](int stream, const std::string&) {
                        const std::string piece(1 << 20, 'x');
                        while (::send(stream, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
                        }
                      }};
  std::string error;
  {
    Client client{folder_};
    error = error_of([&client] { (void)client.get<Submitted>(ShowJob{JobId{1}}); });
  }
  EXPECT_EQ(error, fmt::format("{} has sent an answer of more than {} bytes", place(), Client::kLongestAnswer));
}

TEST_F(ClientOfService, NoticesThatTheServiceHasGone) {
  bool is_gone_early = true;
  std::unique_ptr<Client> client;
  {
    const Server server{folder_, [](int, const std::string&) {}};
    client = std::make_unique<Client>(folder_);
    is_gone_early = client->has_service_gone();
    ::send(client->descriptor(), "\n", 1, MSG_NOSIGNAL);
  }
  EXPECT_FALSE(is_gone_early);
  EXPECT_TRUE(client->has_service_gone());
}

}  // namespace
}  // namespace replay::service
