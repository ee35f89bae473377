// Tests of key files: a key is read as it was made; a file that other users could have read is refused, with advice.
#include "launcher/daemon/link_key.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

class LinkKeyFile : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) const {
    test::write_text(file_, text);
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)read_link_key(file_);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "key";
};

TEST_F(LinkKeyFile, WhatWasMadeIsReadAgainAndOnlyItsOwnerCan) {
  make_link_key(file_);
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(test::text_of(file_).size(), 65U);
  EXPECT_EQ(read_link_key(file_), read_link_key(file_));
}

TEST_F(LinkKeyFile, EachKeyIsAnother) {
  make_link_key(file_);
  make_link_key(folder_ / "other");
  EXPECT_NE(read_link_key(file_), read_link_key(folder_ / "other"));
}

TEST_F(LinkKeyFile, AFileThatIsThereIsNeverReplaced) {
  make_link_key(file_);
  const std::string before = test::text_of(file_);
  EXPECT_THROW(make_link_key(file_), InputError);
  EXPECT_EQ(test::text_of(file_), before);
}

TEST_F(LinkKeyFile, ALinkIsNotFollowedWhenAKeyIsMade) {
  fs::create_symlink(folder_ / "elsewhere", file_);
  EXPECT_THROW(make_link_key(file_), InputError);
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST_F(LinkKeyFile, IsReadAsHexDigits) {
  write("000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n");
  const protocol::LinkKey key = read_link_key(file_);
  for (std::size_t i = 0; i < key.size(); ++i) EXPECT_EQ(key[i], i);
}

TEST_F(LinkKeyFile, IsRefusedWhenOthersCanReadItAndTheCureIsNamed) {
  for (const mode_t mode : {0640U, 0604U, 0660U, 0622U}) {
    write(std::string(64, 'a'), mode);
    EXPECT_NE(refusal().find("chmod 600 " + file_.string()), std::string::npos) << refusal();
  }
}

TEST_F(LinkKeyFile, IsRefusedWhenItHasSomethingElseInIt) {
  for (const std::string& text : {std::string{}, std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g'),
                                  std::string(64, 'a') + "\n\n", std::string(62, 'a') + "+1", std::string(5000, 'a')}) {
    write(text);
    EXPECT_NE(refusal().find("expected 64 hex digits"), std::string::npos) << text << ": " << refusal();
  }
}

TEST_F(LinkKeyFile, IsRefusedWhenItIsNotThereOrNoFile) {
  EXPECT_NE(refusal().find("No such file"), std::string::npos) << refusal();
  fs::create_directory(file_);
  EXPECT_NE(refusal().find("expected a regular file"), std::string::npos) << refusal();
}

/// What receive_link_key() makes of this text in a pipe whose other end is closed, and what it leaves in the pipe.
std::string received(const std::string& text, std::string& rest) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const UniqueFd read_end{ends[0]};
  UniqueFd write_end{ends[1]};
  EXPECT_EQ(::write(write_end.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  write_end.reset();
  try {
    const std::string line = text_of_link_key(receive_link_key(read_end.get()));
    char left[16];
    rest.assign(left, static_cast<std::size_t>(::read(read_end.get(), left, sizeof left)));
    return line;
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(LinkKeyInAPipe, IsOneLine) {
  std::string rest;
  const std::string line = text_of_link_key(new_link_key());
  EXPECT_EQ(received(line + "more", rest), line);
  EXPECT_EQ(rest, "more");
  EXPECT_EQ(received("", rest),
            "key from standard input: nothing came; --bootstrap CMD has to pass its standard input on");
  for (const std::string& bad :
       {std::string{"\n"}, line.substr(1), line.substr(0, 63), "a" + line, std::string(5000, 'a')})
    EXPECT_EQ(received(bad, rest), "key from standard input: expected 64 hex digits on one line") << bad;
}

TEST_F(LinkKeyFile, InAFileIsNamedAsAFile) {
  make_link_key(file_);
  const UniqueFd file{::open(file_.c_str(), O_RDONLY | O_CLOEXEC)};
  EXPECT_THROW((void)receive_link_key(file.get()), InputError) << "a file ends at once, and the agent with it";
}

TEST(LinkNonce, IsNeverTheSame) { EXPECT_NE(new_nonce(), new_nonce()); }

}  // namespace
}  // namespace replay::launcher
