// The policies that choose sizes, as the command line names them.
#pragma once

namespace replay::test {

inline constexpr const char* kGreedyByClass = "greedy-moldable:order=class";
inline constexpr const char* kScojoP = "scojo-p:predict=off";
inline constexpr const char* kScojoPAgingOne = "scojo-p:predict=off:aging=one";
inline constexpr const char* kScojoPFromThePast = "scojo-p:predict=past";
inline constexpr const char* kCirneOverEasy = "cirne-berman:base=easy:max=full";
inline constexpr const char* kCirneOverEasyToOptimum = "cirne-berman:base=easy:max=opt";
inline constexpr const char* kCirneOverConservative = "cirne-berman:base=conservative:max=full";
inline constexpr const char* kCirneOverConservativeToOptimum = "cirne-berman:base=conservative:max=opt";
inline constexpr const char* kScojo = "scojo";

}  // namespace replay::test
