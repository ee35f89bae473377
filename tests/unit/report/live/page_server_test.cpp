// The server of the live page, with clients that send what they like. The loop runs in the test, so that nothing here waits
// for a fixed time.
#include "scheduler/report/live/page_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/support/http_client.hpp"

namespace replay::report {
namespace {

using test::HttpClient;
using test::SentEvent;
using std::chrono_literals::operator""ms;

class Server : public testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }  // as the program does

  PageServer& start(const ServerLimits& limits = {}) {
    server_ = std::make_unique<PageServer>(loop_.get(), 0, limits);
    server_->show("<p>page</p>");
    return *server_;
  }
  void turn() { event_base_loop(loop_.get(), EVLOOP_NONBLOCK); }
  template <class Condition>
  [[nodiscard]] bool until(const Condition& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      turn();
    }
    return true;
  }
  /// "/TOKEN/".
  [[nodiscard]] std::string path() const { return server_->url().substr(server_->url().find('/', 7)); }
  [[nodiscard]] HttpClient client(int receive_buffer = 0) const { return HttpClient{server_->port(), receive_buffer}; }
  /// The whole answer to these bytes.
  [[nodiscard]] HttpClient ask(const std::string& bytes) {
    HttpClient one = client();
    one.send(bytes);
    EXPECT_TRUE(test::reads_to_end(one, [this] { turn(); })) << bytes;
    return one;
  }
  [[nodiscard]] HttpClient get(const std::string& path) {
    return ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  /// A client whose stream of events is open.
  [[nodiscard]] HttpClient stream(int receive_buffer = 0) {
    const std::size_t before = server_->streams().size();
    HttpClient one = client(receive_buffer);
    one.get(path() + "events");
    EXPECT_TRUE(until([&] { return server_->streams().size() > before; }));
    return one;
  }

  EventBase loop_ = precise_loop();
  std::unique_ptr<PageServer> server_;
};

TEST_F(Server, HasAnAddressOnLoopbackWithATokenThatIsNewEachTime) {
  std::set<std::string> tokens;
  for (int i = 0; i < 20; ++i) {
    start();
    EXPECT_EQ(server_->url(), fmt::format("http://127.0.0.1:{}{}", server_->port(), path()));
    EXPECT_EQ(path().size(), 42U) << "160 bits, and two slashes";
    tokens.insert(path());
  }
  EXPECT_EQ(tokens.size(), 20U);
}

TEST_F(Server, SendsThePageToWhoHasTheToken) {
  start();
  const HttpClient answer = get(path());
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body(), "<p>page</p>");
  EXPECT_NE(answer.received().find("Content-Length: 11\r\n"), std::string::npos);
  EXPECT_EQ(get(path() + "?reload").body(), "<p>page</p>");
}

TEST_F(Server, WithoutTheTokenEveryPathHasTheSameAnswer) {
  start();
  std::string other = path();
  other[5] = other[5] == 'a' ? 'b' : 'a';
  const std::string nothing = get("/").received();
  EXPECT_TRUE(nothing.starts_with("HTTP/1.1 404 Not Found\r\n")) << nothing;
  for (const std::string& wrong :
       {other, other + "events", std::string{"/favicon.ico"}, path().substr(0, 41), path() + "more",
        path().substr(0, 30), "/" + path(), path() + "events/", "/x" + path(), std::string{"/?"} + path()})
    EXPECT_EQ(get(wrong).received(), nothing) << wrong;
  EXPECT_TRUE(server_->streams().empty());
}

TEST_F(Server, OnlyReads) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"}) {
    const HttpClient answer = ask(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n\r\n", method, path()));
    EXPECT_EQ(answer.status(), 405) << method;
    EXPECT_NE(answer.received().find("Allow: GET, HEAD\r\n"), std::string::npos) << method;
  }
  EXPECT_EQ(ask(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", path())).status(),
            400);
}

