#include "scheduler/base/file/record_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

using Records = std::vector<std::string>;

std::string read(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}
void write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary} << bytes;
}

class RecordFiles : public testing::Test {
 protected:
  // Its records have bytes of every kind, and one is empty.
  std::string made() {
    RecordFile file = RecordFile::make(path_);
    for (const std::string& record : records_) {
      file.add(record);
      file.save();
      ends_.push_back(std::filesystem::file_size(path_));
    }
    return read(path_);
  }
  /// Nothing: it is refused.
  std::optional<Records> records_of(const std::string& bytes) {
    write(path_, bytes);
    try {
      Records records;
      (void)RecordFile::open(path_, records);
      EXPECT_EQ(RecordFile::read(path_), records);
      return records;
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "records";
  Records records_{"first", "", std::string(300, '\xff'), std::string("\0\n\0", 3), "last"};
  std::vector<std::uintmax_t> ends_;
};

TEST_F(RecordFiles, HoldWhatWasSavedAndTakeMore) {
  const std::string bytes = made();
  EXPECT_EQ(records_of(bytes), records_);
  Records before;
  RecordFile file = RecordFile::open(path_, before);
  file.add("one more");
  EXPECT_EQ(RecordFile::read(path_), before) << "not saved";
  file.save();
  before.emplace_back("one more");
  EXPECT_EQ(RecordFile::read(path_), before);
}

TEST_F(RecordFiles, CutAnywhereHaveTheWholeRecordsBeforeTheCut) {
  const std::string bytes = made();
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto whole = std::ranges::count_if(ends_, [length](std::uintmax_t end) { return end <= length; });
    const auto records = records_of(bytes.substr(0, length));
    ASSERT_TRUE(records) << "cut to " << length << " bytes";
    EXPECT_EQ(*records, Records(records_.begin(), records_.begin() + whole)) << "cut to " << length << " bytes";
    EXPECT_LE(std::filesystem::file_size(path_), length) << "nothing half stays";
  }
}

TEST_F(RecordFiles, AreRefusedWhenAnyByteBeforeTheLastRecordIsAnother) {
  const std::string bytes = made();
  for (std::size_t at = 0; at < ends_[ends_.size() - 2]; ++at)
    for (const char flip : {'\x01', '\x80'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      EXPECT_FALSE(records_of(damaged)) << "byte " << at;
    }
}

TEST_F(RecordFiles, RoomThatWasNotWrittenIsNoRecord) {
  EXPECT_EQ(records_of(made() + std::string(4096, '\0')), records_);
}

TEST_F(RecordFiles, HaveOneWriterAndReplaceNothing) {
  std::optional<RecordFile> first{RecordFile::make(path_)};
  first->add("a");
  first->save();
  Records records;
  EXPECT_THROW((void)RecordFile::open(path_, records), InputError) << "it is written to";
  EXPECT_THROW((void)RecordFile::make(path_), InputError) << "it exists";
  first.reset();
  EXPECT_NO_THROW((void)RecordFile::open(path_, records));
  EXPECT_EQ(records, Records{"a"});
}

TEST_F(RecordFiles, WhatCannotBeWrittenIsSavedByTheNextTry) {
  RecordFile file = RecordFile::make(path_);
  file.add("a");
  file.save();
  rlimit was{};
  ::getrlimit(RLIMIT_FSIZE, &was);
  const rlimit full{std::filesystem::file_size(path_) + 5, was.rlim_max};
  auto* const before = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &full);
  file.add("bcdefghijk");
  EXPECT_THROW(file.save(), InputError);
  const Records meanwhile = RecordFile::read(path_);
  ::setrlimit(RLIMIT_FSIZE, &was);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(meanwhile, Records{"a"});
  file.save();
  EXPECT_EQ(RecordFile::read(path_), (Records{"a", "bcdefghijk"}));
}

}  // namespace
}  // namespace replay
