// The options of `dpcache import` and `dpcache export`.
#ifndef DPCACHE_CLI_EXCHANGE_OPTIONS_H_
#define DPCACHE_CLI_EXCHANGE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/options.h"

namespace dpcache::cli {

void add_import_options(CLI::App& app, ImportOptions& options, std::optional<std::string>& memory);
void add_export_options(CLI::App& app, ExportOptions& options);
// Throw Failure(usage) for combinations that make no sense.
void check_options(const ImportOptions& options);
void check_options(const ExportOptions& options);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_EXCHANGE_OPTIONS_H_
