// Half of the line between mpiexec and a proxy on another node: passes bytes on between a local stream and a sealed stream to
// the agent of the other node, which has the other half. At mpiexec's node the local stream is the descriptor of the
// ProxyCall, at the proxy's node our end of its ControlLine. A side that reads slowly slows the writer down: at most
// kMostWaiting bytes and one read wait here in each direction.
//
// On the sealed stream: first kOpen, from mpiexec's node, with the proxy's words; frames kData; kFailing, when the job fails
// at the proxy's node; kNoMore, if the local stream sends no more; and at the end of a proxy kEnded, behind all that it has
// written. The receiver of kEnded closes the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/connection.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::launcher {

/// What the agent of a proxy that has ended says of its part of the job.
struct ProxyEnd {
  std::uint32_t finalized = 0;  ///< ranks that have called MPI_Finalize
  std::uint32_t ranks = 0;      ///< of the job on that node
  std::string reason;           ///< why the others have not, if that is known
  bool operator==(const ProxyEnd&) const = default;
};

/// The payload of kEnded, and back. decode_proxy_end() throws ProtocolError.
[[nodiscard]] std::string encode(const ProxyEnd& end);
[[nodiscard]] ProxyEnd decode_proxy_end(std::string_view payload);

class SealedRelay {
 public:
  /// One call of the first three ends the relay, which may be destroyed in it; nothing is read or written any more.
  struct Callbacks {
    /// The other agent's proxy has ended; all that it has written was passed on, and the local stream is shut down. If not
    /// all ranks have finalized, mpiexec needs a SIGTERM: it would wait for ever.
    std::function<void(const ProxyEnd&)> on_ended;
    /// The other agent has got the end that drain() was given.
    std::function<void()> on_delivered;
    /// The sealed stream was closed before its end, or is faulty. The local stream is shut down, so that mpiexec, or the
    /// proxy with its ranks, ends.
    std::function<void(const std::string& reason)> on_lost;
    /// open() was called at the other end. Does not end the relay.
    std::function<void(const std::vector<std::string>& words)> on_opened{};
    /// warn() was called at the other end. Does not end the relay.
    std::function<void(const std::string& reason)> on_failing{};
  };

  static constexpr std::size_t kMostWaiting = std::size_t{256} << 10U;

  /// Both streams are connected; they become non-blocking. `sealer` and `decoder` are of this sealed stream alone, on which
  /// other frames may have passed before; nothing of it is left in `decoder`.
  SealedRelay(event_base* loop, UniqueFd local, UniqueFd sealed, protocol::FrameSealer sealer,
              protocol::FrameDecoder decoder, Callbacks callbacks);
  SealedRelay(SealedRelay&&) = delete;

  /// Tells the other end with which words its proxy is to be started. Once, before anything comes from the local stream.
  void open(const std::vector<std::string>& words);
  /// The job fails at the proxy's node, for this reason. It arrives before what the local stream brings from now on. What
  /// is said after the first time is dropped.
  void warn(const std::string& reason);
  /// The proxy at the local stream has been reaped: passes on what it has written, and then `end`. (Ranks may have the
  /// stream, too, so it does not end by itself.) Once.
  void drain(const ProxyEnd& end);

 private:
  struct LocalSide final : Connection::Owner {
    explicit LocalSide(SealedRelay& to) : relay(to) {}
    void on_bytes() override { relay.seal_bytes(); }
    void on_written() override { relay.settle(); }
    void on_end(Connection::End end) override { relay.on_local_end(end); }
    SealedRelay& relay;
  };
  struct SealedSide final : Connection::Owner {
    explicit SealedSide(SealedRelay& to) : relay(to) {}
    void on_bytes() override { relay.open_frames(); }
    void on_written() override { relay.on_sealed_written(); }
    void on_end(Connection::End) override { relay.on_sealed_end(); }
    SealedRelay& relay;
  };

  void seal_bytes();
  void on_sealed_written();
  void on_local_end(Connection::End end);
  void send(std::uint16_t type, std::string_view payload);

  void open_frames();
  void take(const protocol::Frame& frame);
  void settle();
  void on_sealed_end();
  void lose(const std::string& reason);
  [[nodiscard]] Callbacks stop();

  UniqueFd local_stream_;
  UniqueFd sealed_stream_;
  protocol::FrameSealer sealer_;
  protocol::FrameDecoder decoder_;
  Callbacks callbacks_;
  bool is_open_ = false;
  bool is_failing_ = false;
  bool local_sends_ = true;
  bool local_takes_ = true;
  bool they_send_ = true;            ///< the stream at the other end
  std::optional<ProxyEnd> own_end_;  ///< drain() was called
  std::optional<ProxyEnd> their_end_;
  LocalSide local_side_{*this};
  SealedSide sealed_side_{*this};
  Connection local_;
  Connection sealed_;
};

}  // namespace replay::launcher
