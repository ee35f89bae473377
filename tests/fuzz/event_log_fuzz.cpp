// Fuzz target of the event log reader: it reads arbitrary bytes or throws InputError, and what it has read is written
// back as a log that reads the same.
#include <string>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/log/text.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

class Written final : public log::Sink {
 public:
  void header(const log::Header&) override {}
  void record(const log::Record& record) override { text += log::to_line(record) + '\n'; }
  std::string text = "#replay-events 1\n";
};

}  // namespace

void event_log(std::string_view bytes) {
  Written first;
  try {
    (void)log::read_text(bytes, "fuzz", first);
  } catch (const InputError&) {  // the records before the bad line still are a log
  }
  Written second;
  check(log::read_text(first.text, "written", second).is_whole && second.text == first.text);
}

}  // namespace replay::fuzz
