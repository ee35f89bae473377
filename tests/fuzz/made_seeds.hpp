// Seeds that our own encoders make: small inputs that get behind the first checks of a target. The files below
// tests/fuzz/seeds/ are written by make_seeds, and a unit test says when they are no longer what is made here.
#pragma once

#include <string>
#include <vector>

namespace replay::fuzz {

struct Seed {
  std::string file;  ///< TARGET/NAME
  std::string bytes;
};

[[nodiscard]] std::vector<Seed> made_seeds();

}  // namespace replay::fuzz
