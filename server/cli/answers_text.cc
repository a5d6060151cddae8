// Answers for pipes and for people.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "cli/answers.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

std::string three_digits(float number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(number));
  return text.data();
}

class Tabbed : public AnswerPrinter {
 public:
  explicit Tabbed(Output& output) : output_(output) {}

  void answer(const Answer& answer) override {
    put({answer.known ? "known" : "unknown", shortest(answer.novelty), shortest(answer.threshold)});
    for (const auto& one : answer.top) {
      put({shortest(one.similarity), shortest(one.weight), std::to_string(one.count),
           std::to_string(one.slot), one.first.text});
    }
  }

 private:
  void put(std::initializer_list<std::string> cells) {
    const char* before = "";
    for (const auto& cell : cells) {
      output_.add(std::exchange(before, "\t"));
      output_.add(cell);
    }
    output_.add('\n');
  }

  Output& output_;
};

class Words : public AnswerPrinter {
 public:
  explicit Words(Output& output) : output_(output) {}

  void answer(const Answer& answer) override {
    const auto columns = std::max<std::size_t>(terminal_columns(STDOUT_FILENO), 60);
    if (!std::exchange(first_, false)) output_.add('\n');
    output_.add(printable(answer.query, columns) + '\n');
    if (answer.empty) {
      output_.add("  unknown: the memory is empty\n");
      return;
    }
    output_.add(std::string(answer.known ? "  known" : "  unknown") + ": novelty " +
                three_digits(answer.novelty) + (answer.known ? " is not" : " is") +
                " above the threshold " + shortest(answer.threshold) + '\n');
    if (answer.top.empty()) return;
    output_.add("  SIMILARITY  WEIGHT     COUNT      SLOT  EXAMPLE\n");
    for (const auto& one : answer.top) {
      std::array<char, 128> start{};
      const int used =
          std::snprintf(start.data(), start.size(), "  %10s  %6s  %8s  %8s  ",
                        three_digits(one.similarity).c_str(), three_digits(one.weight).c_str(),
                        grouped(one.count).c_str(), std::to_string(one.slot).c_str());
      output_.add(start.data());
      output_.add(printable(one.first.text,
                            columns - std::min(columns - 10, static_cast<std::size_t>(used))));
      output_.add('\n');
    }
  }

 private:
  Output& output_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<AnswerPrinter> text_answers(Output& output) {
  if (is_terminal(STDOUT_FILENO)) return std::make_unique<Words>(output);
  return std::make_unique<Tabbed>(output);
}

}  // namespace dpcache::cli
