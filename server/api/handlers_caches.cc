// Caches: listed, made, configured, looked at, removed; and consolidate.
#include <cstdio>
#include <utility>

#include "api/answer_json.h"
#include "api/config_body.h"
#include "api/handlers.h"
#include "log/checksum.h"

namespace dpcache::server {

namespace {

// Of config and settings: equal ones have equal tags.
std::string entity_tag(const Hosted& hosted) {
  const std::string text = to_json(hosted.cache().config()) + to_json(hosted.settings());
  char tag[24];
  std::snprintf(tag, sizeof tag, "\"%016llx\"", static_cast<unsigned long long>(checksum(text, 0)));
  return tag;
}

std::string config_text(const Hosted& hosted) {
  std::string text = to_json(hosted.cache().config());
  text.back() = ',';
  text += R"("durability":)";
  text += hosted.settings().durability == Durability::sync ? R"("sync"})" : R"("relaxed"})";
  return text;
}

Response cache_response(const Hosted& hosted, unsigned status) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  json.name("name").text(hosted.name);
  json.name("config").raw(config_text(hosted));
  json.name("stats");
  write(json, hosted.cache().stats());
  json.name("warning").text(hosted.cache().warning());
  json.end_object();
  Response response = json_response(std::move(body), status);
  response.headers.push_back({"ETag", entity_tag(hosted)});
  return response;
}

std::optional<Response> precondition(const Request& request, const Hosted& hosted) {
  const std::string_view wanted = request.header("if-match");
  if (request.header("if-none-match") == "*") {
    return problem(code::kPrecondition, "there is such a cache already");
  }
  if (wanted.empty() || wanted == "*" || wanted == entity_tag(hosted)) return {};
  return problem(code::kPrecondition, "the config has changed: its ETag is " + entity_tag(hosted));
}

void create(App& app, const Call& call, const SentConfig& sent) {
  if (!call.request.header("if-match").empty()) {
    return call.respond(problem(code::kPrecondition, "there is no cache of this name"));
  }
  auto cache = Cache::create(sent.config);
  if (!cache) return call.respond(problem(cache.status));
  const std::string name = call.name;
  const auto respond = call.respond;
  const auto done = [&app, name, respond](Append outcome, const std::string& detail) {
    const auto hosted = app.service().find(name);
    if (outcome != Append::ok || !hosted) return respond(append_response(outcome, detail));
    hosted->turns.read(true, [hosted, respond] {
      Response response = cache_response(*hosted, 201);
      response.headers.push_back({"Location", "/v1/caches/" + hosted->name});
      respond(std::move(response));
    });
  };
  const auto refusal = app.service().create(name, std::move(*cache),
                                            sent.settings.value_or(Settings{}), App::now(), done);
  if (refusal != Service::Refusal::none) {
    respond(refusal_response(refusal, app.service(), name));
  }
}

void configure(const std::shared_ptr<Call>& call, const SentConfig& sent, std::int64_t time) {
  Hosted& hosted = *call->hosted;
  if (auto response = closed_response(hosted)) return call->respond(std::move(*response));
  if (auto response = precondition(call->request, hosted)) {
    return call->respond(std::move(*response));
  }
  if (!(sent.config == hosted.cache().config())) {
    if (const Status status = hosted.change().configure(sent.config, time); !status) {
      return call->respond(problem(status));
    }
  }
  // The answer tells of the settings that come into force with the commit.
  const auto respond = call->respond;
  const auto shared = call->hosted;
  hosted.commit(
      App::now(), {},
      [respond, shared](Append outcome, const std::string& detail) {
        if (outcome != Append::ok) return respond(append_response(outcome, detail));
        shared->turns.read(true, [respond, shared] { respond(cache_response(*shared, 200)); });
      },
      sent.settings.value_or(Settings{}));
}

}  // namespace

