// The study of other ways to learn the gate.
#include <cstdint>
#include <utility>
#include <vector>

#include "paper/table.h"
#include "studies/gate_rules.h"
#include "studies/studies.h"

namespace dpcache::paper {

using studies::Form;
using studies::GateOutcome;
using studies::learned_gate;
using studies::Rule;
using studies::Spread;

void gate_ablations() {
  struct Case {
    const char* name;
    Rule rule;
    Form form;
  };
  const std::vector<Case> cases = {
      {"exact flips, two parameters", Rule::exact_flips, Form::two_parameters},
      {"soft mask (the paper's), two parameters", Rule::soft_mask, Form::two_parameters},
      {"straight-through, two parameters", Rule::straight_through, Form::two_parameters},
      {"exact flips, perceptron on key and novelty", Rule::exact_flips, Form::key_and_novelty},
      {"soft mask, perceptron on key and novelty", Rule::soft_mask, Form::key_and_novelty},
      {"exact flips, perceptron on the key alone", Rule::exact_flips, Form::key_only}};
  const std::vector<std::pair<double, double>> starts = {
      {5, .5}, {1, .1}, {1, .9}, {10, .05}, {-2, .5}};
  for (const Case& one : cases) {
    Spread kept;
    Spread recall;
    Spread best;
    double converged = 0.0;
    double ranked = 0.0;  // the 64 tokens of largest g suffice
    for (std::uint64_t seed = 0; seed < starts.size(); ++seed) {
      const GateOutcome run = learned_gate(one.rule, one.form, starts[seed], seed, 600);
      kept.add(run.kept);
      recall.add(run.recall);
      best.add(run.best_recall);
      if (run.converged()) ++converged;
      if (run.best_recall >= 0.99) ++ranked;
    }
    put("gate_ablation", one.name, 0, "kept", kept);
    put("gate_ablation", one.name, 0, "recall", recall);
    put("gate_ablation", one.name, 0, "recall of the best 64", best);
    put("gate_ablation", one.name, 0, "converged", converged);
    put("gate_ablation", one.name, 0, "ranked", ranked);
  }
}

}  // namespace dpcache::paper
