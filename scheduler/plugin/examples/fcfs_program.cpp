// First come, first served, as a program: reads a line, answers a line. It decides what the built-in `fcfs` decides; a
// test checks that.

#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

namespace {

using Json = nlohmann::json;

struct Waiting {
  std::int64_t id;
  double submitted;
  int processes;
};

class Fcfs {
 public:
  Json pass(const Json& message) {
    for (const Json& event : message["events"]) take(event);
    Json actions = Json::array();
    int free = message["free"];
    for (const Waiting& job : queue_) {
      if (job.processes > free) break;
      free -= job.processes;
      actions.push_back({{"start", job.id}});
    }
    return {{"actions", std::move(actions)}};
  }

 private:
  // Jobs come in queue order, but one that was held back may come later: (submitted, id) is the order.
  void take(const Json& event) {
    if (event["event"] == "submitted") {
      const Waiting job{event["id"], event["submitted"], event["processes"]};
      auto place = queue_.end();
      while (place != queue_.begin() &&
             std::tie(job.submitted, job.id) < std::tie((place - 1)->submitted, (place - 1)->id))
        --place;
      queue_.insert(place, job);
    } else if (event["event"] == "started" || event["event"] == "ended") {
      const std::int64_t id = event["id"];
      for (auto job = queue_.begin(); job != queue_.end(); ++job)
        if (job->id == id) {
          queue_.erase(job);
          break;
        }
    }
  }

  std::deque<Waiting> queue_;
};

}  // namespace

int main() {
  Fcfs fcfs;
  for (std::string line; std::getline(std::cin, line);) {
    const Json message = Json::parse(line);
    if (message["type"] == "hello") std::cout << R"({"type":"hello","protocol":2})" << std::endl;
    if (message["type"] == "pass") std::cout << fcfs.pass(message) << std::endl;
  }
}
