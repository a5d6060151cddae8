// observe, read, score and consolidate.
#include <algorithm>
#include <utility>

#include "api/answer_json.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/sent_items.h"
#include "log/checksum.h"

namespace dpcache::server {

namespace {

// Work of at most so many floats is done by the thread that talks to the client.
constexpr std::uint64_t kBriefFloats = 1U << 20U;

bool is_binary(const Request& request) {
  return media_type(request.header("content-type")) == "application/octet-stream";
}

bool is_lines(const Request& request) {
  return media_type(request.header("content-type")) == "application/x-ndjson";
}

bool is_brief(const Hosted& hosted, std::size_t queries) {
  const std::uint64_t slots = std::max<std::uint64_t>(hosted.counters.slots, 64);
  return slots * hosted.dimension * queries <= kBriefFloats;
}

// What is wrong with the parameter `count` and the body; none: nothing. It guards bodies of plain
// floats, which would be taken in other rows if the cache had another dimension meanwhile.
template <class One>
std::optional<Response> wrong_count(const Call& call, const Sent<One>& sent) {
  std::optional<std::uint64_t> count;
  if (!read_parameter(call, "count", count) || count.value_or(1) < 1 ||
      count.value_or(1) > kMostItems) {
    return problem(code::kRequest, "count must be an integer from 1 to 4096");
  }
  if (!sent.malformed.empty()) return problem(code::kRequest, sent.malformed);
  if (!count || *count == sent.list.size()) return {};
  return problem({Error::bad_shape, 0, "",
                  "the body has " + std::to_string(sent.list.size()) + " members, not " +
                      std::to_string(*count)});
}

// What was wrong before the library saw it counts for its item.
std::vector<Status> all_errors(std::vector<Status> own, const std::vector<Status>& library) {
  const std::size_t known = own.size();
  for (const Status& error : library) {
    const bool is_known = std::any_of(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(known),
                                      [&](const Status& one) { return one.index == error.index; });
    if (!is_known) own.push_back(error);
  }
  std::stable_sort(own.begin(), own.end(),
                   [](const Status& a, const Status& b) { return a.index < b.index; });
  return own;
}

// --- Observe

struct Observation {
  Call call;
  Sent<SentItem> sent;
  std::string idempotency_key;
  std::uint64_t request_hash = 0;
};

Response decisions_response(const std::vector<Decision>& decisions) {
  std::string body;
  body.reserve(decisions.size() * 200);
  JsonWriter json(body);
  json.begin_object().name("decisions").begin_array();
  for (const Decision& decision : decisions) write(json, decision);
  json.end_array().end_object();
  return json_response(std::move(body));
}

// The answer of an earlier request with the same key, or why there cannot be one; else none.
std::optional<Response> repeated(const Observation& observation) {
  const Hosted& hosted = *observation.call.hosted;
  const Answers::Kept* kept = hosted.answers().find(observation.idempotency_key);
  if (kept == nullptr) return {};
  if (kept->answer.request != observation.request_hash) {
    return problem(code::kIdempotency, "this Idempotency-Key came with another request before");
  }
  const bool waits = hosted.settings().durability == Durability::sync;
  if (waits && !hosted.is_committed(kept->position)) {
    return problem(code::kConflict, "the request with this Idempotency-Key is under way");
  }
  Response response = json_response(kept->answer.body, kept->answer.status);
  response.headers.push_back({"Idempotent-Replayed", "true"});
  return response;
}

void observe_now(Observation& observation) {
  Hosted& hosted = *observation.call.hosted;
  const Respond& respond = observation.call.respond;
  if (observation.call.request.gone && *observation.call.request.gone) {
    return respond(problem(code::kRequest, "the client has gone"));
  }
  if (auto response = closed_response(hosted)) return respond(std::move(*response));
  const bool keyed = !observation.idempotency_key.empty();
  if (keyed) {
    if (auto response = repeated(observation)) return respond(std::move(*response));
  }
  Sent<SentItem>& sent = observation.sent;
  encode_texts(hosted, sent);
  const std::int64_t now = App::now();
  const std::vector<Item> items = items_of(sent, now);
  const BatchResult result = hosted.change().observe_batch(items);
  if (!result) {
    return respond(problem(all_errors(std::move(sent.errors), result.errors), "/items/"));
  }
  Response response = decisions_response(result.decisions);
  std::optional<Answer> answer;
  if (keyed) {
    answer = Answer{observation.idempotency_key, observation.request_hash, now,
                    static_cast<std::uint16_t>(response.status), response.body};
  }
  hosted.commit(now, std::move(answer), when_stored(respond, std::move(response)));
}

// --- Queries

struct Asked {
  Call call;
  Sent<SentQuery> sent;
  std::optional<std::uint64_t> k;
  bool reads = false;  // else scores
};

QueryOptions options_of(const SentQuery& query, const Asked& asked, std::int64_t now) {
  QueryOptions options;
  const std::uint64_t k = query.k ? *query.k : asked.sent.k ? *asked.sent.k : asked.k.value_or(10);
  options.k = static_cast<std::size_t>(std::min<std::uint64_t>(k, kMaxInteger));
  if (!query.at_no_time) options.time = query.time.value_or(now);
  options.encoder = query.encoder;
  return options;
}

Status write_reading(JsonWriter& json, const Cache& cache, std::span<const float> key,
                     QueryOptions options) {
  const std::size_t wanted = options.k;
  options.k = std::max<std::size_t>(wanted, 1);  // the verdict needs the best
  const auto reading = cache.read(key, options);
  if (!reading) return reading.status;
  json.begin_object();
  const float best = reading->top.empty() ? 0.0F : reading->top.front().similarity;
  write_verdict(json, threshold(cache.config()), reading->top.empty(), best);
  json.name("empty").boolean(reading->empty);
  json.name("null_weight").number(reading->null_weight);
  json.name("value");
  if (reading->value.empty()) {
    json.null();
  } else {
    json.floats(reading->value);
  }
  json.name("top").begin_array();
  for (std::size_t i = 0; i < std::min(wanted, reading->top.size()); ++i) {
    const Weighted& one = reading->top[i];
    json.begin_object();
    json.name("slot").number(one.slot);
    json.name("similarity").number(one.similarity);
    json.name("weight").number(one.weight);
    json.name("payload");
    write_payload(json, cache.slot(one.slot)->payload);
    json.end_object();
  }
  json.end_array().end_object();
  return {};
}

using Matches = std::vector<Match>;

// The verdict needs the best, whatever is listed.
QueryOptions with_best(QueryOptions options) {
  options.k = std::max<std::size_t>(options.k, 1);
  return options;
}

Result<Matches> matches_of(const Cache& cache, std::span<const float> key, QueryOptions options) {
  options = with_best(options);
  if (options.k == 1 || key.size() != cache.config().dimension) {
    // score() would take a key of another length for several, or none.
    auto match = cache.nearest(key, options);
    if (!match) return std::move(match.status);
    return *match ? Matches{**match} : Matches{};
  }
  auto scores = cache.score(key, options);
  if (!scores) return std::move(scores.status);
  return std::move(scores->front());
}

// The matches of all queries, which are found much faster together; none if they ask for different
// things, or one is refused: who asks for each alone learns which.
std::vector<Matches> matches_of_all(const Cache& cache, const Asked& asked, std::int64_t now) {
  const std::vector<SentQuery>& list = asked.sent.list;
  if (list.size() < 2 || !asked.sent.errors.empty()) return {};
  const QueryOptions options = options_of(list.front(), asked, now);
  std::vector<float> keys;
  keys.reserve(list.size() * cache.config().dimension);
  for (const SentQuery& query : list) {
    const QueryOptions other = options_of(query, asked, now);
    const auto key = part(asked.sent, query.key);
    const bool same = other.k == options.k && other.time == options.time &&
                      other.encoder == options.encoder && key.size() == cache.config().dimension;
    if (!same) return {};
    keys.insert(keys.end(), key.begin(), key.end());
  }
  auto scores = cache.score(keys, with_best(options));
  return scores ? std::move(*scores) : std::vector<Matches>();
}

void write_scores(JsonWriter& json, const Cache& cache, const Matches& matches,
                  std::size_t wanted) {
  json.begin_object();
  write_verdict(json, threshold(cache.config()), matches.empty(),
                matches.empty() ? 0.0F : matches.front().similarity);
  json.name("top").begin_array();
  for (std::size_t i = 0; i < std::min(wanted, matches.size()); ++i) write(json, matches[i]);
  json.end_array().end_object();
}

void ask_now(Asked& asked) {
  const Hosted& hosted = *asked.call.hosted;
  const Respond& respond = asked.call.respond;
  if (asked.call.request.gone && *asked.call.request.gone) {
    return respond(problem(code::kRequest, "the client has gone"));
  }
  Sent<SentQuery>& sent = asked.sent;
  encode_texts(hosted, sent);
  const std::int64_t now = App::now();
  std::string body;
  JsonWriter json(body);
  json.begin_object().name("results").begin_array();
  std::vector<Status> errors;
  const Cache& cache = hosted.cache();
  const auto together = asked.reads ? std::vector<Matches>() : matches_of_all(cache, asked, now);
  for (std::size_t i = 0; i < sent.list.size(); ++i) {
    const QueryOptions options = options_of(sent.list[i], asked, now);
    const auto key = part(sent, sent.list[i].key);
    Status status;
    if (asked.reads) {
      status = write_reading(json, cache, key, options);
    } else if (!together.empty()) {
      write_scores(json, cache, together[i], options.k);
    } else {
      auto matches = matches_of(cache, key, options);
      if (matches) write_scores(json, cache, *matches, options.k);
      status = std::move(matches.status);
    }
    if (status) continue;
    status.index = i;
    errors.push_back(std::move(status));
  }
  if (!errors.empty() || !sent.errors.empty()) {
    return respond(problem(all_errors(std::move(sent.errors), errors), "/queries/"));
  }
  json.end_array().end_object();
  respond(json_response(std::move(body)));
}

void ask(App& app, Call&& call, bool reads) {
  static_cast<void>(app);
  auto asked = std::make_shared<Asked>();
  asked->reads = reads;
  if (const std::string name = unknown_parameter(call, {"k", "count"}); !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  if (!read_parameter(call, "k", asked->k)) {
    return call.respond(problem(code::kRequest, "k must be an integer, and not negative"));
  }
  asked->sent = is_binary(call.request)
                    ? read_queries_floats(call.request.body, call.hosted->dimension)
                    : read_queries_json(call.request.body);
  if (auto response = wrong_count(call, asked->sent)) return call.respond(std::move(*response));
  const auto hosted = call.hosted;
  asked->call = std::move(call);
  hosted->turns.read(is_brief(*hosted, asked->sent.list.size()), [asked] { ask_now(*asked); });
}

// --- Lookups

struct LookedUp {
  Call call;
  Sent<SentLookup> sent;
};

void look_up_now(LookedUp& asked) {
  const Hosted& hosted = *asked.call.hosted;
  const Respond& respond = asked.call.respond;
  Sent<SentLookup>& sent = asked.sent;
  encode_texts(hosted, sent);
  const std::int64_t now = App::now();
  std::string body;
  JsonWriter json(body);
  json.begin_object().name("results").begin_array();
  std::vector<Status> errors;
  for (std::size_t i = 0; i < sent.list.size(); ++i) {
    const SentLookup& query = sent.list[i];
    LookupOptions options;
    if (!query.at_no_time) options.time = query.time.value_or(now);
    options.encoder = query.encoder;
    if (query.exact_key) options.exact_key = *query.exact_key;
    options.text = query.text ? *query.text : query.guard_text;
    options.scope = query.scope;
    auto found = hosted.cache().lookup(part(sent, query.key), options);
    if (found) {
      write(json, *found, hosted.cache());
      continue;
    }
    found.status.index = i;
    errors.push_back(std::move(found.status));
  }
  if (!errors.empty() || !sent.errors.empty()) {
    return respond(problem(all_errors(std::move(sent.errors), errors), "/queries/"));
  }
  json.end_array().end_object();
  respond(json_response(std::move(body)));
}

}  // namespace

void lookup(App& app, Call&& call) {
  static_cast<void>(app);
  auto asked = std::make_shared<LookedUp>();
  asked->sent = read_lookups_json(call.request.body);
  if (!asked->sent.malformed.empty()) {
    return call.respond(problem(code::kRequest, asked->sent.malformed));
  }
  const auto hosted = call.hosted;
  asked->call = std::move(call);
  hosted->turns.read(is_brief(*hosted, asked->sent.list.size()), [asked] { look_up_now(*asked); });
}

void observe(App& app, Call&& call) {
  if (const std::string name = unknown_parameter(call, {"count"}); !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  const auto hosted = call.hosted;
  const auto refusal = app.service().room_for(*hosted, call.request.body.size());
  if (refusal != Service::Refusal::none) {
    return call.respond(refusal_response(refusal, app.service(), call.name));
  }
  auto observation = std::make_shared<Observation>();
  constexpr std::size_t kLongestKey = 255;
  observation->idempotency_key = call.request.header("idempotency-key");
  if (observation->idempotency_key.size() > kLongestKey) {
    return call.respond(problem(code::kRequest, "an Idempotency-Key has at most 255 characters"));
  }
  const bool binary = is_binary(call.request);
  const bool lines = is_lines(call.request);
  if (!observation->idempotency_key.empty()) {
    observation->request_hash = checksum(call.request.body, binary ? 1 : lines ? 2 : 0);
  }
  observation->sent =
      binary  ? read_items_floats(call.request.body, hosted->dimension, hosted->value_dimension)
      : lines ? read_items_lines(call.request.body)
              : read_items_json(call.request.body);
  if (auto response = wrong_count(call, observation->sent)) {
    return call.respond(std::move(*response));
  }
  observation->call = std::move(call);
  const bool brief = is_brief(*hosted, observation->sent.list.size());
  hosted->turns.write(brief, [observation] { observe_now(*observation); });
}

void read(App& app, Call&& call) {
  ask(app, std::move(call), true);
}

void score(App& app, Call&& call) {
  ask(app, std::move(call), false);
}

}  // namespace dpcache::server
