#include "scheduler/log/record.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace replay::log {
namespace {

// Records which jobs started and ended.
struct StartsAndEnds {
  std::vector<std::string>& lines;

  void operator()(const Launched& what) const { lines.push_back("launched " + std::to_string(number(what.job))); }
  void operator()(const Finished& what) const { lines.push_back("finished " + std::to_string(number(what.job))); }
};

const std::vector<What> kSomeRecords = {StartDecided{JobId{1}, {4, 1, {}}}, Launched{JobId{1}, {4, 1, {}}},
                                        Note{"all is well"}, Finished{JobId{1}, {}}, KillDecided{JobId{2}, {}}};

TEST(Record, AVisitorIsCalledWithWhatItTakes) {
  std::vector<std::string> lines;
  for (const What& what : kSomeRecords) visit(StartsAndEnds{lines}, what);
  EXPECT_EQ(lines, (std::vector<std::string>{"launched 1", "finished 1"}));
}

// Records the facts of groups.
struct Groups {
  std::vector<std::string>& lines;

  void operator()(const GroupFormed& what) const { lines.push_back("formed " + std::to_string(number(what.primary))); }
  void operator()(const GroupEnded& what) const { lines.push_back("ended " + std::to_string(number(what.primary))); }
};

TEST(Record, AVisitorIsCalledWithTheFactThatIsTold) {
  std::vector<std::string> lines;
  for (const What& what : {What{GroupFormed{JobId{1}, {}, 1, 0}}, What{ClassAssigned{JobId{2}, JobClass::kLong}},
                           What{Launched{}}, What{GroupEnded{JobId{3}}}})
    visit(Groups{lines}, what);
  EXPECT_EQ(lines, (std::vector<std::string>{"formed 1", "ended 3"}));
  EXPECT_EQ(kinds_of<Groups>(), Kinds{}.set(kKind<Told>));
}

TEST(Record, KindsAreThoseThatAVisitorTakes) {
  const Kinds kinds = kinds_of<StartsAndEnds>();
  EXPECT_EQ(kinds.count(), 2U);
  EXPECT_TRUE(kinds.test(What{Launched{}}.index()));
  EXPECT_TRUE(kinds.test(What{Finished{}}.index()));
}

struct Counting final : Sink {
  Kinds wanted;
  std::vector<std::size_t> given;
  int headers = 0;

  explicit Counting(Kinds kinds) : wanted(kinds) {}
  void header(const Header& /*header*/) override { ++headers; }
  void record(const Record& record) override { given.push_back(record.what.index()); }
  [[nodiscard]] Kinds kinds() const override { return wanted; }
};

TEST(Tee, HandsOnWhatASinkHasAUseFor) {
  Counting all{Kinds{}.set()}, some{kinds_of<StartsAndEnds>()}, none{Kinds{}};
  Tee tee({&all, &some, &none});
  tee.header({});
  for (const What& what : kSomeRecords) tee.record({Instant{}, what});
  EXPECT_EQ(all.given.size(), kSomeRecords.size());
  EXPECT_EQ(some.given, (std::vector<std::size_t>{kSomeRecords[1].index(), kSomeRecords[3].index()}));
  EXPECT_TRUE(none.given.empty());
  EXPECT_EQ(all.headers + some.headers + none.headers, 3);
  EXPECT_EQ(tee.kinds(), all.kinds());
  EXPECT_EQ(Tee({&some, &none}).kinds(), some.kinds());
}

}  // namespace
}  // namespace replay::log
