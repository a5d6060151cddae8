// The help screens: what they say and how they look.
#ifndef DPCACHE_CLI_HELP_H_
#define DPCACHE_CLI_HELP_H_

#include <CLI/CLI.hpp>
#include <string>

namespace dpcache::cli {

// Gives `app` the form: a sentence, how to call it, its options by groups, examples.
void set_help(CLI::App& app, std::string usage, std::string examples);

extern const char* const kMainExamples;
extern const char* const kDistinctExamples;
extern const char* const kQueryExamples;
extern const char* const kTrainExamples;
extern const char* const kAdviseExamples;
extern const char* const kImportExamples;
extern const char* const kExportExamples;
extern const char* const kInspectExamples;
extern const char* const kExplainExamples;
extern const char* const kUndoExamples;
extern const char* const kReviewsExamples;
extern const char* const kVerifyExamples;
extern const char* const kServeExamples;

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_HELP_H_
