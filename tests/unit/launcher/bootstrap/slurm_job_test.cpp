// Tests of the hosts that Slurm's variables name, in every form of a list that Slurm prints, and of the time that is
// left.
#include "launcher/bootstrap/slurm_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// "n1:4 n2:4".
std::string text_of(const std::vector<Host>& hosts) {
  std::vector<std::string> texts;
  for (const Host& host : hosts) texts.push_back(fmt::format("{}:{}", host.host, host.at_most.value_or(0)));
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string refusal_of(std::string_view nodes, std::string_view cpus) {
  try {
    return text_of(slurm_hosts(nodes, cpus));
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(SlurmHosts, AreExpandedInTheirOrder) {
  EXPECT_EQ(text_of(slurm_hosts("n1", "4")), "n1:4");
  EXPECT_EQ(text_of(slurm_hosts("n[1-3,07-09],x5", "4(x2),2,8(x4)")), "n1:4 n2:4 n3:2 n07:8 n08:8 n09:8 x5:8");
  EXPECT_EQ(text_of(slurm_hosts("n[8-11]", "1(x4)")), "n8:1 n9:1 n10:1 n11:1");
  EXPECT_EQ(text_of(slurm_hosts("n[098-101]", "1(x4)")), "n098:1 n099:1 n100:1 n101:1");
  EXPECT_EQ(text_of(slurm_hosts("b,a[2],a1", "1(x3)")), "b:1 a2:1 a1:1");
  EXPECT_EQ(text_of(slurm_hosts("rack[0-1]n[01-02]-ib", "2(x4)")),
            "rack0n01-ib:2 rack0n02-ib:2 rack1n01-ib:2 rack1n02-ib:2");
  EXPECT_EQ(text_of(slurm_hosts("c1-[2-3].lab,10.0.0.[7,9]", "2(x4)")), "c1-2.lab:2 c1-3.lab:2 10.0.0.7:2 10.0.0.9:2");
}

TEST(SlurmHosts, ThatAreNoneAreRefusedWithTheVariable) {
  const std::string names = "SLURM_JOB_NODELIST: expected names of hosts such as n[1-3,07-09],x5, found '";
  const std::string numbers = "SLURM_JOB_NODELIST: expected numbers such as 1-3,07-09 between [ and ], found '";
  const std::string counts = "SLURM_JOB_CPUS_PER_NODE: expected counts from 1 to 4096 such as 4(x2),2, found '";
  for (const char* nodes : {"", "a,,b", "a,", "-oProxyCommand=x", "$(reboot)", "a]", "a b"})
    EXPECT_EQ(refusal_of(nodes, "1"), names + nodes + "'");
  EXPECT_EQ(refusal_of("n[1-3", "1"), "SLURM_JOB_NODELIST: expected a ']' behind each '[', found 'n[1-3'");
  for (const char* ranges : {"", "1-", "-1", "3-1", "a-b", "1,,2", "1-2-3", "+1", "1 ", "1[2", "0000000001"})
    EXPECT_EQ(refusal_of(fmt::format("n[{}]", ranges), "1"), numbers + ranges + "'");
  EXPECT_EQ(refusal_of("a,n[1-2],n2", "1(x4)"), "SLURM_JOB_NODELIST: expected each host once, found 'n2'");
  for (const char* cpus : {"", "0", "4(x0)", "4(x2", "4(2)", "x", "1,", "4097", "4(x2)x"})
    EXPECT_EQ(refusal_of("a", cpus), counts + cpus + "'");
  EXPECT_EQ(refusal_of("n[1-3]", "4(x2)"),
            "SLURM_JOB_CPUS_PER_NODE: expected as many counts as SLURM_JOB_NODELIST has hosts, 3, found '4(x2)'");
}

TEST(SlurmHosts, AreAtMost512WhateverTheListSays) {
  EXPECT_EQ(slurm_hosts("n[1-512]", "1(x512)").size(), 512U);
  for (const char* nodes : {"n[1-513]", "n[0-999999999]", "a[1-100]b[1-100]", "n[1-512],x"})
    EXPECT_EQ(refusal_of(nodes, "1"), "SLURM_JOB_NODELIST: expected at most 512 hosts, found 'more'");
  EXPECT_EQ(refusal_of("a", "1(x512),1"), "SLURM_JOB_NODELIST: expected at most 512 hosts, found 'more'");
}

TEST(SlurmTimeLeft, IsReadAsSqueuePrintsIt) {
  EXPECT_EQ(parse_time_left("0:59"), 59s);
  EXPECT_EQ(parse_time_left("1:02:03"), 3723s);
  EXPECT_EQ(parse_time_left("2-00:00:01"), 48h + 1s);
  for (const char* text : {"UNLIMITED", "NOT_SET", "INVALID", "", "1:2:3:4", "-1:00", "1-", "a:00", "1:"})
    EXPECT_EQ(parse_time_left(text), std::nullopt) << text;
}

class SlurmJobTest : public testing::Test {
 protected:
  void SetUp() override {
    set("SLURM_JOB_ID", "17");
    set("SLURM_JOB_NODELIST", "n[1-2]");
    set("SLURM_JOB_CPUS_PER_NODE", "4(x2)");
    for (const char* name : {"SLURM_HET_SIZE", "SLURM_JOB_END_TIME"}) ::unsetenv(name);
  }
  void TearDown() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
    set_.emplace_back(name);
  }
  static std::string refusal(std::string_view words = "") {
    try {
      return text_of(slurm_job(words).hosts);
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  std::vector<std::string> set_;
};

TEST_F(SlurmJobTest, HasTheHostsOfItsVariables) {
  const SlurmJob job = slurm_job("");
  EXPECT_EQ(job.id, "17");
  EXPECT_EQ(text_of(job.hosts), "n1:4 n2:4");
}

TEST_F(SlurmJobTest, WordsOfAHostsFileHoldForEachHost) {
  const std::vector<Host> with_device = slurm_job("iface=ib0").hosts;
  EXPECT_EQ(with_device, (std::vector<Host>{{.host = "n1", .at_most = 4, .interface = "ib0"},
                                            {.host = "n2", .at_most = 4, .interface = "ib0"}}));
  const std::vector<Host> emulated = slurm_job("emulated=1x8,iface=ib0").hosts;
  EXPECT_EQ(emulated[1], (Host{.host = "n2", .emulated = EmulatedCores{1, 8}, .interface = "ib0"}));
  EXPECT_EQ(slurm_job("slots=2").hosts[0], (Host{.host = "n1", .slots = 2}));
  EXPECT_EQ(
      refusal("emulated=8"),
      "--machine slurm:emulated=8: emulated: expected PACKAGESxCORES with at most 4096 cores, such as 2x4, found '8'");
  EXPECT_EQ(refusal("agent=40123"),
            "--machine slurm:agent=40123: word: expected slots=N, cores=LIST, emulated=PACKAGESxCORES or iface=NAME, "
            "found 'agent=40123'");
}

TEST_F(SlurmJobTest, OutsideOfOneTheUserIsTold) {
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_THROW((void)slurm_job(""), UsageError);
  EXPECT_NE(refusal().find("expected to run inside a job of Slurm"), std::string::npos) << refusal();
  set("SLURM_JOB_ID", "17; reboot");
  EXPECT_EQ(refusal(), "SLURM_JOB_ID: expected a number, found '17; reboot'");
}

TEST_F(SlurmJobTest, AHeterogeneousOneIsRefused) {
  set("SLURM_HET_SIZE", "2");
  EXPECT_NE(refusal().find("SLURM_HET_SIZE: expected no heterogeneous job"), std::string::npos) << refusal();
}

TEST_F(SlurmJobTest, TheTimeLeftIsThatOfItsVariable) {
  set("SLURM_JOB_END_TIME", fmt::format("{}", std::time(nullptr) + 1000));
  const auto left = slurm_time_left("17");
  ASSERT_TRUE(left.has_value());
  EXPECT_GE(*left, 990s);
  EXPECT_LE(*left, 1000s);
  set("SLURM_JOB_END_TIME", "7");
  EXPECT_EQ(slurm_time_left("17"), 0s);
}

TEST_F(SlurmJobTest, TheTimeLeftIsThatOfSqueue) {
  const TemporaryFolder folder;
  const std::string before = std::getenv("PATH");
  const auto squeue = [&](const std::string& script) {
    test::write_text(folder / "squeue", "#!/bin/sh\n" + script);
    fs::permissions(folder / "squeue", fs::perms::owner_all);
  };
  ::setenv("PATH", (folder.path().string() + ":" + before).c_str(), 1);
  squeue(fmt::format("echo \"$@\" >{}/words; echo 10:00\n", folder.path().string()));
  EXPECT_EQ(slurm_time_left("17"), 10min);
  EXPECT_EQ(test::text_of(folder / "words"), "--noheader --jobs=17 --format=%L\n");
  squeue("echo UNLIMITED\n");
  EXPECT_EQ(slurm_time_left("17"), std::nullopt);
  squeue("echo no controller >&2; exit 1\n");
  EXPECT_EQ(slurm_time_left("17"), std::nullopt);
  ::setenv("PATH", folder.path().c_str(), 1);
  fs::remove(folder / "squeue");
  EXPECT_EQ(slurm_time_left("17"), std::nullopt) << "there is no squeue";
  ::setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace replay::launcher
