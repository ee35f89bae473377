// A policy that was built against a header of another ABI version: only the head of the table equals ours.

#include <replay_policy.hpp>

extern "C" __attribute__((visibility("default"))) const replay_policy_table* replay_policy_entry() {
  static const replay_policy_table table{
      sizeof(replay_policy_table), REPLAY_POLICY_ABI + 1, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  return &table;
}
