// dpcache serve: the server, until it is told to stop.
#include "serve/serve.h"

#include <exception>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/signals.h"

namespace dpcache::cli {

Ending run_serve(const server::ServeOptions& options) {
  install_signal_handlers();
  try {
    server::serve(
        options,
        [] {
          while (!stopping()) wait_readable(-1, 1000);
        },
        [](const std::string& line) { say(line); },
        [](const std::string& address) {
          Output output;
          output.add("dpcache serves at " + address + "\n");
          output.close();
        });
  } catch (const std::exception& error) {
    throw Failure(Exit::usage, error.what());
  }
  return {};
}

}  // namespace dpcache::cli
