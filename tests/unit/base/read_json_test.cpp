// Tests of reading foreign JSON: a value within the limits is returned as it is; beyond them, reading ends before a
// deep value is built.
#include "scheduler/base/json/read_json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "tests/support/shell.hpp"

namespace replay {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string brackets(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

std::string objects(std::size_t levels) {
  std::string text;
  for (std::size_t i = 1; i < levels; ++i) text += R"({"a":)";
  return text + "{}" + std::string(levels - 1, '}');
}

template <class Json = json>
std::string problem(const std::string& text) {
  try {
    (void)parse_json<Json>(text);
    return "";
  } catch (const JsonError& error) {
    return error.what();
  }
}

TEST(ReadJson, WithinTheLimitsIsWhatTheLibraryReads) {
  for (const char* text : {"null", "[]", R"({"b":[1,2.5,"x"],"a":{"c":true}})", R"("]]]] {{{{ \" [")"}) {
    EXPECT_EQ(parse_json<json>(text), json::parse(text));
    EXPECT_EQ(parse_json<ordered_json>(text).dump(), ordered_json::parse(text).dump());
  }
}

TEST(ReadJson, IsReadUpTo64LevelsAndNoDeeper) {
  EXPECT_EQ(problem(brackets(kMostJsonLevels)), "");
  EXPECT_EQ(problem(objects(kMostJsonLevels)), "");
  for (const std::size_t levels : {std::size_t{65}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    EXPECT_NE(problem(brackets(levels)).find("at most 64 lists and objects"), std::string::npos) << levels;
    EXPECT_NE(problem<ordered_json>(objects(levels)).find("at most 64 lists and objects"), std::string::npos);
    EXPECT_NE(problem(std::string(levels, '[')).find("at most 64 lists and objects"), std::string::npos);
  }
}

TEST(ReadJson, AnObjectHasAtMost10000Members) {
  std::string inner, outer;
  for (int i = 0; i < kMostJsonMembers; ++i) inner += (i == 0 ? "" : ",") + fmt::format(R"("{}":0)", i);
  EXPECT_EQ(problem("[{" + inner + "},{" + inner + "}]"), "") << "each is counted by itself";
  EXPECT_NE(problem(R"({"x":{)" + inner + R"(,"more":0}})").find("at most 10000 members"), std::string::npos);
}

TEST(ReadJson, AMemberThatStandsTwiceIsNamed) {
  EXPECT_EQ(problem(R"({"a":1,"b":2,"a":3})"), "expected each member of an object once, found 'a' twice");
  EXPECT_EQ(problem<ordered_json>(R"([{"x":{"a":1,"\u001b[1ma":1,"a":3}}])"),
            "expected each member of an object once, found 'a' twice");
  EXPECT_EQ(problem(R"([{"a":{"a":1}},{"a":{"a":1,"b":{}}}])"), "") << "of different objects";
}

TEST(ReadJson, WhatIsNoJsonSaysWhereWithoutTheLibrarysNames) {
  EXPECT_TRUE(problem("{\"a\":}").starts_with("line 1, column 6: ")) << problem("{\"a\":}");
  EXPECT_EQ(json_problem("[json.exception.type_error.302] type must be text"), "type must be text");
  EXPECT_EQ(json_problem("another reason"), "another reason");
}

std::string problem_of(const std::filesystem::path& file) {
  try {
    (void)read_json<json>(file, "a profile in JSON");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(ReadJson, AFileThatIsNoneIsNamed) {
  const TemporaryFolder folder;
  EXPECT_NE(problem_of(folder / "none").find("none: cannot be read: No such file"), std::string::npos);
  EXPECT_NE(problem_of(folder.path()).find("expected a file, found a directory"), std::string::npos);
  test::write_text(folder / "cut.json", "{\"a\"");
  EXPECT_NE(problem_of(folder / "cut.json").find("cut.json: expected a profile in JSON: "), std::string::npos);
}

TEST(ReadJson, AFileWithoutEndIsNotReadForEver) {
  EXPECT_NE(problem_of("/dev/zero").find("/dev/zero: expected at most 16777216 bytes of JSON"), std::string::npos);
}

TEST(WriteJson, EscapesWhatATerminalActsOnAndIsReadBackAsItWas) {
  const ordered_json json = {{"text", "\x1b[2J\x07 \u009b31m \u0080 \u00a0 \u00e9 \\\u009f"}};
  const std::string text = json_text(json);
  for (const char* part : {"\x1b", "\x07", "\u009b", "\u0080", "\u009f"})
    EXPECT_EQ(text.find(part), std::string::npos) << text;
  EXPECT_NE(text.find("\u00a0 \u00e9"), std::string::npos) << text;
  EXPECT_EQ(ordered_json::parse(text), json);
}

}  // namespace
}  // namespace replay
