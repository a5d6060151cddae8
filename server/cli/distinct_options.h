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

// A gate "A,B", or the settings in a file that train has written. Failure(usage) or (input).
Config parse_gate(const std::string& text, const char* option);

// "NAME=REGEX" as an own mask.
OwnMask parse_own_mask(const std::string& text);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_DISTINCT_OPTIONS_H_
