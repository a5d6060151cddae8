// The studies of the gate: learned from the task's loss alone, and other ways to learn it.
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <optional>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "paper/table.h"
#include "studies/gate_rules.h"
#include "studies/gates.h"
#include "studies/studies.h"

namespace dpcache::paper {

using studies::Form;
using studies::GateOutcome;
using studies::Kept;
using studies::kGateStarts;
using studies::kGateSteps;
using studies::learned_gate;
using studies::Rule;
using studies::Spread;

namespace {

constexpr std::uint64_t kRuns = 5;

// The threshold at each step, from each start.
void gate_paths() {
  PracticeOptions setting;
  setting.seed = 10;
  Practice practice = *Practice::create(setting);
  std::vector<GateTrainer> trainers;
  trainers.reserve(kGateStarts.size());
  for (const auto& [a, b] : kGateStarts) {
    trainers.push_back(*GateTrainer::create({.a = a, .b = b, .seed = 10}));
  }
  for (int step = 1; step <= kGateSteps; ++step) {
    const Lesson lesson = *Lesson::prepare(practice.next());
    for (std::size_t i = 0; i < trainers.size(); ++i) {
      trainers[i].step(lesson);
      if (step % 10 != 0 && step != 1) continue;
      const std::optional<Gate> gate = trainers[i].gate();
      if (!gate) continue;
      put("gate_path",
          studies::line(std::setprecision(2), kGateStarts[i].first, ", ", kGateStarts[i].second),
          step, "b", static_cast<double>(gate->b));
    }
  }
}

}  // namespace

void gate_study() {
  gate_paths();
  for (double rho : {0.0, 0.3, 0.5}) {
    Spread thresholds;
    Spread slots;
    Spread recall;
    double converged = 0.0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      std::vector<TrainerOptions> options;
      options.reserve(kGateStarts.size());
      for (const auto& [a, b] : kGateStarts) options.push_back({.a = a, .b = b});
      for (const std::optional<Gate>& gate : studies::learned_gates(options, rho, 10 + seed)) {
        if (!gate) continue;
        const Kept kept = studies::kept_by(*gate, rho, 64, 3);
        thresholds.add(static_cast<double>(gate->b));
        slots.add(kept.slots.mean());
        recall.add(kept.recall.mean());
        if (kept.slots.mean() == 64.0 && kept.recall.mean() == 1.0) ++converged;
      }
    }
    put("gate", "nine starts", rho, "b", thresholds);
    put("gate", "nine starts", rho, "slots", slots);
    put("gate", "nine starts", rho, "recall", recall);
    put("gate", "nine starts", rho, "converged", converged);
    put("gate", "nine starts", rho, "runs", static_cast<double>(kRuns * kGateStarts.size()));
  }
  const std::vector<double> prices = {.05, .5, 2.0, 3.0};
  std::vector<Spread> kept(prices.size());
  std::vector<Spread> recall(prices.size());
  Spread transferred;
  Spread transferred_recall;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    std::vector<TrainerOptions> options;
    options.reserve(prices.size());
    for (double price : prices) options.push_back({.a = 1.0, .b = 0.5, .lambda = price});
    const auto gates = studies::learned_gates(options, 0.3, seed);
    for (std::size_t i = 0; i < prices.size(); ++i) {
      const std::optional<Kept> found =
          gates[i] ? std::optional(studies::kept_by(*gates[i], 0.3, 64, 1)) : std::nullopt;
      kept[i].add(found ? found->kept.mean() : 0.0);
      recall[i].add(found ? found->recall.mean() : 0.0);
    }
    if (!gates[1]) continue;
    const Kept found = studies::kept_by(*gates[1], 0.3, 512, 1);
    transferred.add(found.slots.mean());
    transferred_recall.add(found.recall.mean());
  }
  for (std::size_t i = 0; i < prices.size(); ++i) {
    put("gate_price", "two parameters", prices[i], "kept", kept[i]);
    put("gate_price", "two parameters", prices[i], "recall", recall[i]);
  }
  put("gate_transfer", "512 items", 512, "slots", transferred);
  put("gate_transfer", "512 items", 512, "recall", transferred_recall);
}

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
  Spread rule_kept;  // nothing learned: novelty against the default tau
  Spread rule_recall;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const studies::GateNet rule(Form::two_parameters, {50.0, static_cast<double>(kDefaultTau)}, 0);
    const GateOutcome outcome = studies::judged(rule, seed);
    rule_kept.add(outcome.kept);
    rule_recall.add(outcome.recall);
  }
  put("gate_rule", "fixed", 0, "kept", rule_kept);
  put("gate_rule", "fixed", 0, "recall", rule_recall);
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
