// Members of slots, pairs that may or must not be one, and the undoing of merges.
#include <algorithm>
#include <memory>
#include <utility>

#include "api/answer_json.h"
#include "api/config_body.h"
#include "api/handlers.h"
#include "api/sent_items.h"

namespace dpcache::server {

namespace {

// The parameter `time` of a change; none, and answers, if it or another parameter is wrong.
std::optional<std::int64_t> time_of(const Call& call) {
  std::int64_t time = 0;
  if (!takes_time_alone(call, time)) return {};
  return time;
}

// The member of this number, or the one of this id.
Result<std::uint64_t> member_of(const Cache& cache, const SentSplit& sent) {
  if (sent.member) return *sent.member;
  const auto members = cache.members(sent.slot);
  if (!members) return members.status;
  std::vector<std::uint64_t> found;
  for (const Member& member : *members) {
    if (member.id == sent.id) found.push_back(member.seq);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) return Status{Error::not_found, 0, "/id", "the slot lists no such member"};
  return Status{Error::bad_request, 0, "/id", "more than one member has this id: give the number"};
}

// As what is answered for a pair: the older stays.
Status judge(Cache& cache, const SentVerdict& sent, std::int64_t time) {
  if (sent.into != 0) {
    const SlotId from = sent.into == sent.slot ? sent.other : sent.slot;
    return cache.must_merge(sent.into, from, time);
  }
  const SlotId older = std::min(sent.slot, sent.other);
  const SlotId newer = std::max(sent.slot, sent.other);
  if (sent.verdict == Judgement::different) return cache.must_not_merge(older, newer, time);
  const auto reviews = cache.reviews();
  const bool is_listed = std::any_of(reviews.begin(), reviews.end(), [&](const Review& review) {
    return review.slot == newer && review.other == older;
  });
  if (sent.verdict == Judgement::same && !is_listed) return cache.must_merge(older, newer, time);
  return cache.review(newer, older, sent.verdict, time);
}

}  // namespace

void list_members(App& app, Call&& call) {
  static_cast<void>(app);
  const auto hosted = call.hosted;
  hosted->turns.read(true, [hosted, respond = call.respond, id = id_of(call)] {
    const auto slot = hosted->cache().slot(id);
    if (!slot) return respond(problem(slot.status));
    const auto members = hosted->cache().members(id);
    if (!members) return respond(problem(members.status));
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.name("count").number(slot->count);
    json.name("members").begin_array();
    for (const Member& member : *members) write(json, member);
    json.end_array().end_object();
    respond(json_response(std::move(body)));
  });
}

void split(App& app, Call&& call) {
  static_cast<void>(app);
  const auto time = time_of(call);
  if (!time) return;
  auto read = read_split(call.request.body);
  if (!read) return call.respond(problem(read.status));
  const auto hosted = call.hosted;
  const auto sent = std::make_shared<SentSplit>(std::move(*read));
  hosted->turns.write(true, [hosted, respond = call.respond, sent, time = *time] {
    if (auto response = closed_response(*hosted)) return respond(std::move(*response));
    const auto member = member_of(hosted->cache(), *sent);
    if (!member) return respond(problem(member.status));
    encode_texts(*hosted, sent->item);
    if (!sent->item.errors.empty()) {
      Status status = sent->item.errors.front();
      status.index = 0;
      status.pointer.insert(0, "/item");
      return respond(problem(status));
    }
    const std::vector<Item> items = items_of(sent->item, time);
    SplitOptions options;
    options.time = time;
    if (!items.empty()) options.item = &items.front();
    const auto opened = hosted->change().split(sent->slot, *member, options);
    if (!opened) return respond(problem(opened.status));
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.name("slot").number(sent->slot);
    json.name("opened").number(*opened);
    json.end_object();
    hosted->commit(App::now(), {}, when_stored(respond, json_response(std::move(body))));
  });
}

void list_pairs(App& app, Call&& call) {
  static_cast<void>(app);
  const auto hosted = call.hosted;
  hosted->turns.read(true, [hosted, respond = call.respond] {
    std::string body;
    JsonWriter json(body);
    json.begin_object().name("reviews").begin_array();
    for (const Review& review : hosted->cache().reviews()) {
      json.begin_object();
      json.name("slot").number(review.slot);
      json.name("other").number(review.other);
      json.name("similarity").number(review.similarity);
      json.end_object();
    }
    json.end_array().name("must_not_merge").begin_array();
    for (const Apart& pair : hosted->cache().apart()) {
      json.begin_object();
      json.name("slot").number(pair.slot);
      json.name("other").number(pair.other);
      json.end_object();
    }
    json.end_array().end_object();
    respond(json_response(std::move(body)));
  });
}

void judge_pair(App& app, Call&& call) {
  static_cast<void>(app);
  const auto time = time_of(call);
  if (!time) return;
  const auto sent = read_verdict(call.request.body);
  if (!sent) return call.respond(problem(sent.status));
  const auto hosted = call.hosted;
  hosted->turns.write(true, [hosted, respond = call.respond, sent = *sent, time = *time] {
    if (auto response = closed_response(*hosted)) return respond(std::move(*response));
    if (const Status status = judge(hosted->change(), sent, time); !status) {
      return respond(problem(status));
    }
    Response response;
    response.status = 204;
    hosted->commit(App::now(), {}, when_stored(respond, std::move(response)));
  });
}

}  // namespace dpcache::server
