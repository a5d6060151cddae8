// The options of `dpcache train`.
#ifndef DPCACHE_CLI_TRAIN_OPTIONS_H_
#define DPCACHE_CLI_TRAIN_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace dpcache::cli {

void add_train_options(CLI::App& app, TrainOptions& options);
// Throws Failure(usage) for options that do not go together.
void check_options(const TrainOptions& options);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_TRAIN_OPTIONS_H_
