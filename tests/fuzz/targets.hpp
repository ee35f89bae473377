// The fuzz targets: each function takes any bytes and aborts when a rule of its reader is broken. Built with clang's
// libFuzzer (preset `fuzz`), each is a program of its own; the normal unit tests feed them the stored seeds.
#pragma once

#include <cstdlib>
#include <string_view>

namespace replay::fuzz {

/// SWF traces: plain or gzip.
void swf(std::string_view bytes);
/// The side file of a trace.
void job_table(std::string_view bytes);
/// The node events of a trace.
void node_table(std::string_view bytes);
/// What sacct --parsable2 prints.
void sacct(std::string_view bytes);
/// An accounting log of PBS.
void pbs(std::string_view bytes);
/// LSF's lsb.acct.
void lsf(std::string_view bytes);
/// A trace as CSV.
void trace_csv(std::string_view bytes);
/// The event log's text.
void event_log(std::string_view bytes);
/// A stream of frames between daemon and agent: a byte that says in which pieces it comes, then the stream.
void wire(std::string_view bytes);
/// Shared segments: a byte that selects the reader and the segment, then the contents of the file.
void segment(std::string_view bytes);
/// The handshake: the messages of a peer without the key, or how a relay changes the messages of both sides.
void handshake(std::string_view bytes);

/// What a turn log has kept of an executor.
void executor_input(std::string_view bytes);
/// The file that names the hosts of a run.
void hosts(std::string_view bytes);
/// What is said about Hydra's proxies: a byte that says by which program, then its message.
void proxies(std::string_view bytes);

/// The head of a request to the live page, and what follows it.
void http_request(std::string_view bytes);
/// JSON of foreign origin: a policy's answers, run.json, profiles.
void json(std::string_view bytes);
/// Text from programs, policies and files on its way to results and terminals.
void text(std::string_view bytes);
/// Sealed frames: a byte that says in which pieces they come, then the actions of a relay without the key.
void sealed(std::string_view bytes);

inline void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace replay::fuzz
