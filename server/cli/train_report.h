// What train has found, as data, and how it is shown.
#ifndef DPCACHE_CLI_TRAIN_REPORT_H_
#define DPCACHE_CLI_TRAIN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/output.h"
#include "dpcache/config.h"
#include "dpcache/train.h"

namespace dpcache::cli {

struct TrainReport {
  Per per = Per::pair;
  std::uint64_t trials = 0;
  std::uint64_t reference = 0;  // slots that items were run against
  LearnedGate learned;
  std::optional<std::uint64_t> steps;  // the gate was learned online, in so many
  Calibration calibration;             // its choice counts only if a bound was asked for
  CalibrationOptions bound;
  bool bounded = false;
  Config config;  // dimension, encoder, and the gate or tau that is the outcome, if there is one
  std::string refusal;  // why there is none

  bool has_outcome() const { return config.gate || config.tau; }
};

void print_text(const TrainReport& report, Output& output);
void print_json(const TrainReport& report, Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_TRAIN_REPORT_H_
