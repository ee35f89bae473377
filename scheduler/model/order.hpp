// Orders: what the controller tells a body to do. An order can be carried out at once: its allocation is complete, and
// its cores are free of other jobs that do not share them. The body answers each with an event: Finish to End, Resized
// to Resize, Suspended to Suspend, Resumed to Resume, or ActionFailed; a live body answers Launch with Started.
#pragma once

#include <span>
#include <variant>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

namespace order {

struct Launch {
  JobId job;
  Allocation allocation;
};
struct Resize {  ///< its processes move to these cores
  JobId job;
  Allocation allocation;
};
struct Suspend {
  JobId job;
};
struct Resume {  ///< on the cores it had
  JobId job;
};
struct End {  ///< before the job ends by itself
  JobId job;
  Outcome outcome;  ///< that its Finish is to have
};

}  // namespace order

using Order = std::variant<order::Launch, order::Resize, order::Suspend, order::Resume, order::End>;

/// In the order in which they are to be carried out.
using Orders = std::span<const Order>;

}  // namespace replay
