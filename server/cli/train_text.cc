// A training's report for people: figures, and the curve of errors over tau.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/terminal.h"
#include "cli/train_report.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kNames = 14;  // columns
constexpr std::size_t kBar = 20;
constexpr std::size_t kStep = 10;  // points of the curve from one row to the next: .05

std::string fixed(double x, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, x);
  return text.data();
}

std::string bar(char sign, double share) {
  const auto length = static_cast<std::size_t>(std::lround(share * static_cast<double>(kBar)));
  std::string text(std::min(length, kBar), sign);
  if (share > 0.0 && text.empty()) text = ".";
  text.resize(kBar, ' ');
  return text;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The point of the grid at or below a threshold, which merges about as it does.
std::size_t point_at(float threshold) {
  const double place = static_cast<double>(threshold) * 200.0 + 1e-4;
  return std::min(static_cast<std::size_t>(place), kTauSteps);
}

class Table {
 public:
  Table(const TrainReport& report, Output& output) : report_(report), output_(output) {}

  void print() {
    const auto& curve = report_.calibration.curve;
    const auto marked = report_.has_outcome() ? point_at(threshold(report_.config)) : kTauSteps + 1;
    output_.add("\n    TAU  FALSE MERGES" + std::string(kBar, ' ') +
                "         BOUND  MISSED MERGES\n");
    for (std::size_t i = 0; i < curve.size(); ++i) {
      if (i % kStep == 0 || i == marked) row(curve[i], i == marked);
      const bool all_merge =
          curve[i].false_merges == curve.back().false_merges && curve[i].missed_merges == 0;
      if (all_merge && i % kStep == 0 && (i >= marked || marked > kTauSteps)) break;
    }
  }

 private:
  void row(const CurvePoint& point, bool is_marked) {
    const auto wrong = share_of(point.false_merges, report_.calibration.at_risk);
    const auto missed = share_of(point.missed_merges, report_.calibration.mergeable);
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(), "%c %5s %8s %7s %% %s <= %6s %% %8s %7s %% %s",
                  is_marked ? '*' : ' ', fixed(static_cast<double>(point.tau), 3).c_str(),
                  grouped(point.false_merges).c_str(), fixed(100.0 * wrong, 2).c_str(),
                  bar('#', wrong).c_str(), fixed(100.0 * point.false_merge_bound, 2).c_str(),
                  grouped(point.missed_merges).c_str(), fixed(100.0 * missed, 2).c_str(),
                  bar('o', missed).c_str());
    std::string line = text.data();
    line.erase(line.find_last_not_of(' ') + 1);
    output_.add(line + '\n');
  }

  const TrainReport& report_;
  Output& output_;
};

std::string in_full_percent(double share) {
  std::string text = fixed(100.0 * share, 4);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " %";
}

}  // namespace

void print_text(const TrainReport& report, Output& output) {
  const auto line = [&output](std::string name, const std::string& value) {
    name.resize(std::max(kNames, name.size()), ' ');
    output.add(name + value + '\n');
  };
  const auto& learned = report.learned;
  const auto& calibration = report.calibration;
  if (report.per == Per::pair) {
    line("pairs", grouped(report.trials) + " = " + grouped(learned.same) + " the same + " +
                      grouped(learned.different) + " different");
  } else {
    line("items", grouped(report.trials) + " against " + plural(report.reference, "slot", "slots") +
                      ": " + grouped(learned.same) + " belong to the nearest one, " +
                      grouped(learned.different) + " do not");
  }
  if (report.config.encoder) line("encoder", printable(*report.config.encoder));
  if (learned.same > 0 && learned.different > 0) {
    line("separation", fixed(learned.separation, 3) +
                           " (1: some tau tells all apart; 0.5: novelty tells nothing)");
  }
  if (report.bounded && calibration.chosen) {
    const auto& chosen = *calibration.chosen;
    const std::string of = report.bound.upcoming > 0
                               ? "the next " + grouped(report.bound.upcoming) + ' '
                               : std::string("all ");
    line("tau", shortest(chosen.tau) + ": of " + of +
                    (report.per == Per::pair ? "pairs that are different" : "items") + " at most " +
                    in_full_percent(report.bound.max_false_merge) +
                    " merge wrongly, with confidence " + in_full_percent(report.bound.confidence));
    if (calibration.mergeable > 0) {
      line("missed", grouped(chosen.missed_merges) + " of " + grouped(calibration.mergeable) +
                         " that should merge do not (" +
                         in_percent(share_of(chosen.missed_merges, calibration.mergeable)) + ")");
    }
  }
  if (report.steps) line("steps", plural(*report.steps, "correction", "corrections"));
  if (report.config.gate) {
    const auto& gate = *report.config.gate;
    line("gate",
         shortest(gate.a) + "," + shortest(gate.b) + "   (--gate A,B: a slope A, half at B)");
  }
  if (!report.refusal.empty()) line("refused", report.refusal);
  if (report.trials > 0) Table(report, output).print();
}

}  // namespace dpcache::cli
