// What a real run says before it begins: how long it will take, or, for --dry-run, where each job would run and how it is
// started.
#pragma once

#include <cstdio>

#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/simulation.hpp"

namespace replay::cli {

/// The machine, what the run takes, and its notes.
void announce(std::FILE* out, const experiment::Prepared& run, const experiment::RealMachine& machine,
              const experiment::Needs& needs);
/// The machine; then each job's command, when and on which cores a simulation of the first policy starts it. Throws PolicyError.
void print_plan(const experiment::Prepared& run, const experiment::RealMachine& machine,
                const experiment::Programs& programs);

}  // namespace replay::cli
