// The options of `dpcache advise`.
#ifndef DPCACHE_CLI_ADVISE_OPTIONS_H_
#define DPCACHE_CLI_ADVISE_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace dpcache::cli {

void add_advise_options(CLI::App& app, AdviseOptions& options);
// Throws Failure(usage) for combinations that make no sense.
void check_options(const AdviseOptions& options);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_ADVISE_OPTIONS_H_
