// What has happened in a cache: a page of its log, or all of it as it comes (server-sent events).
#include <charconv>
#include <exception>
#include <utility>

#include "api/answer_json.h"
#include "api/body.h"
#include "api/handlers.h"

namespace dpcache::server {

namespace {

constexpr std::uint64_t kMost = 1000;

// How much of an event is told: with its canonical bytes, which a cache elsewhere can apply, or
// not.
enum class Detail : std::uint8_t { fields, bytes_too };

std::string json_of(std::string_view bytes, Detail detail) {
  std::string text;
  const auto decoded = decode_event(std::as_bytes(std::span(bytes)));
  if (!decoded) return "{}";
  JsonWriter json(text);
  write(json, decoded->event());
  if (detail == Detail::bytes_too) {
    text.back() = ',';
    text += R"("bytes":")" + to_base64(bytes) + "\"}";
  }
  return text;
}

Response gone(std::uint64_t seq) {
  return problem(code::kNotFound, "the events behind " + std::to_string(seq) +
                                      " are no longer kept; begin with a snapshot");
}

// A client that listens.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Deliver = std::function<void(std::optional<std::string>)>;

  Stream(App& app, std::shared_ptr<Hosted> hosted, std::uint64_t seq, Detail detail)
      : app_(app), hosted_(std::move(hosted)), seq_(seq), detail_(detail) {}

  void next(Deliver deliver) {
    // Not on the thread of the log, which may be the one that calls.
    app_.service().pool().post([self = shared_from_this(), deliver = std::move(deliver)]() mutable {
      self->collect(std::move(deliver));
    });
  }

 private:
  void collect(Deliver deliver) {
    if (!app_.is_ready()) return deliver({});
    std::string text;
    bool there = false;
    try {
      there = app_.service().events(*hosted_, seq_, kAtOnce, [&](std::string_view bytes) {
        text += "id: " + std::to_string(++seq_) + "\ndata: " + json_of(bytes, detail_) + "\n\n";
      });
    } catch (const std::exception&) {
      return deliver({});
    }
    if (!text.empty()) return deliver(std::move(text));
    if (!there || hosted_->is_removed()) return deliver({});
    hosted_->when_events(seq_, weak_from_this(),
                         [self = this, deliver = std::move(deliver)] { self->next(deliver); });
  }

  static constexpr std::size_t kAtOnce = 100;
  App& app_;
  std::shared_ptr<Hosted> hosted_;
  std::uint64_t seq_;
  Detail detail_;
};

bool wants_stream(const Request& request) {
  return request.header("accept").find("text/event-stream") != std::string_view::npos;
}

}  // namespace

void list_events(App& app, Call&& call) {
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> limit;
  if (const std::string name = unknown_parameter(call, {"after", "limit", "bytes"});
      !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  if (!read_parameter(call, "after", after)) {
    return call.respond(problem(code::kRequest, "after must be the seq of an event, or 0"));
  }
  if (!read_parameter(call, "limit", limit) || limit.value_or(1) < 1 || limit.value_or(1) > kMost) {
    return call.respond(problem(code::kRequest, "limit must be an integer from 1 to 1000"));
  }
  std::optional<std::uint64_t> bytes_too;
  if (!read_parameter(call, "bytes", bytes_too) || bytes_too.value_or(0) > 1) {
    return call.respond(problem(code::kRequest, "bytes must be 0 or 1"));
  }
  const Detail detail = bytes_too.value_or(0) == 1 ? Detail::bytes_too : Detail::fields;
  const std::string last(call.request.header("last-event-id"));
  if (!last.empty()) {
    std::uint64_t seq = 0;
    const auto* end = last.data() + last.size();
    const auto result = std::from_chars(last.data(), end, seq);
    if (result.ec != std::errc() || result.ptr != end || seq > kMaxInteger) {
      return call.respond(problem(code::kRequest, "Last-Event-ID must be the seq of an event"));
    }
    after = seq;
  }
  if (wants_stream(call.request)) {
    const std::uint64_t seq = after.value_or(call.hosted->committed_seq());
    const auto stream = std::make_shared<Stream>(app, call.hosted, seq, detail);
    // A client that comes back too late must hear that it has missed something.
    app.service().pool().post([&app, stream, seq, hosted = call.hosted, respond = call.respond] {
      try {
        if (!app.service().events(*hosted, seq, 1, [](std::string_view) {})) {
          return respond(gone(seq));
        }
      } catch (const std::exception& error) {
        return respond(problem(code::kUnavailable, error.what()));
      }
      Response response;
      response.headers = {{"Content-Type", "text/event-stream"}};
      response.parts = [stream](Stream::Deliver deliver) { stream->next(std::move(deliver)); };
      respond(std::move(response));
    });
    return;
  }
  const auto shared = std::make_shared<Call>(std::move(call));
  app.service().pool().post([&app, shared, detail, after = after.value_or(0),
                             limit = static_cast<std::size_t>(limit.value_or(100))] {
    std::string body;
    JsonWriter json(body);
    json.begin_object().name("events").begin_array();
    std::uint64_t seq = after;
    try {
      const bool there =
          app.service().events(*shared->hosted, after, limit, [&](std::string_view bytes) {
            json.raw(json_of(bytes, detail));
            ++seq;
          });
      if (!there && seq == after) return shared->respond(gone(after));
    } catch (const std::exception& error) {
      return shared->respond(problem(code::kUnavailable, error.what()));
    }
    json.end_array().name("next").number(seq).end_object();
    shared->respond(json_response(std::move(body)));
  });
}

}  // namespace dpcache::server
