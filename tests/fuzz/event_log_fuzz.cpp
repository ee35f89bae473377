// The reader of event logs against arbitrary bytes: it reads or throws InputError, and what it has read is written back as
// a log that reads the same. Build with clang's -fsanitize=fuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "scheduler/log/text.hpp"
#include "scheduler/model/error.hpp"

namespace {

class Written final : public replay::log::Sink {
 public:
  void header(const replay::log::Header&) override {}
  void record(const replay::log::Record& record) override { text += replay::log::to_line(record) + '\n'; }
  std::string text = "#replay-events 1\n";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  Written first;
  try {
    (void)replay::log::read_text(text, "fuzz", first);
  } catch (const replay::InputError&) {
  }
  Written second;
  if (!replay::log::read_text(first.text, "written", second) || second.text != first.text) std::abort();
  return 0;
}
