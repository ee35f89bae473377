// Open descriptors that travel with bytes over a Unix socket (SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay {

inline constexpr std::size_t kMostDescriptors = 4;  ///< with one message

/// Sends all of it, or nothing. REQUIRES: bytes, at most kMostDescriptors. False: errno says why.
bool send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors);

struct DescriptorMessage {
  std::string bytes;  ///< empty: the other side has closed
  std::vector<UniqueFd> descriptors;
};
/// One message of at most `most` bytes. Nothing: there is none now, or it is longer, or has more descriptors; errno says
/// which.
[[nodiscard]] std::optional<DescriptorMessage> receive_with_descriptors(int socket, std::size_t most);

}  // namespace replay
