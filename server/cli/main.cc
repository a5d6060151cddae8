// dpcache, the command line: reads what is wanted, does it, and ends as it should.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <variant>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

// A file opened later must not become standard output by chance. What stands in for a missing
// descriptor fails when it is used.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

struct Runner {
  Ending operator()(const DistinctOptions& options) const { return run_distinct(options); }
  Ending operator()(const QueryCommandOptions& options) const { return run_query(options); }
  Ending operator()(const TrainOptions& options) const { return run_train(options); }
  Ending operator()(const AdviseOptions& options) const { return run_advise(options); }
  Ending operator()(const ImportOptions& options) const { return run_import(options); }
  Ending operator()(const ExportOptions& options) const { return run_export(options); }
  Ending operator()(const InspectOptions& options) const { return run_inspect(options); }
  Ending operator()(const ExplainOptions& options) const { return run_explain(options); }
  Ending operator()(const UndoOptions& options) const { return run_undo(options); }
  Ending operator()(const ReviewsOptions& options) const { return run_reviews(options); }
  Ending operator()(const VerifyOptions& options) const { return run_verify(options); }
  Ending operator()(const server::ServeOptions& options) const { return run_serve(options); }
  Ending operator()(const Print& print) const {
    Output output;
    output.add(print.text);
    output.close();
    return {};
  }
};

Ending fail(Exit code, const std::string& message) {
  say("dpcache: " + message);
  return {code};
}

Ending run(int argc, const char* const* argv) {
  try {
    return std::visit(Runner{}, parse_command_line(argc, argv));
  } catch (const Failure& failure) {
    return fail(failure.code(), failure.what());
  } catch (const ClosedPipe&) {
    return {Exit::ok, SIGPIPE};
  } catch (const std::bad_alloc&) {
    return fail(Exit::resources, "out of memory (nothing was saved)");
  } catch (const std::exception& error) {
    return fail(Exit::resources, std::string("a fault of this program: ") + error.what() +
                                     " (nothing was saved; please report it)");
  }
}

}  // namespace
}  // namespace dpcache::cli

int main(int argc, char** argv) {
  using namespace dpcache::cli;
  occupy_standard_descriptors();
  use_character_set();
  install_signal_handlers();
  const auto ending = run(argc, argv);
  if (ending.signal != 0) die_by(ending.signal);
  return static_cast<int>(ending.code);
}
