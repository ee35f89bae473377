// The 17 parameters of the model of Lublin and Feitelson ("The workload on parallel supercomputers: modeling the
// characteristics of rigid jobs", JPDC 63, 2003) with the values of the authors' program, in one table that feeds the
// model, the command line with its --help, the documentation and the tests.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "scheduler/model/units.hpp"

namespace replay {

/// The kind of job that parameters are for: the only kind, or one of the two kinds that the model can tell apart.
enum class LublinKind : std::uint8_t { kTypeless, kInteractive, kBatch };

/// The parameters of one kind of job, under the program's names.
struct LublinParameters {
  double serial_prob = 0, pow2_prob = 0;                    ///< of all jobs; the rest may be of any size
  double ulow = 0, umed = 0, uhi = 0, uprob = 0;            ///< log2 of sizes: two-stage uniform
  double a1 = 0, b1 = 0, a2 = 0, b2 = 0, pa = 0, pb = 0;    ///< log of run times: hyper-gamma, its mix by the size
  double aarr = 0, barr = 0, anum = 0, bnum = 0, arar = 0;  ///< log of gaps between arrivals, and the daily cycle
  bool operator==(const LublinParameters&) const = default;
};

struct LublinParameter {
  std::string_view name;  ///< as on the command line
  double LublinParameters::*member;
  std::array<double, 3> value;  ///< by LublinKind, for 128 processors
  double least, most;           ///< the valid range
  std::string_view meaning;
};

inline constexpr CoreCount kLublinMachineSize = 128;  ///< of the table's values

inline constexpr LublinParameter kLublinParameters[] = {
    {"serial-prob", &LublinParameters::serial_prob, {0.244, 0.1541, 0.2927}, 0, 1, "share of serial jobs"},
    {"pow2-prob",
     &LublinParameters::pow2_prob,
     {0.576, 0.625, 0.6686},
     0,
     1,
     "share of jobs that are parallel and made a power of two"},
    {"ulow", &LublinParameters::ulow, {0.8, 1, 1.2}, 0, 31, "log2 of the smallest parallel size"},
    {"umed", &LublinParameters::umed, {4.5, 3, 5}, 0, 31, "log2 of the size that parts small from large"},
    {"uhi", &LublinParameters::uhi, {7, 5.5, 7}, 0, 31, "log2 of the largest size"},
    {"uprob", &LublinParameters::uprob, {0.86, 0.705, 0.875}, 0, 1, "share of parallel jobs below umed"},
    {"a1",
     &LublinParameters::a1,
     {4.2, 3.8351, 6.57},
     0.01,
     100000,
     "short run times: shape of the gamma distribution of ln r"},
    {"b1", &LublinParameters::b1, {0.94, 0.6605, 0.823}, 0.00001, 1000, "short run times: its scale"},
    {"a2", &LublinParameters::a2, {312, 7.073, 639.1}, 0.01, 100000, "long run times: shape"},
    {"b2", &LublinParameters::b2, {0.03, 0.6856, 0.0156}, 0.00001, 1000, "long run times: scale"},
    {"pa", &LublinParameters::pa, {-0.0054, -0.0118, -0.003}, -1000, 1000, "p(short) = pa * size + pb: slope"},
    {"pb", &LublinParameters::pb, {0.78, 0.9156, 0.6986}, -1000, 1000, "p(short): value at size 0"},
    {"aarr",
     &LublinParameters::aarr,
     {10.2303, 6.5510, 6.0415},
     0.01,
     100000,
     "gaps between arrivals: shape of the gamma distribution of their logarithm; the papers' alpha"},
    {"barr", &LublinParameters::barr, {0.4871, 0.6621, 0.8531}, 0.00001, 1000, "gaps: its scale"},
    {"anum", &LublinParameters::anum, {8.1737, 8.9186, 6.1271}, 0.01, 100000, "daily cycle: shape, in half hours"},
    {"bnum", &LublinParameters::bnum, {3.9631, 3.6680, 5.2740}, 0.00001, 1000, "daily cycle: scale"},
    {"arar",
     &LublinParameters::arar,
     {1.0225, 0.9797, 1.0519},
     0.01,
     100,
     "factor on aarr that makes up for the daily cycle"},
};

/// "typeless", "interactive", "batch".
[[nodiscard]] std::string_view to_text(LublinKind kind);

/// The table's values for another machine size P: uhi goes with log2 P, umed keeps its distance to it, neither falls
/// below ulow. REQUIRES: machine_size >= 1.
[[nodiscard]] LublinParameters default_lublin_parameters(LublinKind kind, CoreCount machine_size);

/// By the place in kLublinParameters.
using GivenLublinParameters = std::array<std::optional<double>, std::size(kLublinParameters)>;

/// The defaults but for what is given; umed keeps its distance to uhi unless it is given itself.
[[nodiscard]] LublinParameters lublin_parameters(LublinKind kind, CoreCount machine_size,
                                                 const GivenLublinParameters& given);

/// Throws UsageError for a value beyond its range, sizes that are not ulow <= umed <= uhi, or wider than the machine.
/// `prefix` stands before the names in messages, such as "--batch.".
void check_lublin_parameters(const LublinParameters& parameters, CoreCount machine_size, std::string_view prefix);

}  // namespace replay
