// Rows as JSON Lines.
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/rows.h"

namespace dpcache::cli {
namespace {

class Lines : public Printer {
 public:
  explicit Lines(Output& output) : output_(output) {}

  void row(const Row& row) override {
    nlohmann::ordered_json json;
    json["slot"] = row.slot;
    json["count"] = row.count;
    json["seen"] = row.seen;
    json["new"] = row.fresh;
    if (row.novelty) json["novelty"] = json_number(*row.novelty);
    json["file"] = row.first.file;
    json["line"] = row.first.line;
    json["first_time"] = row.first_time;
    json["last_time"] = row.last_time;
    json["text"] = row.first.text;
    if (row.first.bytes) json["bytes"] = *row.first.bytes;
    put(json);
  }

  void assignment(const Assignment& assignment) override {
    const auto& decision = *assignment.decision;
    nlohmann::ordered_json json;
    json["slot"] = decision.slot;
    json["action"] = decision.action == Action::allocate ? "allocate" : "merge";
    json["novelty"] = json_number(decision.novelty);
    json["threshold"] = json_number(decision.threshold);
    json["similarity"] = json_number(decision.similarity);
    if (decision.nearest) {
      json["nearest"] = {{"slot", decision.nearest->slot},
                         {"similarity", json_number(decision.nearest->similarity)}};
    }
    if (!decision.evicted.empty()) json["evicted"] = decision.evicted;
    for (const auto& fold : decision.folded) {
      json["folded"].push_back({{"slot", fold.slot}, {"into", fold.into}});
    }
    json["file"] = assignment.file;
    json["line"] = assignment.line;
    json["text"] = assignment.bytes;
    put(json);
  }

 private:
  void put(const nlohmann::ordered_json& json) {
    output_.add(json_text(json));
    output_.add('\n');
  }

  Output& output_;
};

}  // namespace

std::unique_ptr<Printer> json_printer(Output& output) {
  return std::make_unique<Lines>(output);
}

}  // namespace dpcache::cli
