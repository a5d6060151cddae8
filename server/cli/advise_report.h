// What advise found, as data, and how it is printed.
#ifndef DPCACHE_CLI_ADVISE_REPORT_H_
#define DPCACHE_CLI_ADVISE_REPORT_H_

#include <string>
#include <vector>

#include "cli/output.h"
#include "dpcache/advise.h"

namespace dpcache::cli {

// Two things that are known to be different, as the user named them.
struct Opposite {
  std::string a;
  std::string b;
  float novelty = 0.0F;
  GuardSet guards;  // that would keep them apart
};

struct AdviceReport {
  Advice advice;
  Config config;  // dimension, encoder, and the tau, if one is suggested
  double max_false_merge = 0.01;
  double confidence = 0.9;
  std::vector<Opposite> opposites;  // that would merge, the nearest first
};

void print_text(const AdviceReport& report, Output& output);
void print_json(const AdviceReport& report, Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_ADVISE_REPORT_H_
