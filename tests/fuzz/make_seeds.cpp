// make_seeds FOLDER: writes the seeds of made_seeds.hpp below FOLDER, which is tests/fuzz/seeds.
#include <fmt/core.h>

#include <filesystem>

#include "tests/fuzz/made_seeds.hpp"
#include "tests/support/shell.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (const replay::fuzz::Seed& seed : replay::fuzz::made_seeds()) {
    std::filesystem::create_directories((folder / seed.file).parent_path());
    replay::test::write_text(folder / seed.file, seed.bytes);
  }
  return 0;
}
