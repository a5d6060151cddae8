// Slots: listed, looked at, erased.
#include <algorithm>
#include <charconv>
#include <utility>

#include "api/answer_json.h"
#include "api/handlers.h"

namespace dpcache::server {

// 0, which no slot has, for what is no id.
SlotId id_of(const Call& call) {
  SlotId id = 0;
  const auto* end = call.rest.data() + call.rest.size();
  const auto result = std::from_chars(call.rest.data(), end, id);
  return result.ec == std::errc() && result.ptr == end ? id : 0;
}

namespace {

bool wants_lines(const Call& call) {
  return call.request.header("accept").find("application/x-ndjson") != std::string::npos;
}

// A slot a line. Where there are more, the header names the one to go on after.
Response lines_response(const std::vector<Slot>& slots, std::size_t wanted, bool keys) {
  Response response;
  response.headers.push_back({"Content-Type", "application/x-ndjson"});
  for (std::size_t i = 0; i < std::min(wanted, slots.size()); ++i) {
    const std::size_t begin = response.body.size();
    JsonWriter json(response.body);
    write(json, slots[i], keys);
    // A payload can be JSON of several lines, whose breaks mean nothing: in a string they would be
    // escaped.
    std::replace_if(
        response.body.begin() + static_cast<std::ptrdiff_t>(begin), response.body.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');
    response.body += '\n';
  }
  if (slots.size() > wanted) {
    response.headers.push_back({"Dpcache-Next", std::to_string(slots[wanted - 1].id)});
  }
  return response;
}

}  // namespace

void list_slots(App& app, Call&& call) {
  static_cast<void>(app);
  constexpr std::uint64_t kMost = 1000;
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> keys;
  if (const std::string name = unknown_parameter(call, {"after", "limit", "keys"}); !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  if (!read_parameter(call, "after", after)) {
    return call.respond(problem(code::kRequest, "after must be the id of a slot, or 0"));
  }
  if (!read_parameter(call, "limit", limit) || limit.value_or(1) < 1 || limit.value_or(1) > kMost) {
    return call.respond(problem(code::kRequest, "limit must be an integer from 1 to 1000"));
  }
  if (!read_parameter(call, "keys", keys) || keys.value_or(0) > 1) {
    return call.respond(problem(code::kRequest, "keys must be 0 or 1"));
  }
  const std::size_t wanted = static_cast<std::size_t>(limit.value_or(100));
  const auto hosted = call.hosted;
  hosted->turns.read(true, [hosted, respond = call.respond, after = after.value_or(0), wanted,
                            keys = keys.value_or(1) == 1, lines = wants_lines(call)] {
    const auto slots = hosted->cache().slots(after, wanted + 1);
    if (lines) return respond(lines_response(slots, wanted, keys));
    std::string body;
    JsonWriter json(body);
    json.begin_object().name("slots").begin_array();
    for (std::size_t i = 0; i < std::min(wanted, slots.size()); ++i) write(json, slots[i], keys);
    json.end_array().name("next");
    if (slots.size() > wanted) {
      json.number(slots[wanted - 1].id);
    } else {
      json.null();
    }
    json.end_object();
    respond(json_response(std::move(body)));
  });
}

void get_slot(App& app, Call&& call) {
  static_cast<void>(app);
  const auto hosted = call.hosted;
  hosted->turns.read(true, [hosted, respond = call.respond, id = id_of(call)] {
    const auto slot = hosted->cache().slot(id);
    if (!slot) return respond(problem(slot.status));
    std::string body;
    JsonWriter json(body);
    write(json, *slot, true);
    respond(json_response(std::move(body)));
  });
}

void delete_slot(App& app, Call&& call) {
  static_cast<void>(app);
  std::int64_t time = 0;
  if (!takes_time_alone(call, time)) return;
  const auto hosted = call.hosted;
  hosted->turns.write(true, [hosted, respond = call.respond, id = id_of(call), time] {
    if (auto response = closed_response(*hosted)) return respond(std::move(*response));
    if (const Status status = hosted->change().erase(id, time); !status) {
      return respond(problem(status));
    }
    Response response;
    response.status = 204;
    hosted->commit(App::now(), {}, when_stored(respond, std::move(response)));
  });
}

}  // namespace dpcache::server
