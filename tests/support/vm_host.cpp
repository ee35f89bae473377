#include "tests/support/vm_host.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>

namespace replay::test {
namespace {

constexpr int kPollMs = 20;
constexpr std::uint8_t kKey[REPLAY_VM_KEY_BYTES] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                                    0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

int check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

int make_segment(const char* name, std::size_t bytes) {
  const int fd = check(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "segment");
  check(::ftruncate(fd, static_cast<off_t>(bytes)), "ftruncate");
  check(::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "seals");
  return fd;
}

void* map_segment(int fd, std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return mapped;
}

int listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  check(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  check(::listen(fd, 64), "listen");
  return fd;
}

}  // namespace

bool send_welcome(int stream, replay_vm_welcome welcome, const std::array<int, REPLAY_VM_SEGMENTS>& segments) {
  iovec bytes{&welcome, sizeof welcome};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof segments)> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (welcome.slot >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof segments);
    std::memcpy(CMSG_DATA(rights), segments.data(), sizeof segments);
  }
  return ::sendmsg(stream, &message, MSG_NOSIGNAL) == ssize_t{sizeof welcome};
}

VmHost::VmHost(std::uint32_t ranks, std::uint32_t polls_before_yield, std::uint32_t cores)
    : ranks_(ranks),
      bytes_(sizeof(replay_vm_segment) + ranks * sizeof(replay_vm_slot)),
      cores_bytes_(sizeof(replay_vm_cores) + cores * sizeof(replay_vm_core)) {
  segment_fd_ = make_segment("segment", bytes_);
  cores_fd_ = make_segment("cores", cores_bytes_);
  segment_ = static_cast<replay_vm_segment*>(map_segment(segment_fd_, bytes_));
  segment_->magic = REPLAY_VM_MAGIC;
  segment_->version = REPLAY_VM_VERSION;
  segment_->bytes = static_cast<std::uint32_t>(bytes_);
  segment_->slots = ranks;
  segment_->polls_before_yield = polls_before_yield;
  std::memcpy(segment_->key, kKey, sizeof kKey);
  for (std::uint32_t slot = 0; slot < ranks; ++slot) {
    replay_vm_orders& orders = replay_vm_slot_at(segment_, slot)->orders;
    orders.place = replay_vm_place(0, REPLAY_VM_NO_SEAT);
    orders.mpl = 1;
  }
  cores_ = static_cast<replay_vm_cores*>(map_segment(cores_fd_, cores_bytes_));
  cores_->magic = REPLAY_VM_CORES_MAGIC;
  cores_->version = REPLAY_VM_VERSION;
  cores_->bytes = static_cast<std::uint32_t>(cores_bytes_);
  cores_->cores = cores;
  listener_ = listen_at(socket_path());
  thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
}

VmHost::~VmHost() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  ::close(listener_);
  ::munmap(segment_, bytes_);
  ::munmap(cores_, cores_bytes_);
  ::close(segment_fd_);
  ::close(cores_fd_);
}

