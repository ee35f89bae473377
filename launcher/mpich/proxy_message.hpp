// What replay-proxy and the agent say to each other, for both of them: the call is one frame (scheduler/protocol/frame.hpp)
// with the texts token and host and a list of words, and beside its first byte a descriptor. The answer is one byte. C-like,
// because replay-proxy (proxy_call.cpp) is linked to libc alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace replay::launcher {

/// Environment of mpiexec and of replay-proxy.
inline constexpr const char* kProxySocketVariable = "REPLAY_PROXY_SOCKET";
inline constexpr const char* kProxyTokenVariable = "REPLAY_PROXY_TOKEN";

inline constexpr std::uint16_t kProxyCallType = 1;
/// With the header of the frame.
inline constexpr std::size_t kMostProxyCallBytes = 16384;
inline constexpr char kProxyCallTaken = 'y';

}  // namespace replay::launcher
