// The output of a study: one line a figure, tab-separated, which report.py turns into pages.
#ifndef DPCACHE_BENCH_PAPER_TABLE_H_
#define DPCACHE_BENCH_PAPER_TABLE_H_

#include <iostream>
#include <string>

#include "studies/bound.h"
#include "studies/studies.h"

namespace dpcache::paper {

// study, series, x, metric, mean, standard deviation, number of seeds
inline void put(const std::string& study, const std::string& series, double x,
                const std::string& metric, const studies::Spread& spread) {
  std::cout << study << '\t' << series << '\t' << x << '\t' << metric << '\t' << spread.mean()
            << '\t' << spread.sd() << '\t' << spread.count() << std::endl;
}

inline void put(const std::string& study, const std::string& series, double x,
                const std::string& metric, double figure) {
  studies::Spread spread;
  spread.add(figure);
  put(study, series, x, metric, spread);
}

// Those that compare mechanisms.
void table_one();
void frontier();
void noise();
void fixed_state();
void clustering();
void hybrid();
// Those of the memory alone.
void plateau_study();
void growth();
void budgets();
void weaknesses();
void read_cost();
void gate_study();
void gate_ablations();
void choices();
// A row of the study of tau's bound, over this many sets of pairs.
inline constexpr int kBoundSets = 300;
void put_tally(const std::string& source, const studies::BoundCase& one_case,
               const studies::Tally& tally);
// Those of real streams; they throw Missing where the data is not there.
void real_retail();
void real_ids();
void real_texts();
void real_frontier();
void real_budgets();
void overlap();
void alike_pairs();

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_TABLE_H_
