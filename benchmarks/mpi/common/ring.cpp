// The bytes are those of a counter-based generator (splitmix64) keyed by seed, sender, way and number of the exchange.
#include "benchmarks/mpi/common/ring.hpp"

#include <algorithm>
#include <cstring>

namespace replay::bench {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Calls `use(offset, word, bytes)` for each 8 bytes of the message; the last may be shorter.
template <typename Use>
void for_each_word(std::uint64_t key, std::size_t size, Use use) {
  for (std::size_t at = 0; at < size; at += sizeof key) use(at, mix(key + at), std::min(sizeof key, size - at));
}

}  // namespace

Ring::Ring(const World& world, std::size_t message_size, std::uint64_t seed) : world_(world), seed_(seed) {
  for (auto& message : sent_) message.resize(message_size);
  for (auto& message : received_) message.resize(message_size);
  requests_.fill(MPI_REQUEST_NULL);
}

void Ring::fill(std::uint64_t number) {
  number_ = number;
  for (const Way way : {kNext, kPrevious}) {
    std::byte* const message = sent_[way].data();
    for_each_word(key(world_.rank, way), sent_[way].size(), [&](std::size_t at, std::uint64_t word, std::size_t bytes) {
      std::memcpy(message + at, &word, bytes);
    });
  }
}

void Ring::start() {
  if (sent_[kNext].empty()) return;
  const int size = static_cast<int>(sent_[kNext].size());
  MPI_Irecv(received_[kNext].data(), size, MPI_BYTE, neighbour(kPrevious), kNext, MPI_COMM_WORLD, &requests_[0]);
  MPI_Irecv(received_[kPrevious].data(), size, MPI_BYTE, neighbour(kNext), kPrevious, MPI_COMM_WORLD, &requests_[1]);
  MPI_Isend(sent_[kNext].data(), size, MPI_BYTE, neighbour(kNext), kNext, MPI_COMM_WORLD, &requests_[2]);
  MPI_Isend(sent_[kPrevious].data(), size, MPI_BYTE, neighbour(kPrevious), kPrevious, MPI_COMM_WORLD, &requests_[3]);
}

void Ring::progress() {
  if (sent_[kNext].empty()) return;
  int done = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
}

void Ring::wait() {
  if (sent_[kNext].empty()) return;
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  is_unchecked_ = true;
}

void Ring::check() {
  if (!is_unchecked_) return;
  is_unchecked_ = false;
  for (const Way way : {kNext, kPrevious}) {
    const int sender = neighbour(way == kNext ? kPrevious : kNext);
    const std::byte* const message = received_[way].data();
    for_each_word(key(sender, way), received_[way].size(), [&](std::size_t at, std::uint64_t word, std::size_t bytes) {
      if (std::memcmp(message + at, &word, bytes) != 0) all_right_ = false;
    });
  }
}

void Ring::corrupt() {
  if (!sent_[kNext].empty()) sent_[kNext].back() ^= std::byte{1};
}

std::uint64_t Ring::key(int sender, Way way) const {
  return mix(mix(mix(seed_) ^ static_cast<std::uint64_t>(2 * sender + way)) ^ number_);
}

int Ring::neighbour(Way way) const {
  const int step = way == kNext ? 1 : world_.size - 1;
  return (world_.rank + step) % world_.size;
}

}  // namespace replay::bench
