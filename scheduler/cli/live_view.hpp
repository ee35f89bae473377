#pragma once
#include <cstdio>
#include "scheduler/log/record.hpp"
namespace replay::cli {
class LiveView final : public log::Sink {
 public:
  enum class Mode { kAuto, kPlain };
  LiveView(std::FILE* out, Mode, std::size_t) : out_(out) {}
  void header(const log::Header&) override {}
  void record(const log::Record& r) override;
  void draw(Instant) {}
  void finish() {}
 private:
  std::FILE* out_;
};
}
