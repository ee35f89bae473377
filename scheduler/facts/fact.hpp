// The facts that policies tell, and the one decision and record that carries any of them. To add one: a struct with its
// word and its fields (in the style of log/fields.hpp), its place in this list, and the policy that says it.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "scheduler/facts/node_sharing.hpp"

namespace replay {

using Fact = std::variant<GroupFormed, GroupEnded, MatchRefused, ResponseExpected, ClassAssigned, SliceBegun>;

namespace facts {

template <class Kind, class... Kinds>
constexpr bool is_among(const std::variant<Kinds...>* /*list*/) {
  return (std::is_same_v<Kind, Kinds> || ...);
}

template <class... Kinds>
constexpr std::array<std::string_view, sizeof...(Kinds)> words_in(const std::variant<Kinds...>* /*list*/) {
  return {Kinds::kWord...};
}

}  // namespace facts

template <class Kind>
concept IsFact = facts::is_among<std::remove_const_t<Kind>>(static_cast<const Fact*>(nullptr));

/// The words of the facts, in the order of Fact.
inline constexpr auto kFactWords = facts::words_in(static_cast<const Fact*>(nullptr));

/// The words of these facts.
template <IsFact... Kinds>
inline constexpr std::array<std::string_view, sizeof...(Kinds)> kWordsOf{Kinds::kWord...};

/// A policy tells a fact: into the event log, and nowhere else.
struct Told {
  Told() = default;
  template <IsFact Kind>
  Told(Kind kind) : fact(std::move(kind)) {}

  Fact fact;
};

}  // namespace replay
