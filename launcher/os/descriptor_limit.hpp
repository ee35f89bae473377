// The limit of open descriptors: raised where a process holds many, and as before for the programs that it starts.
#pragma once

namespace replay::launcher {

/// Raises it to its maximum.
void raise_descriptor_limit();
/// In a forked child: as before the first raise_descriptor_limit() of its parent. Only calls that are safe after a fork.
void restore_descriptor_limit();

}  // namespace replay::launcher
