// A segment mapped as a rank maps it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>

namespace replay::launcher {

class SegmentMapping {
 public:
  explicit SegmentMapping(int descriptor) {
    struct stat status {};
    EXPECT_EQ(::fstat(descriptor, &status), 0);
    bytes_ = static_cast<std::size_t>(status.st_size);
    start_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  SegmentMapping(const SegmentMapping&) = delete;
  SegmentMapping& operator=(const SegmentMapping&) = delete;
  ~SegmentMapping() { ::munmap(start_, bytes_); }
  [[nodiscard]] void* start() const { return start_; }

 private:
  std::size_t bytes_ = 0;
  void* start_ = nullptr;
};

}  // namespace replay::launcher