void list_caches(App& app, Call&& call) {
  std::optional<std::uint64_t> limit;
  std::string after;
  for (const auto& [name, value] : call.target.query) {
    if (name == "after") after = value;
  }
  if (const std::string name = unknown_parameter(call, {"after", "limit"}); !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  constexpr std::uint64_t kMost = 1000;
  if (!read_parameter(call, "limit", limit) || limit.value_or(1) < 1 || limit.value_or(1) > kMost) {
    return call.respond(problem(code::kRequest, "limit must be an integer from 1 to 1000"));
  }
  const std::size_t wanted = static_cast<std::size_t>(limit.value_or(100));
  std::string body;
  JsonWriter json(body);
  json.begin_object().name("caches").begin_array();
  std::string next;
  std::size_t written = 0;
  // Some at a time, as there may be many, and others' are passed over.
  std::string cursor = after;
  for (bool more = true; more && next.empty();) {
    const auto some = app.service().list(cursor, wanted + 1);
    more = some.size() == wanted + 1;
    for (const auto& hosted : some) {
      cursor = hosted->name;
      if (call.token != nullptr && !call.token->covers(hosted->name)) continue;
      if (written == wanted) {
        next = after;
        break;
      }
      after = hosted->name;
      ++written;
      const HostedCounters& counters = hosted->counters;
      json.begin_object();
      json.name("name").text(hosted->name);
      json.name("dimension").number(hosted->dimension);
      json.name("slots").number(counters.slots.load());
      json.name("items").number(counters.items.load());
      json.name("allocations").number(counters.allocations.load());
      json.name("merges").number(counters.merges.load());
      json.name("evictions").number(counters.evictions.load());
      json.name("seq").number(counters.seq.load());
      json.name("bytes").number(counters.bytes.load());
      json.end_object();
    }
  }
  json.end_array().name("next");
  if (next.empty()) {
    json.null();
  } else {
    json.text(next);
  }
  json.end_object();
  call.respond(json_response(std::move(body)));
}

void put_cache(App& app, Call&& call) {
  std::int64_t time = 0;
  if (!takes_time_alone(call, time)) return;
  auto sent = read_config(call.request.body);
  if (!sent) return call.respond(problem(sent.status));
  if (sent->config.dimension > app.options().max_dimension ||
      sent->config.value_dimension > app.options().max_dimension) {
    return call.respond(
        problem({Error::bad_config, 0, "/dimension", "is above what this server takes"}));
  }
  call.hosted = app.service().find(call.name);
  if (!call.hosted) return create(app, call, *sent);
  const auto shared = std::make_shared<Call>(std::move(call));
  shared->hosted->turns.write(true,
                              [shared, sent = *sent, time] { configure(shared, sent, time); });
}

void get_cache(App& app, Call&& call) {
  static_cast<void>(app);
  const auto hosted = call.hosted;
  hosted->turns.read(true,
                     [hosted, respond = call.respond] { respond(cache_response(*hosted, 200)); });
}

void delete_cache(App& app, Call&& call) {
  const auto shared = std::make_shared<Call>(std::move(call));
  shared->hosted->turns.write(true, [&app, shared] {
    const auto hosted = shared->hosted;
    if (auto response = closed_response(*hosted)) return shared->respond(std::move(*response));
    if (auto response = precondition(shared->request, *hosted)) {
      return shared->respond(std::move(*response));
    }
    Response response;
    response.status = 204;
    app.service().remove(hosted, App::now(), when_stored(shared->respond, std::move(response)));
  });
}

void consolidate(App& app, Call&& call) {
  static_cast<void>(app);
  std::int64_t time = 0;
  if (!takes_time_alone(call, time)) return;
  const auto similarity = read_similarity(call.request.body);
  if (!similarity) return call.respond(problem(similarity.status));
  const auto shared = std::make_shared<Call>(std::move(call));
  shared->hosted->turns.write(false, [shared, wanted = *similarity, time] {
    Hosted& hosted = *shared->hosted;
    if (auto response = closed_response(hosted)) return shared->respond(std::move(*response));
    const auto folds = hosted.change().consolidate(wanted, time);
    if (!folds) return shared->respond(problem(folds.status));
    std::string body;
    JsonWriter json(body);
    json.begin_object().name("folded").begin_array();
    for (const Fold& fold : *folds) {
      json.begin_object();
      json.name("slot").number(fold.slot);
      json.name("into").number(fold.into);
      json.end_object();
    }
    json.end_array().end_object();
    hosted.commit(App::now(), {}, when_stored(shared->respond, json_response(std::move(body))));
  });
}

}  // namespace dpcache::server
