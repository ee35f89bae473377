// Tests of the hosts file: what each kind of line means, how the machine files of Hydra and of batch systems are counted, and
// that whatever else stands there is refused with line and field.
#include "launcher/bootstrap/hosts_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/support/memory_bytes.hpp"

namespace replay::launcher {
namespace {

std::vector<Host> hosts_of(const std::string& text) { return read_hosts(test::memory_source(text, "hosts")); }

std::string refusal_of(const std::string& text) {
  try {
    (void)hosts_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

Host with_slots(const std::string& name, int slots) { return {.host = name, .slots = slots}; }

TEST(HostsFile, EachWordHasItsMeaning) {
  EXPECT_EQ(
      hosts_of("# a cluster\n"
               "node1\n"
               "\n"
               "  node-2.example_1\tcores=0,3,1 iface=mlx5_0:1 # the fast one\r\n"
               "10.0.0.3 emulated=2x4\n"
               "   # nothing\n"
               "c slots=8#\n"
               "d iface=eth0 agent=40123"),
      (std::vector<Host>{{.host = "node1"},
                         {.host = "node-2.example_1", .cores = {PuId{0}, PuId{1}, PuId{3}}, .interface = "mlx5_0:1"},
                         {.host = "10.0.0.3", .emulated = EmulatedCores{2, 4}},
                         {.host = "c", .slots = 8},
                         {.host = "d", .interface = "eth0", .agent_port = 40123}}));
}

TEST(HostsFile, FilesOfHydraAndOfBatchSystemsCountSlots) {
  EXPECT_EQ(hosts_of("a:4\nb:2\n"), (std::vector{with_slots("a", 4), with_slots("b", 2)}));
  EXPECT_EQ(hosts_of("a\na\nb\na\nb\n"), (std::vector{with_slots("a", 3), with_slots("b", 2)}));
  EXPECT_EQ(hosts_of("a\nb\nb\n"), (std::vector{with_slots("a", 1), with_slots("b", 2)}))
      << "a bare host is a slot there";
  EXPECT_EQ(hosts_of("a\nb:3\na:2\n"), (std::vector{with_slots("a", 3), with_slots("b", 3)}));
  EXPECT_EQ(hosts_of("a:2\nc cores=2\n"), (std::vector<Host>{with_slots("a", 2), {.host = "c", .cores = {PuId{2}}}}));
  EXPECT_EQ(hosts_of("a\nb\n"), (std::vector<Host>{{.host = "a"}, {.host = "b"}})) << "nothing is counted: all cores";
}

TEST(HostsFile, OtherTextIsRefusedWithLineAndField) {
  const std::string word = "expected slots=N, cores=LIST, emulated=PACKAGESxCORES, iface=NAME or agent=PORT";
  const std::string name =
      "expected a name or an IPv4 address of letters, digits, '.', '_' and '-', and no '-' in front";
  const std::string count = "expected a count from 1 to 4096";
  const struct {
    std::string text, refusal;
  } kCases[] = {
      {"", "hosts: expected a host on a line, such as 'node1 cores=0-3', found none"},
      {"# a\n\n", "hosts: expected a host on a line, such as 'node1 cores=0-3', found none"},
      {"a\n-oProxyCommand=x\n", "hosts:2: field 1 (host): " + name + ", found '-oProxyCommand=x'"},
      {"$(reboot)", "hosts:1: field 1 (host): " + name + ", found '$(reboot)'"},
      {"a;b", "hosts:1: field 1 (host): " + name + ", found 'a;b'"},
      {"me@a", "hosts:1: field 1 (host): " + name + ", found 'me@a'"},
      {":3", "hosts:1: field 1 (host): " + name + ", found ''"},
      {"\x1b[2Ja", "hosts:1: field 1 (host): " + name + ", found '\\x1b[2Ja'"},
      {std::string(254, 'a'), "hosts:1: field 1 (host): " + name + ", found '" + std::string(80, 'a') + "...'"},
      {"a:", "hosts:1: field 1 (slots): " + count + ", found ''"},
      {"a:0", "hosts:1: field 1 (slots): " + count + ", found '0'"},
      {"::1", "hosts:1: field 1 (host): " + name + ", found ''"},
      {"fe80::1", "hosts:1: field 1 (slots): " + count + ", found ':1'"},
      {"a:2 iface=eth0",
       "hosts:1: field 2 (word): expected nothing behind HOST:2, or slots=2 for it, found 'iface=eth0'"},
      {"a slots=0", "hosts:1: field 2 (slots): " + count + ", found '0'"},
      {"a slots=4097", "hosts:1: field 2 (slots): " + count + ", found '4097'"},
      {"a slots=", "hosts:1: field 2 (slots): " + count + ", found ''"},
      {"a slots=4x", "hosts:1: field 2 (slots): " + count + ", found '4x'"},
      {"a iface=eth0 cores=3-1", "hosts:1: field 3 (cores): expected OS indices such as 0-3,5, each once, found '3-1'"},
      {"a cores=0,0,0", "hosts:1: field 2 (cores): expected OS indices such as 0-3,5, each once, found '0,0,0'"},
      {"a cores=", "hosts:1: field 2 (cores): expected OS indices such as 0-3,5, each once, found ''"},
      {"a cores=0-9999999",
       "hosts:1: field 2 (cores): expected OS indices such as 0-3,5, each once, found '0-9999999'"},
      {"a emulated=4",
       "hosts:1: field 2 (emulated): expected PACKAGESxCORES with at most 4096 cores, such as 2x4, found '4'"},
      {"a emulated=1x2x2",
       "hosts:1: field 2 (emulated): expected PACKAGESxCORES with at most 4096 cores, such as 2x4, found '1x2x2'"},
      {"a emulated=65x64",
       "hosts:1: field 2 (emulated): expected PACKAGESxCORES with at most 4096 cores, such as 2x4, found '65x64'"},
      {"a iface=e;h", "hosts:1: field 2 (iface): expected the name of a network device, such as eth0, found 'e;h'"},
      {"a iface=", "hosts:1: field 2 (iface): expected the name of a network device, such as eth0, found ''"},
      {"a agent=0", "hosts:1: field 2 (agent): expected the port of an agent, 1 to 65535, found '0'"},
      {"a agent=65536", "hosts:1: field 2 (agent): expected the port of an agent, 1 to 65535, found '65536'"},
      {"a slots=2 cores=0-1", "hosts:1: field 3 (cores): expected none beside slots=, found 'cores=0-1'"},
      {"a emulated=1x2 slots=2", "hosts:1: field 3 (slots): expected none beside emulated=, found 'slots=2'"},
      {"a agent=7 cores=0", "hosts:1: field 3 (cores): expected none beside agent=, found 'cores=0'"},
      {"a iface=x iface=y", "hosts:1: field 3 (iface): expected each word once, found 'iface=y'"},
      {"a slot=2", "hosts:1: field 2 (word): " + word + "; did you mean 'slots='?, found 'slot=2'"},
      {"a 4", "hosts:1: field 2 (word): " + word + ", found '4'"},
      {"a cores", "hosts:1: field 2 (word): " + word + "; did you mean 'cores='?, found 'cores'"},
      {"a slots=2\nb\na slots=2\n",
       "hosts:3: field 1 (host): expected one line for a host with words of its own; line 1 is "
       "of the same host, found 'a'"},
      {"a\nb\na iface=eth0\n",
       "hosts:3: field 1 (host): expected one line for a host with words of its own; line 1 is "
       "of the same host, found 'a'"},
      {"a agent=1\na\n",
       "hosts:2: field 1 (host): expected one line for a host with words of its own; line 1 is of "
       "the same host, found 'a'"},
      {"a:4000\na:97\n", "hosts:2: field 1 (host): expected at most 4096 slots of a host, found '4097'"},
  };
  for (const auto& [text, refusal] : kCases) EXPECT_EQ(refusal_of(text), refusal) << text;
}

TEST(HostsFile, HasAtMostAsManyHostsAsMpiexecStartsOn) {
  std::string text;
  for (std::size_t i = 0; i < kMostHosts; ++i) text += fmt::format("h{}\n", i);
  EXPECT_EQ(hosts_of(text).size(), kMostHosts);
  EXPECT_EQ(refusal_of(text + "one-more\n"), "hosts:513: expected at most 512 hosts, found another one");
}

}  // namespace
}  // namespace replay::launcher
