#include "scheduler/base/process/descriptor_message.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

using Control = std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))>;

}  // namespace

bool send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors) {
  INVARIANT(!bytes.empty() && descriptors.size() <= kMostDescriptors, "{} bytes with {} descriptors", bytes.size(),
            descriptors.size());
  iovec content{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  alignas(cmsghdr) Control control{};
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::optional<DescriptorMessage> receive_with_descriptors(int socket, std::size_t most) {
  DescriptorMessage received;
  received.bytes.resize(most);
  iovec content{received.bytes.data(), most};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  alignas(cmsghdr) Control control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  for (cmsghdr* part = count < 0 ? nullptr : CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
      received.descriptors.emplace_back(descriptor);
    }
  }
  if (count >= 0 && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) errno = EMSGSIZE;
  if (count < 0 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
  received.bytes.resize(static_cast<std::size_t>(count));
  return received;
}

}  // namespace replay
