#include "vmlib/library_version.hpp"

#include <gtest/gtest.h>

namespace replay::vm {
namespace {

TEST(VmLibraryVersion, FinalizeNeedsTheCureOnUcxBeforeFourTwo) {
  EXPECT_TRUE(hangs_in_finalize("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr 7\nMPICH Device:\tch4:ucx\n"));
  EXPECT_TRUE(hangs_in_finalize("MPICH Version: 4.1.2\nMPICH Device: ch4:ucx\n"));
  EXPECT_TRUE(hangs_in_finalize("MPICH Version: 3.4\nMPICH Device: ch4:ucx\n"));
  EXPECT_FALSE(hangs_in_finalize("MPICH Version: 4.2.0\nMPICH Device: ch4:ucx\n"));
  EXPECT_FALSE(hangs_in_finalize("MPICH Version: 5.0.0\nMPICH Device: ch4:ucx\n"));
  EXPECT_FALSE(hangs_in_finalize("MPICH Version: 4.0.2\nMPICH Device: ch4:ofi\n"));
}

TEST(VmLibraryVersion, WhatCannotBeReadIsLeftAlone) {
  EXPECT_FALSE(hangs_in_finalize(""));
  EXPECT_FALSE(hangs_in_finalize("MPICH Version:"));
  EXPECT_FALSE(hangs_in_finalize("MPICH Version: unknown\nMPICH Device: ch4:ucx\n"));
  EXPECT_FALSE(hangs_in_finalize("MPICH Version: 4"));
}

TEST(VmLibraryVersion, OpenMpiIsNotOurs) {
  EXPECT_FALSE(is_mpich("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"));
  EXPECT_TRUE(is_mpich("MPICH Version: 4.0.2"));
  EXPECT_TRUE(is_mpich("Intel(R) MPI Library 2021.8 for Linux* OS"));
}

}  // namespace
}  // namespace replay::vm
