#include "scheduler/policy/view/parameters.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sstream>

#include "scheduler/base/error.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay {
namespace {

std::string message_of(std::string_view policy) {
  try {
    (void)make_policy(policy);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PolicyText, SplitsAtCommasOutsideBraces) {
  EXPECT_EQ(split_policies("a:x={b,c:d=1},e"), (std::vector<std::string>{"a:x={b,c:d=1}", "e"}));
  EXPECT_THROW((void)split_policies("a,,b"), UsageError);
  EXPECT_THROW((void)split_policies("a:{b"), UsageError);
}

TEST(PolicyText, KeepsNestedPoliciesWhole) {
  const PolicyText text = parse_policy("scojo-pect:inner={g-lomarc-ts:variant=cst}:overhead=60:eager");
  EXPECT_EQ(text.name, "scojo-pect");
  const std::vector<std::pair<std::string, std::string>> given{
      {"inner", "g-lomarc-ts:variant=cst"}, {"overhead", "60"}, {"eager", "true"}};
  EXPECT_EQ(text.given, given);
}

TEST(Policies, EveryWordOfAChoiceMakesAPolicy) {
  for (const PolicyEntry& policy : policies())
    for (const ParameterSpec& parameter : policy.parameters) {
      if (parameter.type != ParameterType::kChoice && parameter.type != ParameterType::kFile) continue;
      std::istringstream words{std::string{parameter.range}};
      if (std::string file; parameter.type == ParameterType::kFile) std::getline(words, file, '|');
      for (std::string word; std::getline(words, word, '|');) {
        const std::string text = fmt::format("{}:{}={}", policy.name, parameter.name, word);
        EXPECT_NE(make_policy(text).policy, nullptr) << text;
      }
    }
}

TEST(Parameters, AChoiceGivesTheValueBesideItsWord) {
  constexpr ParameterSpec kSpecs[] = {{"size", ParameterType::kChoice, "small", "small|large", "", "", ""}};
  const auto value_of = [&](std::vector<std::pair<std::string, std::string>> given) {
    return Parameters{"p", kSpecs, given}.choice<int>("size", {{"small", 1}, {"large", 2}});
  };
  EXPECT_EQ(value_of({}), 1);
  EXPECT_EQ(value_of({{"size", "large"}}), 2);
}

TEST(Policies, UnknownOnesNameTheNearest) {
  EXPECT_EQ(message_of("fcfs-maleable"),
            "unknown policy 'fcfs-maleable'; did you mean 'fcfs-malleable'?; `replay policies` lists them");
}

TEST(Policies, UnknownParametersNameTheNearest) {
  EXPECT_EQ(message_of("fcfs-malleable:maxmpl=2"),
            "policy 'fcfs-malleable' has no parameter 'maxmpl'; did you mean 'max_mpl'?");
  EXPECT_EQ(message_of("fcfs:pass=event"), "policy 'fcfs' has no parameters, found 'pass'");
}

TEST(Policies, ParametersOutOfRangeSayTheRange) {
  EXPECT_EQ(message_of("fcfs-malleable:max_mpl=0"),
            "policy 'fcfs-malleable', parameter 'max_mpl': expected a whole number in 1..64, found '0'");
  EXPECT_EQ(message_of("easy:pass=sometimes"),
            "policy 'easy', parameter 'pass': expected one of event|instant, found 'sometimes'");
  EXPECT_EQ(message_of("easy:pass=event:pass=instant"), "policy 'easy': parameter 'pass' is given twice");
}

TEST(Policies, SayAllTheirParameters) {
  EXPECT_EQ(make_policy("fcfs-malleable:expand=eager").full_text,
            "fcfs-malleable:max_mpl=2:criterion=oldest:expand=eager:share=off:max_slowdown=1.5");
}

}  // namespace
}  // namespace replay
