// Tests of the table of wrappers: against MPI's header (REPLAY_MPI_INCLUDE_DIRS), the MPI library if it is installed,
// and the shared object itself (REPLAY_VM_LIBRARY). Signatures are checked at compile time, in vmlib/signatures.cpp.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

using Names = std::set<std::string>;

const Names kTable = {
#define BLOCKING(name, count) #name,
#include "vmlib/mpi_functions.def"
#undef BLOCKING
};

/// Names, without MPI_, of all functions declared in the folders of REPLAY_MPI_INCLUDE_DIRS (separated by semicolons).
Names declared_functions() {
  Names names;
  std::istringstream folders{REPLAY_MPI_INCLUDE_DIRS};
  for (std::string folder; std::getline(folders, folder, ';');) {
    for (const char* header : {"mpi.h", "mpi_proto.h", "mpio.h"}) {
      std::ifstream file{std::filesystem::path{folder} / header};
      const std::string text{std::istreambuf_iterator<char>{file}, {}};
      static const std::regex kDeclaration{R"(\bint MPI_(\w+)\()"};
      for (std::sregex_iterator at{text.begin(), text.end(), kDeclaration}, end; at != end; ++at)
        names.insert((*at)[1]);
    }
  }
  return names;
}

TEST(VmTable, NamesEachFunctionOnce) {
  const std::size_t lines = 0
#define BLOCKING(name, count) +1
#include "vmlib/mpi_functions.def"
#undef BLOCKING
      ;
  EXPECT_EQ(kTable.size(), lines);
}

TEST(VmTable, HasEveryFunctionWithANonblockingTwin) {
  const Names declared = declared_functions();
  ASSERT_GT(declared.size(), 300U) << "no MPI headers in " << REPLAY_MPI_INCLUDE_DIRS;
  int twins = 0;
  for (const std::string& name : declared) {
    if (name.size() < 2 || name[0] != 'I' || std::islower(static_cast<unsigned char>(name[1])) == 0) continue;
    std::string blocking = name.substr(1);  // Isend -> Send
    blocking[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(blocking[0])));
    if (!declared.contains(blocking)) continue;  // Info_create has none
    ++twins;
    EXPECT_TRUE(kTable.contains(blocking)) << "MPI_" << blocking << " may block, MPI_" << name << " does not";
  }
  EXPECT_GT(twins, 50);
}

TEST(VmTable, HasEveryCollectiveFileFunction) {
  static const std::regex kCollective{"File_(read|write)_(all|at_all|ordered)(_begin|_end)?(_c)?"};
  for (const std::string& name : declared_functions()) {
    if (!std::regex_match(name, kCollective)) continue;
    EXPECT_TRUE(kTable.contains(name)) << name;
  }
}

TEST(VmTable, AWrapperWithoutMpiFailsAsACallNotAsACrash) {
  void* vmlib = ::dlopen(REPLAY_VM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(vmlib, nullptr) << ::dlerror();
  if (::dlsym(RTLD_DEFAULT, "PMPI_Barrier") != nullptr) GTEST_SKIP() << "this process has an MPI";
  if (void* mpi = ::dlopen("libmpich.so.12", RTLD_LAZY | RTLD_NOLOAD)) {
    ::dlclose(mpi);
    GTEST_SKIP() << "another test of this process has loaded an MPI";
  }
  const auto barrier = reinterpret_cast<int (*)(long)>(::dlsym(vmlib, "MPI_Barrier"));
  EXPECT_NE(barrier(0), 0);
}

TEST(VmTable, EveryEntryIsAFunctionOfTheMpiLibrary) {
  void* mpi = ::dlopen("libmpich.so.12", RTLD_LAZY | RTLD_LOCAL);
  if (mpi == nullptr) GTEST_SKIP() << "no libmpich.so.12 here";
  for (const std::string& name : kTable) EXPECT_NE(::dlsym(mpi, ("MPI_" + name).c_str()), nullptr) << name;
}

TEST(VmTable, EveryEntryIsWrappedInTheSharedObject) {
  void* vmlib = ::dlopen(REPLAY_VM_LIBRARY, RTLD_NOW | RTLD_LOCAL);  // RTLD_NOW, and no MPI in this process
  ASSERT_NE(vmlib, nullptr) << ::dlerror();
  for (const std::string& name : kTable) EXPECT_NE(::dlsym(vmlib, ("MPI_" + name).c_str()), nullptr) << name;
  for (const char* name :
       {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "PMPI_Init", "PMPI_Init_thread", "PMPI_Finalize",
        "mpi_init_f08_", "mpi_init_thread_f08_", "ucp_worker_progress", "ucp_disconnect_nb"}) {
    EXPECT_NE(::dlsym(vmlib, name), nullptr) << name;
  }
}

}  // namespace
