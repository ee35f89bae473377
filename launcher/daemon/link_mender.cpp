#include "launcher/daemon/link_mender.hpp"

#include <sys/eventfd.h>

#include <utility>

#include "scheduler/base/process/quiet_thread.hpp"

namespace replay::launcher {

LinkMender::LinkMender(event_base* loop, const LinkTarget& cut, std::uint64_t received,
                       std::chrono::steady_clock::time_point until, std::function<void(Result)> done)
    : cancel_(new_eventfd()),
      over_(new_eventfd()),
      done_(std::move(done)),
      over_event_(loop, over_.get(), EV_READ, [this] {
        const auto then = std::move(done_);
        then(std::move(*result_));
      }) {
  over_event_.arm();
  LinkTarget target = cut;
  target.session.goes_on = true;
  target.session.received = received;
  thread_ = quiet_thread([this, target, until] {
    try {
      result_.emplace(mend_link(target, until, cancel_.get()));
    } catch (const std::exception& error) {
      result_.emplace(std::string{error.what()});
    }
    ::eventfd_write(over_.get(), 1);
  });
}

LinkMender::~LinkMender() {
  ::eventfd_write(cancel_.get(), 1);
  thread_.join();
}

}  // namespace replay::launcher
