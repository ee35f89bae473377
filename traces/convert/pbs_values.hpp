// The values that PBS accounting records have: durations, sizes of memory, and how many processors a request or a list of
// hosts means. Each function reads one value; it gives nothing if the text is malformed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/model/units.hpp"

namespace replay::pbs {

/// "[[hours:]minutes:]seconds[.fraction]"; hours may be more than 24.
[[nodiscard]] std::optional<Duration> read_duration(std::string_view text);

/// KB of "1048576kb", "4gb", "512mw" (words of 8 bytes); a number alone is bytes.
[[nodiscard]] std::optional<double> read_memory(std::string_view text);

/// Of exec_vnode, "(n1:ncpus=8:mem=4gb)+(n2:ncpus=4+n3:ncpus=4)": the sum of ncpus.
[[nodiscard]] std::optional<std::int64_t> processors_of_vnodes(std::string_view text);

/// Of exec_host: PBS "n1/0*8+n2/1*4" (8 and 4), TORQUE "n1/0+n1/1+n2/0-3,6" (2 and 5).
[[nodiscard]] std::optional<std::int64_t> processors_of_hosts(std::string_view text);

/// Of a request: select "2:ncpus=8:mem=4gb+ncpus=4" (20), nodes "2:ppn=8+big:ppn=4" (20). A part without a count of
/// processors has one.
[[nodiscard]] std::optional<std::int64_t> processors_of_request(std::string_view text);

}  // namespace replay::pbs
