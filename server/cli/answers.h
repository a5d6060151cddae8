// What query prints, as data, and how.
#ifndef DPCACHE_CLI_ANSWERS_H_
#define DPCACHE_CLI_ANSWERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/example_json.h"
#include "cli/output.h"
#include "dpcache/event.h"

namespace dpcache::cli {

// A slot that resembles the query.
struct Likeness {
  SlotId slot = 0;
  float similarity = 0.0F;
  float weight = 0.0F;
  std::uint64_t count = 0;
  Example first;
};

struct Answer {
  std::string query;  // the text, or the row's number
  bool known = false;
  bool empty = true;  // there was nothing to compare it with
  float novelty = 1.0F;
  float threshold = 0.0F;
  std::vector<Likeness> top;
};

class AnswerPrinter {
 public:
  virtual ~AnswerPrinter() = default;
  virtual void answer(const Answer& answer) = 0;
};

// A line "known NOVELTY THRESHOLD" or "unknown ...", then a line a slot, separated by tabs; in
// words and columns if standard output is a terminal.
std::unique_ptr<AnswerPrinter> text_answers(Output& output);
// An object an answer.
std::unique_ptr<AnswerPrinter> json_answers(Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_ANSWERS_H_
