// The agent's socket for replay-proxy (proxy_call.cpp), through which mpiexec asks for a proxy on each host of a job: a Unix
// socket in the agent's 0700 directory. A holder of the descriptor that comes with a call can start any program as the job's,
// so only a process of this user with the token of a job that waits is heard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/unix_desk.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::launcher {

/// mpiexec wants a proxy to be started.
struct ProxyCall {
  std::string token;
  std::string host;                    ///< as `-hosts` names it
  std::uint32_t proxy_id = 0;          ///< different for each call of one mpiexec
  std::vector<std::string> arguments;  ///< hydra_pmi_proxy's, not checked: why_no_proxy() does
  UniqueFd control;                    ///< connected to mpiexec, blocking
};
/// All but the descriptor. Throws ProtocolError.
[[nodiscard]] ProxyCall decode_proxy_call(const protocol::Frame& frame);

class ProxyDesk {
 public:
  using Take = std::function<void(ProxyCall)>;

  /// Creates the socket. Throws std::system_error.
  ProxyDesk(event_base* loop, std::filesystem::path socket);

  /// From now on calls with this token are handed over. It cannot be guessed, and is good for one job.
  void expect(const std::string& token, Take take);
  void forget(const std::string& token) { takers_.erase(token); }

 private:
  struct Said {
    protocol::FrameDecoder decoder;
    ProxyCall call;
    UniqueFd control;
  };

  static Heard listen(int stream, Said& said);
  void take(Said said, const UniqueFd& stream);

  std::map<std::string, Take, std::less<>> takers_;
  UnixDesk<Said> desk_;
};

}  // namespace replay::launcher
