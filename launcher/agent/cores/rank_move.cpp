#include "launcher/agent/cores/rank_move.hpp"

namespace replay::launcher {

RankMove::RankMove(NodeCores& cores, JobId job, const std::vector<std::int32_t>& core_of_rank, const Bind& bind)
    : cores_(cores), job_(job) {
  cores_.begin_move(job_, core_of_rank);
  try {
    bind();
  } catch (...) {
    cores_.cancel_move(job_);
    throw;
  }
  cores_.change_places(job_);
}

RankMove::~RankMove() { cores_.finish_move(job_); }

}  // namespace replay::launcher
