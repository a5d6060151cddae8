// Answers as JSON Lines.
#include <nlohmann/json.hpp>

#include "cli/answers.h"
#include "cli/json_text.h"

namespace dpcache::cli {
namespace {

class Lines : public AnswerPrinter {
 public:
  explicit Lines(Output& output) : output_(output) {}

  void answer(const Answer& answer) override {
    nlohmann::ordered_json json;
    json["query"] = answer.query;
    json["known"] = answer.known;
    json["novelty"] = json_number(answer.novelty);
    json["threshold"] = json_number(answer.threshold);
    json["top"] = nlohmann::ordered_json::array();
    for (const auto& one : answer.top) {
      nlohmann::ordered_json slot;
      slot["slot"] = one.slot;
      slot["similarity"] = json_number(one.similarity);
      slot["weight"] = json_number(one.weight);
      slot["count"] = one.count;
      slot["file"] = one.first.file;
      slot["line"] = one.first.line;
      slot["text"] = one.first.text;
      json["top"].push_back(std::move(slot));
    }
    output_.add(json_text(json));
    output_.add('\n');
  }

 private:
  Output& output_;
};

}  // namespace

std::unique_ptr<AnswerPrinter> json_answers(Output& output) {
  return std::make_unique<Lines>(output);
}

}  // namespace dpcache::cli
