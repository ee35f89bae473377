// Fuzz seeds made by our own encoders: small inputs that pass the first checks of a target. make_seeds writes them
// below tests/fuzz/seeds/, and a unit test fails when those files differ from what is made here.
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
