// The socket at which ranks register: a Unix socket in the agent's 0700 directory. The caller's identity comes from the
// kernel (SO_PEERCRED), not from its hello; a foreign process, a garbled hello or a silent caller loses its own
// connection and nothing else.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/unix_desk.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

/// Refusals: what a welcome says in place of a slot.
inline constexpr int kRefusedKey = -1;
inline constexpr int kRefusedVersion = -2;
inline constexpr int kRefusedRank = -3;
inline constexpr int kRefusedAlready = -4;
inline constexpr int kRefusedUnfit = -5;     // computes for real, on emulated cores
inline constexpr int kRefusedOtherMpi = -6;  // starts an MPI that is no relative of MPICH
inline constexpr int kRefusedRigid = -7;     // a rank that does not register, and wants no slot

/// The answer to a hello.
struct Admission {
  int slot = kRefusedKey;     ///< or another refusal
  std::vector<int> segments;  ///< open descriptors, the job's and the node's; not owned. Empty with a refusal
};

class Registrar {
 public:
  /// Called once per hello that has the right magic and was sent by the process that it names, of our own user.
  using Admit = std::function<Admission(const replay_vm_hello& hello)>;
  /// Called after the welcome is sent: the rank is registered. Its stream is to be kept open until it exits.
  using Keep = std::function<void(const replay_vm_hello& hello, UniqueFd stream)>;

  /// Creates the socket at `path`. Throws std::system_error.
  Registrar(event_base* loop, std::filesystem::path path, Admit admit, Keep keep);

 private:
  struct Hello {
    replay_vm_hello words{};
    std::size_t received = 0;
  };

  static Heard read_hello(int stream, Hello& hello);
  void answer(const replay_vm_hello& hello, UniqueFd stream, pid_t caller);

  Admit admit_;
  Keep keep_;
  UnixDesk<Hello> desk_;
};

}  // namespace replay::launcher
