// The key of the line between a daemon and an agent: 32 bytes, kept in a file as 64 hex digits that only its owner can
// read. A holder of the key may give orders, that is run programs as the user who started the agent.
#pragma once

#include <filesystem>
#include <string>

#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

/// Throws InputError when the file is not there, has something else in it, or can be read or written by others than its
/// owner.
[[nodiscard]] protocol::LinkKey read_link_key(const std::filesystem::path& file);

/// The same from one line of a pipe or a terminal, for which it waits. Throws InputError.
[[nodiscard]] protocol::LinkKey receive_link_key(int descriptor);

[[nodiscard]] protocol::LinkKey new_link_key();
/// The line of the file.
[[nodiscard]] std::string text_of_link_key(const protocol::LinkKey& key);

/// Draws a key and makes the file, mode 0600. Throws InputError when there is one already or it cannot be made.
void make_link_key(const std::filesystem::path& file);

/// From the kernel's generator. Throws std::system_error.
[[nodiscard]] protocol::LinkNonce new_nonce();

}  // namespace replay::launcher
