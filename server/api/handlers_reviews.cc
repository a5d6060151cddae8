// The queue of pairs that wait for a judge: listed, looked at, answered.
#include <algorithm>
#include <charconv>
#include <utility>

#include "api/answer_json.h"
#include "api/config_body.h"
#include "api/handlers.h"

namespace dpcache::server {

namespace {

// "12-7": slot 12 and slot 7, the newer first. It stays the pair's name as long as both slots do.
struct ReviewId {
  SlotId slot = 0;
  SlotId other = 0;
};

std::optional<ReviewId> read_id(std::string_view text) {
  ReviewId id;
  const auto* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, id.slot);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return {};
  const auto second = std::from_chars(first.ptr + 1, end, id.other);
  if (second.ec != std::errc() || second.ptr != end) return {};
  return id;
}

bool is_behind(const Review& review, const ReviewId& id) {
  return std::pair(review.slot, review.other) > std::pair(id.slot, id.other);
}

// The open question of this name; none: there is none.
std::optional<Review> find(const Cache& cache, std::string_view name) {
  const auto id = read_id(name);
  if (!id) return {};
  const auto reviews = cache.reviews();
  const auto at = std::find_if(reviews.begin(), reviews.end(), [&](const Review& review) {
    return review.slot == id->slot && review.other == id->other;
  });
  if (at == reviews.end()) return {};
  return *at;
}

Response no_review() {
  return problem(code::kNotFound, "no such pair waits: it was answered, or a slot has gone");
}

void write(JsonWriter& json, const Review& review, const Cache& cache) {
  json.begin_object();
  json.name("id").text(review_id(review.slot, review.other));
  json.name("similarity").number(review.similarity);
  json.name("slot");
  write(json, *cache.slot(review.slot), false);
  json.name("other");
  write(json, *cache.slot(review.other), false);
  json.end_object();
}

}  // namespace

void list_reviews(App& app, Call&& call) {
  static_cast<void>(app);
  constexpr std::uint64_t kMost = 1000;
  ReviewId after;
  std::optional<std::uint64_t> limit;
  if (const std::string name = unknown_parameter(call, {"after", "limit"}); !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  for (const auto& [name, text] : call.target.query) {
    if (name != "after") continue;
    const auto id = read_id(text);
    if (!id) return call.respond(problem(code::kRequest, "after must be the id of a review"));
    after = *id;
  }
  if (!read_parameter(call, "limit", limit) || limit.value_or(1) < 1 || limit.value_or(1) > kMost) {
    return call.respond(problem(code::kRequest, "limit must be an integer from 1 to 1000"));
  }
  const auto wanted = static_cast<std::size_t>(limit.value_or(100));
  const auto hosted = call.hosted;
  hosted->turns.read(true, [hosted, respond = call.respond, after, wanted] {
    const auto reviews = hosted->cache().reviews();  // ascending
    auto at = std::find_if(reviews.begin(), reviews.end(),
                           [&](const Review& review) { return is_behind(review, after); });
    std::string body;
    JsonWriter json(body);
    json.begin_object().name("reviews").begin_array();
    std::string next;
    for (std::size_t i = 0; i < wanted && at != reviews.end(); ++i, ++at) {
      write(json, *at, hosted->cache());
      next = review_id(at->slot, at->other);
    }
    json.end_array().name("next");
    if (at == reviews.end()) {
      json.null();
    } else {
      json.text(next);
    }
    json.end_object();
    respond(json_response(std::move(body)));
  });
}

void get_review(App& app, Call&& call) {
  static_cast<void>(app);
  const auto hosted = call.hosted;
  hosted->turns.read(true, [hosted, respond = call.respond, name = call.rest] {
    const auto review = find(hosted->cache(), name);
    if (!review) return respond(no_review());
    std::string body;
    JsonWriter json(body);
    write(json, *review, hosted->cache());
    respond(json_response(std::move(body)));
  });
}

void answer_review(App& app, Call&& call) {
  static_cast<void>(app);
  std::int64_t time = 0;
  if (!takes_time_alone(call, time)) return;
  const auto verdict = read_judgement(call.request.body);
  if (!verdict) return call.respond(problem(verdict.status));
  const auto hosted = call.hosted;
  hosted->turns.write(
      true, [hosted, respond = call.respond, name = call.rest, verdict = *verdict, time] {
        if (auto response = closed_response(*hosted)) return respond(std::move(*response));
        const auto review = find(hosted->cache(), name);
        if (!review) return respond(no_review());
        const Status status = hosted->change().review(review->slot, review->other, verdict, time);
        if (!status) return respond(problem(status));
        Response response;
        response.status = 204;
        hosted->commit(App::now(), {}, when_stored(respond, std::move(response)));
      });
}

}  // namespace dpcache::server
