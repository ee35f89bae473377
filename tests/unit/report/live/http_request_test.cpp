#include "scheduler/report/live/http_request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace replay::report {
namespace {

using Method = HttpRequest::Method;

TEST(HttpRequest, HasTheMethodThePathAndTheHost) {
  const std::string head = "GET /abc/events?x=1 HTTP/1.1\r\nAccept: */*\r\nhOST:\t localhost:8080 \r\n\r\n";
  const auto request = parse_request(head);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, Method::kGet);
  EXPECT_EQ(request->path, "/abc/events?x=1");
  EXPECT_EQ(request->host, "localhost:8080");
  EXPECT_EQ(parse_request("HEAD / HTTP/1.0\r\nHost: a\r\n\r\n")->method, Method::kHead);
  EXPECT_EQ(parse_request("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n")->method, Method::kOther);
  EXPECT_EQ(parse_request("get / HTTP/1.1\r\nHost: a\r\n\r\n")->method, Method::kOther);
}

TEST(HttpRequest, EndsWithTheBlankLine) {
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\nHost: a\r\n"), std::nullopt);
  EXPECT_EQ(head_length("GET / HTTP/1.1\n\nHost: a\n\n"), std::nullopt);
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\n\r\nmore"), 18U);
}

TEST(HttpRequest, IsRefusedWhenItIsNotWhatABrowserSends) {
  for (const char* head : {
           "\r\n\r\n",
           "GET /\r\nHost: a\r\n\r\n",
           "GET / HTTP/2\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
           "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
           "GET / HTTP/1.1\r\nno field\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: chunked\r\n\r\n",
       })
    EXPECT_FALSE(parse_request(head)) << head;
}

TEST(HttpRequest, OnlyNamesOfTheLoopbackAreHosts) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]", "[::1]:8080"})
    EXPECT_TRUE(is_loopback_name(host)) << host;
  for (const char* host :
       {"", ":80", "example.org", "127.0.0.1.example.org", "localhost.example.org:80", "127.0.0.2", "localhost:80:80",
        "localhost:port", "localhost:123456", "user@localhost", "::1", "[::1", "localhost."})
    EXPECT_FALSE(is_loopback_name(host)) << host;
}

}  // namespace
}  // namespace replay::report
