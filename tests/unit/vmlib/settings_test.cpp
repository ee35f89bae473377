#include "vmlib/settings.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

namespace replay::vm {
namespace {

using Environment = std::map<std::string, std::string>;
Environment environment;

const char* look_up(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

const Environment kGood = {{"REPLAY_VM_SOCKET", "/run/x/socket"},
                           {"REPLAY_VM_KEY", "000102030405060708090a0b0c0d0eFF"},
                           {"PMI_RANK", "3"},
                           {"PMI_SIZE", "4"}};

bool is_accepted(const Environment& with) {
  environment = with;
  return read_settings(look_up).has_value();
}

Environment good_but(const std::string& name, const std::string& value) {
  Environment changed = kGood;
  changed[name] = value;
  return changed;
}

TEST(VmSettings, AreReadWhenAllOfThemMakeSense) {
  environment = kGood;
  const auto settings = read_settings(look_up);
  ASSERT_TRUE(settings);
  EXPECT_STREQ(settings->socket, "/run/x/socket");
  EXPECT_EQ(settings->key[1], 0x01);
  EXPECT_EQ(settings->key[15], 0xff);
  EXPECT_EQ(settings->world_rank, 3);
  EXPECT_EQ(settings->world_size, 4);
}

TEST(VmSettings, AnyMissingVariableMeansNotUnderReplay) {
  for (const auto& [name, value] : kGood) {
    Environment without = kGood;
    without.erase(name);
    EXPECT_FALSE(is_accepted(without)) << name;
  }
}

TEST(VmSettings, NonsenseIsRefused) {
  EXPECT_FALSE(is_accepted(good_but("REPLAY_VM_SOCKET", "relative/socket")));
  EXPECT_FALSE(is_accepted(good_but("REPLAY_VM_KEY", "00")));
  EXPECT_FALSE(is_accepted(good_but("REPLAY_VM_KEY", "000102030405060708090a0b0c0d0e0g")));
  EXPECT_FALSE(is_accepted(good_but("PMI_RANK", "-1")));
  EXPECT_FALSE(is_accepted(good_but("PMI_RANK", "4")));
  EXPECT_FALSE(is_accepted(good_but("PMI_RANK", "")));
  EXPECT_FALSE(is_accepted(good_but("PMI_RANK", "1x")));
  EXPECT_FALSE(is_accepted(good_but("PMI_SIZE", "0")));
  EXPECT_FALSE(is_accepted(good_but("PMI_SIZE", "2147483648")));
}

TEST(VmSettings, OffIsWhateverIsNotZero) {
  environment = {};
  EXPECT_FALSE(is_switched_off(look_up));
  environment = {{"REPLAY_VM_OFF", "0"}};
  EXPECT_FALSE(is_switched_off(look_up));
  environment = {{"REPLAY_VM_OFF", "1"}};
  EXPECT_TRUE(is_switched_off(look_up));
  environment = {{"REPLAY_VM_OFF", ""}};
  EXPECT_TRUE(is_switched_off(look_up));
}

constexpr const char* kMpichs = "/dev/shm/mpich_shar_tmpXXXXXX";

TEST(VmSharedFile, IsInTheAgentsFolderAndItsNameIsAsLongAsMpichs) {
  environment = {{"REPLAY_VM_SHARED", "/dev/shm/replayabc123"}};
  const auto own = own_shared_name(kMpichs, look_up);
  ASSERT_TRUE(own);
  EXPECT_STREQ(own->data(), "/dev/shm/replayabc123/mXXXXXX");
  EXPECT_EQ(std::strlen(own->data()), std::strlen(kMpichs));
}

TEST(VmSharedFile, IsWhereMpichMakesItWithoutAFolderOfThatLength) {
  for (const char* folder : {"", "/dev/shm/replay", "/dev/shm/replayabc1234"}) {
    environment = {{"REPLAY_VM_SHARED", folder}};
    EXPECT_FALSE(own_shared_name(kMpichs, look_up)) << folder;
  }
  environment.clear();
  EXPECT_FALSE(own_shared_name(kMpichs, look_up));
}

TEST(VmSharedFile, OtherFilesOfAProgramAreWhereItMakesThem) {
  environment = {{"REPLAY_VM_SHARED", "/dev/shm/replayabc123"}};
  for (const char* name : {"/dev/shm/mpich_shar_tmpYYYYYY", "/dev/shm/mpich_shar_tmpXXXXXX2", "/tmp/XXXXXX", ""})
    EXPECT_FALSE(own_shared_name(name, look_up)) << name;
}

TEST(VmSharedFile, OfARigidJobIsInTheAgentsFolderToo) {
  environment = {{"REPLAY_VM_SHARED", "/dev/shm/replayabc123"}, {"REPLAY_VM_OFF", "1"}};
  EXPECT_TRUE(own_shared_name(kMpichs, look_up));
}

}  // namespace
}  // namespace replay::vm