TEST_F(Server, AHeadHasTheSameHeadAndNoBody) {
  start();
  for (const std::string& what : {path(), std::string{"/wrong"}}) {
    const std::string whole = get(what).received();
    const HttpClient head = ask(fmt::format("HEAD {} HTTP/1.1\r\nHost: localhost\r\n\r\n", what));
    EXPECT_EQ(head.received(), whole.substr(0, whole.find("\r\n\r\n") + 4));
  }
  const HttpClient events = ask(fmt::format("HEAD {}events HTTP/1.1\r\nHost: localhost\r\n\r\n", path()));
  EXPECT_EQ(events.status(), 200);
  EXPECT_EQ(events.body(), "");
}

TEST_F(Server, AnotherSitesNameForThisAddressIsRefusedWithTheTokenToo) {
  start();
  for (const char* host : {"example.org", "127.0.0.1.example.org", "localhost.example.org:80"})
    EXPECT_EQ(ask(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", path(), host)).status(), 403) << host;
  EXPECT_EQ(ask(fmt::format("GET {} HTTP/1.1\r\n\r\n", path())).status(), 400);
  // A port that leads here through ssh is as good as ours.
  EXPECT_EQ(ask(fmt::format("GET {} HTTP/1.1\r\nHost: localhost:9999\r\n\r\n", path())).status(), 200);
}

TEST_F(Server, EveryAnswerForbidsWhatThePageDoesNotNeed) {
  start();
  for (const HttpClient& answer : {get(path()), get("/"), ask("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")}) {
    const std::string& said = answer.received();
    for (const char* field : {"Content-Security-Policy: default-src 'none'; ", "; frame-ancestors 'none'\r\n",
                              "Cache-Control: no-store\r\n", "Referrer-Policy: no-referrer\r\n",
                              "X-Content-Type-Options: nosniff\r\n", "Connection: close\r\n"})
      EXPECT_NE(said.find(field), std::string::npos) << field;
    EXPECT_EQ(said.find("Access-Control"), std::string::npos);
  }
}

TEST_F(Server, ARequestThatIsTooLargeIsRefused) {
  start();
  const std::string begin = fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nX: ", path());
  EXPECT_EQ(ask(begin + std::string(10'000, 'x') + "\r\n\r\n").status(), 200);
  EXPECT_EQ(ask(begin + std::string(20'000, 'x') + "\r\n\r\n").status(), 431);
  EXPECT_EQ(ask(begin + std::string(20'000, 'x')).status(), 431) << "it is not waited for its end";
  EXPECT_EQ(ask(std::string(20'000, '\0')).status(), 431);
}

TEST_F(Server, AClientThatSendsWithoutEndIsClosed) {
  start();
  HttpClient one = stream();
  for (int i = 0; i < 20; ++i) {
    one.send(std::string(10'000, 'x'));
    turn();
  }
  EXPECT_TRUE(until([this] { return server_->streams().empty(); }));
}

TEST_F(Server, ARequestThatDoesNotEndIsClosed) {
  start({.request = 50ms});
  HttpClient silent = client(), slow = client();
  slow.send("GET / HTTP/1.1\r\nHost: ");
  EXPECT_TRUE(test::reads_to_end(silent, [this] { turn(); }));
  EXPECT_TRUE(test::reads_to_end(slow, [this] { turn(); }));
  EXPECT_EQ(slow.received(), "");
  EXPECT_TRUE(server_->is_idle());
}

TEST_F(Server, AnAnswerThatIsNotTakenIsDropped) {
  start({.answer = 50ms});
  server_->show(std::string(30'000'000, 'x'));  // more than the kernel keeps
  HttpClient one = client(4096);
  one.get(path());
  ASSERT_TRUE(until([this] { return !server_->is_idle(); }));
  EXPECT_TRUE(until([this] { return server_->is_idle(); }));
}

TEST_F(Server, WhenConnectionsRunOutOneWithoutTheTokenMakesRoom) {
  start({.connections = 3, .streams = 3});
  HttpClient first = client(), second = client(), third = client();
  EXPECT_EQ(get(path()).status(), 200);
  EXPECT_TRUE(until([&] { return first.read(), first.is_closed(); }));
  second.read();
  EXPECT_FALSE(second.is_closed());
}

TEST_F(Server, ClientsWithTheTokenAreNotPushedOut) {
  start({.connections = 2, .streams = 2});
  HttpClient first = stream(), second = stream();
  HttpClient third = client();
  third.get(path());
  EXPECT_TRUE(test::reads_to_end(third, [this] { turn(); }));
  EXPECT_EQ(third.received(), "");
  EXPECT_EQ(server_->streams().size(), 2U);
}

TEST_F(Server, StreamsHaveALimitOfTheirOwn) {
  start({.streams = 1});
  HttpClient first = stream();
  EXPECT_EQ(get(path() + "events").status(), 503);
  EXPECT_EQ(get(path()).status(), 200);
  first.close();
  EXPECT_TRUE(until([this] { return server_->streams().empty(); }));
  const HttpClient again = stream();
}

TEST_F(Server, SendsEventsInOrder) {
  start();
  HttpClient one = stream();
  const PageServer::Stream number = server_->streams().front();
  server_->send(number, "begin", R"({"a":1})");
  server_->send(number, "end", "{}");
  server_->close();
  EXPECT_TRUE(test::reads_to_end(one, [this] { turn(); }));
  EXPECT_NE(one.received().find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_EQ(one.body(), "event: begin\ndata: {\"a\":1}\n\nevent: end\ndata: {}\n\n");
}

TEST_F(Server, AClientThatTakesNothingIsDropped) {
  start({.stall = 50ms});
  HttpClient one = stream(4096);
  const PageServer::Stream number = server_->streams().front();
  server_->send(number, "records", std::string(30'000'000, 'x'));
  ASSERT_TRUE(until([&] { return server_->streams().empty() || server_->waiting(number) < 30'000'000; }));
  EXPECT_TRUE(until([this] { return server_->streams().empty(); }));
}

TEST_F(Server, AClientThatGoesIsForgotten) {
  start();
  HttpClient one = stream();
  one.close();
  EXPECT_TRUE(until([this] { return server_->is_idle(); }));
}

TEST_F(Server, CloseTakesNobodyNewAndLetsTheRestBeRead) {
  start();
  HttpClient silent = client(), reading = stream(4096);
  ASSERT_TRUE(until([this] { return server_->streams().size() == 1; }));
  const std::string much(2'000'000, 'x');
  server_->send(server_->streams().front(), "records", much);
  const std::uint16_t port = server_->port();
  server_->close();
  EXPECT_THROW(HttpClient{port}, std::exception);
  EXPECT_TRUE(test::reads_to_end(reading, [this] { turn(); }));
  EXPECT_EQ(reading.body(), "event: records\ndata: " + much + "\n\n");
  EXPECT_TRUE(test::reads_to_end(silent, [this] { turn(); }));
  reading.close();
  silent.close();
  EXPECT_TRUE(until([this] { return server_->is_idle(); }));
}

TEST_F(Server, SaysWhenAPortIsTaken) {
  const PageServer& server = start();
  try {
    const PageServer second{loop_.get(), server.port()};
    FAIL() << "two servers on one port";
  } catch (const InputError& error) {
    EXPECT_EQ(
        std::string{error.what()},
        fmt::format(
            "port {} of 127.0.0.1: another program listens there: expected a free port, or none for any that is free",
            server.port()));
  }
}

TEST_F(Server, APortCanBeTakenAgainAfterItsServer) {
  start();
  const std::uint16_t port = server_->port();
  const HttpClient open = stream();
  server_.reset();
  EXPECT_NO_THROW((PageServer{loop_.get(), port}));
}

}  // namespace
}  // namespace replay::report
