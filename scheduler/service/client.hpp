// A client of the service on this machine: connects to the socket in its folder, asks, and waits for the answers. Blocks, and never
// longer than its patience where the service owes an answer at once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/service/messages.hpp"
#include "scheduler/service/service_folder.hpp"

namespace replay::service {

class Client {
 public:
  static constexpr std::chrono::milliseconds kPatience{10'000};
  /// Bytes of an answer; a longer one is a fault of the service.
  static constexpr std::size_t kLongestAnswer = std::size_t{16} << 20;

  /// Connects. Throws InputError where there is no service, or where its folder or its process belong neither to this user nor to root: it
  /// would get this user's environment.
  explicit Client(const ServiceFolder& folder, std::chrono::milliseconds patience = kPatience);

  /// Waits for the answer; to WaitForJob without limit. Throws InputError if the service does not answer in time, goes away, or sends
  /// what is no answer to this request. After an exception nothing can be asked any more.
  template <class Expected>
  [[nodiscard]] std::variant<Expected, Refused> ask(const Request& request) {
    Answer answer = answer_to(request);
    if (auto* const refused = std::get_if<Refused>(&answer)) return std::move(*refused);
    if (auto* const expected = std::get_if<Expected>(&answer)) return std::move(*expected);
    fail_on_other_answer();
  }
  /// The same; a refusal is an InputError with its sentence.
  template <class Expected>
  [[nodiscard]] Expected get(const Request& request) {
    auto answer = ask<Expected>(request);
    if (const auto* const refused = std::get_if<Refused>(&answer)) throw InputError(refused->error);
    return std::get<Expected>(std::move(answer));
  }

  /// Whether the service has gone. Never blocks. REQUIRES: no answer is awaited.
  [[nodiscard]] bool has_service_gone() const;
  /// Readable when has_service_gone() is worth asking.
  [[nodiscard]] int descriptor() const { return stream_.get(); }

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  [[nodiscard]] Answer answer_to(const Request& request);
  void send(std::string_view bytes);
  [[nodiscard]] std::string line(Deadline until);
  void wait_for(short events, Deadline until) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_on_other_answer() const;

  std::string name_;   // of the service, in messages
  std::string doubt_;  // what is not known after an error, because a request has been sent
  std::chrono::milliseconds patience_;
  UniqueFd stream_;
  std::string received_;  // behind the last line that was taken
};

}  // namespace replay::service
