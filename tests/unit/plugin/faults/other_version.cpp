// A policy that was built against another replay_policy.hpp: OTHER_ABI is its version, and OTHER_JOB the size of its
// replay_job. Of another version only the head of the table equals ours.

#include <replay_policy.hpp>

namespace {

constexpr replay_layout layout() {
  replay_layout layout = replay_policy::detail::layout();
  layout.job = OTHER_JOB;
  return layout;
}

void* create(const replay_parameter*, std::uint64_t, char*, std::uint64_t) { return nullptr; }
void destroy(void*) {}
std::int32_t decide(void*, const replay_view*, const replay_answer*, char*, std::uint64_t) { return 0; }
const char* parameters(void*) { return ""; }

}  // namespace

extern "C" __attribute__((visibility("default"))) const replay_policy_table* replay_policy_entry() {
  static const replay_policy_table table{
      sizeof(replay_policy_table), OTHER_ABI, 0, layout(), create, destroy, decide, parameters, nullptr, nullptr};
  return &table;
}
