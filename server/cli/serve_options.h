// The options of dpcache serve: each is an environment variable too.
#ifndef DPCACHE_CLI_SERVE_OPTIONS_H_
#define DPCACHE_CLI_SERVE_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "serve/serve.h"

namespace dpcache::cli {

// `--max-body` is DPCACHE_SERVE_MAX_BODY, and so on.
void add_serve_options(CLI::App& app, server::ServeOptions& options);
// Failure(usage): a variable DPCACHE_SERVE_… that is none of these.
void check_serve_variables(const CLI::App& app);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SERVE_OPTIONS_H_
