// The words of the text form of the event log, as its writer and its reader share them.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "scheduler/log/record.hpp"

namespace replay::log {

inline constexpr std::string_view kFirstLine = "#replay-events 1";
inline constexpr std::string_view kFirstLineName = "#replay-events ";

// The last line of a log that could not be written to its end; the reason follows.
inline constexpr std::string_view kCutMark = "#cut";

// The words of the enumerations, in the order of their enumerators.
inline constexpr std::array kFlexibilities = {Flexibility::kRigid, Flexibility::kMoldable, Flexibility::kMalleable};
inline constexpr std::array kOutcomes = {Outcome::kCompleted, Outcome::kFailed,    Outcome::kOverrun,
                                         Outcome::kKilled,    Outcome::kCancelled, Outcome::kRejected};
inline constexpr std::array kVerifications = {Verification::kNone, Verification::kPassed, Verification::kFailed};
inline constexpr std::array kKillReasons = {KillReason::kPolicy, KillReason::kOverrun, KillReason::kCancelled,
                                            KillReason::kInterrupted};

inline constexpr std::array kJobClassWords = {JobClass::kShort, JobClass::kMedium, JobClass::kLong};

// Records with the same fields.
template <class Id>
concept OnlyAJob = std::is_same_v<Id, SuspendDecided> || std::is_same_v<Id, SuspendDone> ||
    std::is_same_v<Id, ResumeDecided> || std::is_same_v<Id, ResumeDone>;
template <class Id>
concept JobAndAllocation =
    std::is_same_v<Id, Launched> || std::is_same_v<Id, ResizeDecided> || std::is_same_v<Id, ResizeDone>;

}  // namespace replay::log
