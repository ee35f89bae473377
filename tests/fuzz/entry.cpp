// The entry point that libFuzzer calls for one target; REPLAY_FUZZ_TARGET is the target's name.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  replay::fuzz::REPLAY_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
