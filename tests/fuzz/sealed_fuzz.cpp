// Fuzz target of sealed frames against a relay without the key, which passes on, drops, repeats, exchanges, changes or
// forges sealed pieces: the receiver gets what was sent, in order, up to the point where the relay has touched the
// stream, and nothing after it.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/protocol/bytes.hpp"
#include "scheduler/protocol/frame.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

using namespace protocol;

std::uint8_t take(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto first = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return first;
}

/// Frames of many sizes, with and without payload.
std::vector<Frame> sent_frames() {
  std::vector<Frame> frames;
  for (const std::size_t size : {0U, 1U, 0U, 8U, 100U, 0U, 3U, 0U})
    frames.push_back({static_cast<std::uint16_t>(frames.size()), std::string(size, 'p')});
  return frames;
}

/// The stream's header, then the frames.
std::vector<std::string> sealed_stream(const SealKey& key) {
  FrameSealer sealer{key};
  std::vector<std::string> pieces;
  for (const Frame& frame : sent_frames()) pieces.push_back(sealer.seal(encode_frame(frame.type, frame.payload)));
  const std::string first = std::exchange(pieces.front(), pieces.front().substr(kSealHeaderBytes));
  pieces.insert(pieces.begin(), first.substr(0, kSealHeaderBytes));
  return pieces;
}

/// The stream as changed by the relay.
std::string relayed(std::vector<std::string> pieces, std::string_view plan) {
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    switch (take(plan) % 6) {
      case 1: continue;
      case 2: out += pieces[i] + pieces[i]; continue;
      case 3:
        if (i + 1 < pieces.size()) std::swap(pieces[i], pieces[i + 1]);
        break;
      case 4: {
        char& byte = pieces[i][take(plan) % pieces[i].size()];
        byte = static_cast<char>(byte ^ take(plan));
        break;
      }
      case 5: {
        const std::size_t wished = take(plan);
        const std::size_t length = std::min(wished, plan.size());
        out += plan.substr(0, length);
        plan.remove_prefix(length);
        break;
      }
      default: break;
    }
    out += pieces[i];
  }
  return out;
}

}  // namespace

void sealed(std::string_view bytes) {
  SealKey key;
  key.fill(0x5A);
  const std::size_t piece = take(bytes) + std::size_t{1};
  const std::vector<std::string> pieces = sealed_stream(key);
  const std::string stream = relayed(pieces, bytes);
  std::string whole;
  for (const std::string& one : pieces) whole += one;
  const auto touched =
      static_cast<std::size_t>(std::ranges::mismatch(stream, whole).in1 - stream.begin());  // unchanged up to here

  const std::vector<Frame> sent = sent_frames();
  std::size_t heard = 0;
  FrameDecoder decoder{key};
  std::size_t at = 0;
  try {
    while (at < stream.size()) {
      decoder.feed(std::string_view{stream}.substr(at, piece));
      at += std::min(piece, stream.size() - at);
      while (const auto frame = decoder.next()) {
        check(heard < sent.size() && *frame == sent[heard]);
        ++heard;
      }
    }
  } catch (const ProtocolError&) {
    check(touched < stream.size());
  }
  std::size_t end = kSealHeaderBytes;  // end of the frames before the touched byte
  std::size_t untouched = 0;
  while (untouched < sent.size() && (end += pieces[untouched + 1].size()) <= touched) ++untouched;
  check(heard == untouched);
}

}  // namespace replay::fuzz
