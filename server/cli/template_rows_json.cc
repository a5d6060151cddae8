// Templates as JSON Lines.
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/template_rows.h"

namespace dpcache::cli {
namespace {

class Lines : public TemplatePrinter {
 public:
  explicit Lines(Output& output) : output_(output) {}

  bool wants_values() const override { return true; }

  void row(const TemplateRow& row) override {
    nlohmann::ordered_json json;
    json["template"] = row.value.id;
    json["count"] = row.value.count;
    json["seen"] = row.seen;
    json["new"] = row.fresh;
    json["file"] = row.file;
    json["line"] = row.line;
    json["text"] = row.value.text;
    json["parameters"] = nlohmann::ordered_json::array();
    for (const Parameter& parameter : row.value.parameters) {
      nlohmann::ordered_json one;
      one["name"] = parameter.name;
      one["kind"] = parameter.kind;
      one["values"] = nlohmann::ordered_json::array();
      for (const auto& value : parameter.values) {
        one["values"].push_back({{"text", value.text}, {"count", value.count}});
      }
      one["others"] = parameter.others;
      json["parameters"].push_back(std::move(one));
    }
    json["examples"] = row.value.examples;
    put(json);
  }

  void assignment(const TemplateAssignment& assignment) override {
    const Learned& learned = *assignment.learned;
    nlohmann::ordered_json json;
    json["template"] = learned.id;
    json["action"] = learned.opened ? "open" : "join";
    json["similarity"] = json_number(learned.similarity);
    if (!learned.folded.empty()) json["folded"] = learned.folded;
    if (!learned.evicted.empty()) json["evicted"] = learned.evicted;
    json["file"] = assignment.file;
    json["line"] = assignment.line;
    json["text"] = assignment.bytes;
    json["values"] = nlohmann::ordered_json::array();
    if (assignment.values) {
      for (const auto& value : assignment.values->values) {
        json["values"].push_back({{"name", value.name}, {"text", value.text}});
      }
    }
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

std::unique_ptr<TemplatePrinter> json_template_printer(Output& output) {
  return std::make_unique<Lines>(output);
}

}  // namespace dpcache::cli
