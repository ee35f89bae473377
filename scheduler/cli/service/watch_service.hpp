// `replay jobs --watch`: the live view of a service, in a process of its own. It reads the event log of the service's run as that
// grows, and asks the service for nothing but where the log is.
#pragma once

#include "scheduler/service/service_folder.hpp"

namespace replay::cli {

/// Until the user leaves (key q, a stop signal) or the service has gone. `plain`: a line for each event, those that were before too.
/// Returns the exit status. Throws InputError where there is no service, or its log is damaged.
[[nodiscard]] int watch_service(const service::ServiceFolder& folder, bool plain);

}  // namespace replay::cli