std::string VmHost::key_text() const {
  std::string text;
  for (const std::uint8_t byte : kKey) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> VmHost::environment() const {
  return {{REPLAY_VM_ENV_SOCKET, socket_path()}, {REPLAY_VM_ENV_KEY, key_text()}};
}

void VmHost::share(std::uint32_t slot, bool shared, std::int32_t core) {
  replay_vm_orders& orders = replay_vm_slot_at(segment_, slot)->orders;
  __atomic_store_n(&orders.place, replay_vm_place(static_cast<std::uint32_t>(core), REPLAY_VM_NO_SEAT),
                   __ATOMIC_RELAXED);
  __atomic_store_n(&orders.shared, shared ? 1U : 0U, __ATOMIC_RELAXED);
  count_sharers();
}

void VmHost::emulate(std::uint32_t quantum_us) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  segment_->emulated = 1;
  segment_->quantum_us = quantum_us;
  segment_->start_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void VmHost::seat(std::uint32_t slot, std::uint32_t core, bool shared) {
  replay_vm_orders& orders = replay_vm_slot_at(segment_, slot)->orders;
  __atomic_store_n(&orders.back_end, std::uint32_t{REPLAY_VM_TOKEN}, __ATOMIC_RELAXED);
  __atomic_store_n(&orders.place, replay_vm_place(core, slot), __ATOMIC_SEQ_CST);
  __atomic_store_n(&orders.shared, shared ? 1U : 0U, __ATOMIC_RELAXED);
  count_sharers();
}

void VmHost::count_sharers() {
  std::map<std::uint32_t, std::uint32_t> sharers;
  std::uint32_t most = 1;
  for (std::uint32_t slot = 0; slot < ranks_; ++slot) {
    const replay_vm_orders& orders = replay_vm_slot_at(segment_, slot)->orders;
    if (orders.shared == 1) most = std::max(most, ++sharers[replay_vm_core_of(orders.place)]);
  }
  for (std::uint32_t slot = 0; slot < ranks_; ++slot)
    __atomic_store_n(&replay_vm_slot_at(segment_, slot)->orders.mpl, most, __ATOMIC_RELAXED);
}

std::uint64_t VmHost::handovers(std::uint32_t core) const {
  return __atomic_load_n(&replay_vm_core_at(cores_, core)->handovers, __ATOMIC_RELAXED);
}

void VmHost::share_all(bool shared) {
  for (std::uint32_t slot = 0; slot < ranks_; ++slot) share(slot, shared);
}

replay_vm_report VmHost::report(std::uint32_t slot) const {
  const replay_vm_report& from = replay_vm_slot_at(segment_, slot)->report;
  replay_vm_report to{};
  to.state = __atomic_load_n(&from.state, __ATOMIC_ACQUIRE);
  to.mode = __atomic_load_n(&from.mode, __ATOMIC_RELAXED);
  to.pid = __atomic_load_n(&from.pid, __ATOMIC_RELAXED);
  to.world_rank = __atomic_load_n(&from.world_rank, __ATOMIC_RELAXED);
  to.pid_start = __atomic_load_n(&from.pid_start, __ATOMIC_RELAXED);
  to.init_ns = __atomic_load_n(&from.init_ns, __ATOMIC_RELAXED);
  to.blocked_ns = __atomic_load_n(&from.blocked_ns, __ATOMIC_RELAXED);
  to.blocked_since = __atomic_load_n(&from.blocked_since, __ATOMIC_RELAXED);
  to.calls = __atomic_load_n(&from.calls, __ATOMIC_RELAXED);
  to.polls = __atomic_load_n(&from.polls, __ATOMIC_RELAXED);
  to.handoffs = __atomic_load_n(&from.handoffs, __ATOMIC_RELAXED);
  to.cpu_ns = __atomic_load_n(&from.cpu_ns, __ATOMIC_RELAXED);
  to.naps = __atomic_load_n(&from.naps, __ATOMIC_RELAXED);
  to.burst_ns = __atomic_load_n(&from.burst_ns, __ATOMIC_RELAXED);
  to.finalize_ns = __atomic_load_n(&from.finalize_ns, __ATOMIC_RELAXED);
  return to;
}

bool VmHost::reaches(std::uint32_t slot, replay_vm_state state, std::chrono::milliseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (report(slot).state != state) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

std::vector<replay_vm_hello> VmHost::accepted() const {
  const std::lock_guard lock{mutex_};
  return accepted_;
}

std::vector<std::int32_t> VmHost::refusals() const {
  const std::lock_guard lock{mutex_};
  return refusals_;
}

int VmHost::ended() const {
  const std::lock_guard lock{mutex_};
  return ended_;
}

void VmHost::serve(const std::stop_token& stop) {
  std::vector<pollfd> watched{{.fd = listener_, .events = POLLIN, .revents = 0}};
  while (!stop.stop_requested()) {
    if (::poll(watched.data(), watched.size(), kPollMs) <= 0) continue;
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents == 0 || answer(watched[i].fd)) continue;
      ::close(watched[i].fd);
      watched[i].fd = -1;
    }
    std::erase_if(watched, [](const pollfd& one) { return one.fd < 0; });
    if ((watched[0].revents & POLLIN) != 0) {
      const int stream = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (stream >= 0) watched.push_back({.fd = stream, .events = POLLIN, .revents = 0});
    }
  }
  for (std::size_t i = 1; i < watched.size(); ++i) ::close(watched[i].fd);
}

bool VmHost::answer(int stream) {
  replay_vm_hello hello{};
  if (::recv(stream, &hello, sizeof hello, MSG_WAITALL) != ssize_t{sizeof hello}) {
    const std::lock_guard lock{mutex_};
    ++ended_;
    return false;
  }
  const replay_vm_welcome welcome{.magic = REPLAY_VM_MAGIC, .version = REPLAY_VM_VERSION, .slot = verdict(hello)};
  return send_welcome(stream, welcome, {segment_fd_, cores_fd_}) && welcome.slot >= 0;
}

std::int32_t VmHost::verdict(const replay_vm_hello& hello) {
  const std::lock_guard lock{mutex_};
  const auto refuse = [this](std::int32_t why) {
    refusals_.push_back(why);
    return why;
  };
  if (std::memcmp(hello.key, kKey, sizeof kKey) != 0) return refuse(-1);
  if (hello.magic != REPLAY_VM_MAGIC || hello.version != REPLAY_VM_VERSION) return refuse(-2);
  if (hello.world_rank < 0 || static_cast<std::uint32_t>(hello.world_rank) >= ranks_) return refuse(-3);
  if ((hello.flags & (REPLAY_VM_ENTERS_INIT | REPLAY_VM_HAS_LEFT_INIT)) != 0) return refuse(-7);
  const bool known = std::ranges::any_of(
      accepted_, [&](const replay_vm_hello& other) { return other.world_rank == hello.world_rank; });
  if (known) return refuse(-4);
  if (segment_->emulated == 1 && (hello.flags & REPLAY_VM_FIT_FOR_EMULATION) == 0) return refuse(-5);
  accepted_.push_back(hello);
  return hello.world_rank;
}

}  // namespace replay::test
