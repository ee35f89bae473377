// Where MPICH makes the file that the ranks of a node share. It takes /dev/shm and a fixed name for it, and removes the name
// within milliseconds; a rank that is killed meanwhile would leave a file of which nobody knows whose it is.
#pragma once

#include <array>
#include <optional>

#include "vmlib/settings.hpp"

namespace replay::vm {

/// "/dev/shm/mpich_shar_tmpXXXXXX", with the 0 at its end.
using SharedName = std::array<char, 30>;

/// The template for mkstemp() in our agent's folder, instead of MPICH's, for which it has to be as long. Nothing: `name` is not
/// MPICH's, or the agent has no such folder.
[[nodiscard]] std::optional<SharedName> own_shared_name(const char* name, Lookup lookup);

}  // namespace replay::vm
