// The commands: each runs to its end and says how it ended. They throw Failure, and ClosedPipe
// where there is nothing to be saved.
#ifndef DPCACHE_CLI_COMMANDS_H_
#define DPCACHE_CLI_COMMANDS_H_

#include "cli/failure.h"
#include "cli/options.h"

namespace dpcache::cli {

struct Ending {
  Exit code = Exit::ok;
  int signal = 0;  // ended by this signal, after everything was put in order
};

Ending run_distinct(const DistinctOptions& options);
Ending run_templates(const DistinctOptions& options);  // distinct --templates
Ending run_query(const QueryCommandOptions& options);
Ending run_train(const TrainOptions& options);
Ending run_advise(const AdviseOptions& options);
Ending run_import(const ImportOptions& options);
Ending run_export(const ExportOptions& options);
Ending run_inspect(const InspectOptions& options);
Ending run_explain(const ExplainOptions& options);
Ending run_undo(const UndoOptions& options);
Ending run_reviews(const ReviewsOptions& options);
Ending run_verify(const VerifyOptions& options);
Ending run_serve(const server::ServeOptions& options);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_COMMANDS_H_
