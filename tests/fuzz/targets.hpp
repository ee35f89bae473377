// What is fuzzed: each function takes any bytes and aborts when a rule of its reader is broken. Built with clang's
// libFuzzer (preset `fuzz`) each is a program of its own; the normal unit tests feed them the kept seeds.
#pragma once

#include <cstdlib>
#include <string_view>

namespace replay::fuzz {

/// Traces: plain or gzip.
void swf(std::string_view bytes);
/// The side file of a trace.
void job_table(std::string_view bytes);
/// What sacct --parsable2 prints.
void sacct(std::string_view bytes);
/// A trace as CSV.
void trace_csv(std::string_view bytes);
/// The event log's text.
void event_log(std::string_view bytes);
/// A stream of frames between daemon and agent: a byte that says in which pieces it comes, then the stream.
void wire(std::string_view bytes);
/// Shared segments: a byte that says whose reader looks at which segment, then what is in the file.
void segment(std::string_view bytes);
/// The challenge: what somebody without the key says, or how somebody in the middle changes the words of both sides.
void handshake(std::string_view bytes);

/// JSON of foreign origin: a policy's answers, run.json, profiles.
void json(std::string_view bytes);
/// What programs, policies and files say, on its way to results and terminals.
void text(std::string_view bytes);
/// Sealed frames: a byte that says in which pieces they come, then what a relay without the key does with them.
void sealed(std::string_view bytes);

inline void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace replay::fuzz
