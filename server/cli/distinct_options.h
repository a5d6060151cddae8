// The options of `dpcache distinct`.
#ifndef DPCACHE_CLI_DISTINCT_OPTIONS_H_
#define DPCACHE_CLI_DISTINCT_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace dpcache::cli {

// `options` must live as long as `app`.
void add_distinct_options(CLI::App& app, DistinctOptions& options);
// Combinations that make no sense: Failure(usage).
void check_options(const DistinctOptions& options);

// "NAME=REGEX" as an own mask.
OwnMask parse_own_mask(const std::string& text);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_DISTINCT_OPTIONS_H_
