// Names of the workloads and policies of the SCOJO-P study, as they stand in its tables.
#pragma once

#include <string_view>

namespace replay::study::scojo {

inline constexpr std::string_view kW1 = "W1", kW2 = "W2", kW1Eighty = "W1 80 %", kW2Eighty = "W2 80 %",
                                  kW1Malleable = "W1 malleable", kW2Malleable = "W2 malleable", kDowney = "W1 Downey",
                                  kDowneyRaised = "W1 Downey, E >= 0.9";

inline constexpr std::string_view kTraditional = "traditional", kTraditionalOne = "traditional, aging=one",
                                  kScojoP = "SCOJO-P", kUnpredicted = "SCOJO-P, no prediction", kCirne = "Cirne-Berman",
                                  kCirneOpt = "Cirne-Berman, up to N_opt",
                                  kCirneConservative = "Cirne-Berman, conservative", kGreedy = "greedy",
                                  kGreedyClass = "greedy by class", kOldScojo = "SCOJO";

}  // namespace replay::study::scojo
