#include "vmlib/shared_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

namespace replay::vm {
namespace {

std::map<std::string, std::string> shared_variables;

const char* shared_look_up(const char* name) {
  const auto found = shared_variables.find(name);
  return found == shared_variables.end() ? nullptr : found->second.c_str();
}

constexpr const char* kMpichs = "/dev/shm/mpich_shar_tmpXXXXXX";

TEST(VmSharedFile, IsInTheAgentsFolderAndItsNameIsAsLongAsMpichs) {
  shared_variables = {{"REPLAY_VM_SHARED", "/dev/shm/replayabc123"}};
  const auto own = own_shared_name(kMpichs, shared_look_up);
  ASSERT_TRUE(own);
  EXPECT_STREQ(own->data(), "/dev/shm/replayabc123/mXXXXXX");
  EXPECT_EQ(std::strlen(own->data()), std::strlen(kMpichs));
}

TEST(VmSharedFile, IsWhereMpichMakesItWithoutAFolderOfThatLength) {
  for (const char* folder : {"", "/dev/shm/replay", "/dev/shm/replayabc1234"}) {
    shared_variables = {{"REPLAY_VM_SHARED", folder}};
    EXPECT_FALSE(own_shared_name(kMpichs, shared_look_up)) << folder;
  }
  shared_variables.clear();
  EXPECT_FALSE(own_shared_name(kMpichs, shared_look_up));
}

TEST(VmSharedFile, OtherFilesOfAProgramAreWhereItMakesThem) {
  shared_variables = {{"REPLAY_VM_SHARED", "/dev/shm/replayabc123"}};
  for (const char* name : {"/dev/shm/mpich_shar_tmpYYYYYY", "/dev/shm/mpich_shar_tmpXXXXXX2", "/tmp/XXXXXX", ""})
    EXPECT_FALSE(own_shared_name(name, shared_look_up)) << name;
  shared_variables["REPLAY_VM_OFF"] = "1";
  EXPECT_FALSE(own_shared_name(kMpichs, shared_look_up));
}

}  // namespace
}  // namespace replay::vm
