// Advice as one JSON object.
#include "api/advice_json.h"
#include "cli/advise_report.h"

namespace dpcache::cli {

void print_json(const AdviceReport& report, Output& output) {
  std::string text;
  server::JsonWriter json(text);
  json.begin_object();
  json.name("dimension").number(report.config.dimension);
  if (report.config.encoder) json.name("encoder").text(*report.config.encoder);
  json.name("max_false_merge").number(report.max_false_merge);
  json.name("confidence").number(report.confidence);
  json.name("opposites").begin_array();
  for (const auto& pair : report.opposites) {
    json.begin_object();
    json.name("a").text(pair.a);
    json.name("b").text(pair.b);
    json.name("novelty").number(pair.novelty);
    json.name("guards").begin_array();
    for (const auto name : pair.guards.list()) json.text(name);
    json.end_array().end_object();
  }
  json.end_array();
  write_fields(json, report.advice);
  json.end_object();
  output.add(text);
  output.add('\n');
}

}  // namespace dpcache::cli
