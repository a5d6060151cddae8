// Problems as JSON, and the status of each code.
#include "api/problem.h"

#include <algorithm>
#include <utility>

#include "api/json_writer.h"

namespace dpcache::server {

namespace {

struct Known {
  std::string_view code;
  unsigned status;
  std::string_view title;
};

constexpr Known kKnown[] = {
    {"bad_request", 400, "The request cannot be understood"},
    {"unauthorized", 401, "A token is needed"},
    {"forbidden", 403, "The token does not allow this"},
    {"not_found", 404, "There is no such thing"},
    {"method_not_allowed", 405, "This cannot be done here"},
    {"timeout", 408, "The request came too slowly"},
    {"conflict", 409, "This does not fit the present state"},
    {"encoder_mismatch", 409, "Another encoder made these vectors"},
    {"precondition_failed", 412, "The config has changed meanwhile"},
    {"too_large", 413, "The request is too large"},
    {"unsupported", 415, "This type of content is not understood"},
    {"expectation_failed", 417, "This expectation cannot be met"},
    {"bad_config", 422, "A setting is wrong"},
    {"bad_shape", 422, "A vector has the wrong length"},
    {"not_finite", 422, "A vector holds a number that is not finite"},
    {"zero_norm", 422, "A vector has no direction"},
    {"bad_snapshot", 422, "This is no memory file, or a damaged one"},
    {"idempotency_mismatch", 422, "The Idempotency-Key was used for another request"},
    {"busy", 429, "Too much is waiting"},
    {"headers_too_large", 431, "The request's header is too large"},
    {"internal", 500, "The server has failed"},
    {"unavailable", 503, "This cannot be done now"},
    {"full", 507, "There is no room left"},
};

const Known& known(std::string_view code) {
  const auto* found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                   [&](const Known& one) { return one.code == code; });
  return found == std::end(kKnown) ? known("internal") : *found;
}

}  // namespace

unsigned status_of(std::string_view code) {
  return known(code).status;
}

Response problem(std::string_view code, std::string_view detail,
                 const std::vector<FieldError>& errors) {
  const Known& about = known(code);
  Response response;
  response.status = about.status;
  response.headers = {{"Content-Type", "application/problem+json"}};
  if (about.status == 429 || about.status == 503) response.headers.push_back({"Retry-After", "1"});
  if (about.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  JsonWriter json(response.body);
  json.begin_object();
  json.name("type").text("about:blank");
  json.name("title").text(about.title);
  json.name("status").number(about.status);
  json.name("code").text(code);
  json.name("detail").text(detail);
  if (!errors.empty()) {
    json.name("errors").begin_array();
    for (const FieldError& error : errors) {
      json.begin_object();
      json.name("index").number(error.index);
      json.name("pointer").text(error.pointer);
      json.name("code").text(error.code);
      json.name("detail").text(error.detail);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  return response;
}

Response problem(const std::vector<Status>& errors, std::string_view prefix) {
  std::vector<FieldError> fields;
  for (const Status& error : errors) {
    std::string pointer(prefix);
    if (!prefix.empty()) pointer += std::to_string(error.index);
    fields.push_back({error.index, pointer + error.pointer, to_string(error.code), error.detail});
  }
  const Status& first = errors.front();
  std::string detail = first.detail;
  if (!fields.front().pointer.empty()) detail += " (" + fields.front().pointer + ")";
  if (errors.size() > 1) detail += ", and " + std::to_string(errors.size() - 1) + " more";
  return problem(to_string(first.code), detail, fields);
}

Response problem(const Status& error) {
  return problem(std::vector<Status>{error}, "");
}

}  // namespace dpcache::server
