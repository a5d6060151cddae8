// Routing, tokens, rates, headers and access lines.
#include "api/app.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <utility>

#include "api/json_writer.h"

namespace dpcache::server {

namespace {

constexpr std::size_t kMostAllowances = 100'000;

std::vector<std::string_view> parts(std::string_view path) {
  std::vector<std::string_view> found;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0 || !path.empty()) found.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return found;
}

bool matches(const std::vector<std::string_view>& wanted, const Target& target, std::string& name,
             std::string& rest) {
  if (wanted.size() != target.path.size()) return false;
  std::string found_name;
  std::string found_rest;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == "{name}") {
      found_name = target.path[i];
    } else if (wanted[i] == "{id}") {
      found_rest = target.path[i];
    } else if (wanted[i] != target.path[i]) {
      return false;
    }
  }
  name = std::move(found_name);
  rest = std::move(found_rest);
  return true;
}

bool is_understood(Body body, std::string_view type) {
  switch (body) {
    case Body::none:
      return true;
    case Body::json:
      return type.empty() || type == "application/json";
    case Body::vectors:
      return type.empty() || type == "application/json" || type == "application/octet-stream";
    case Body::items:
      return is_understood(Body::vectors, type) || type == "application/x-ndjson";
    case Body::memory_file:
      return type.empty() || type == "application/octet-stream";
  }
  return false;
}

}  // namespace

App::App(Service& service, AppOptions options)
    : service_(service), options_(std::move(options)), routes_(routes()) {
  for (const Route& route : routes_) paths_.push_back(parts(route.path));
  for (std::size_t i = 0; i <= routes_.size(); ++i) {
    metrics_.push_back(std::make_unique<RouteMetrics>());
  }
}

std::int64_t App::now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

App::Found App::find(const Request& request) const {
  Found found;
  auto target = parse_target(request.target);
  found.is_target = target.has_value();
  if (!target) return found;
  found.target = std::move(*target);
  const std::string_view sent = request.method;
  const std::string_view method = sent == "HEAD" ? "GET" : sent;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const Route& route = routes_[i];
    if (!matches(paths_[i], found.target, found.name, found.rest)) continue;
    if (route.method == method) {
      found.route = &route;
      return found;
    }
    found.allow += (found.allow.empty() ? "" : ", ") + std::string(route.method);
  }
  if (method == "GET" && found.allow.empty()) {
    const auto file = options_.page.find(request.target.substr(0, request.target.find('?')));
    if (file != options_.page.end()) found.file = &file->second;
  }
  return found;
}

bool App::has_allowance(const std::string& who) {
  if (options_.rate <= 0) return true;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(rate_mutex_);
  if (allowances_.size() > kMostAllowances) allowances_.clear();
  const auto [place, is_new] = allowances_.try_emplace(who, Allowance{options_.rate, now});
  Allowance& allowance = place->second;
  const double seconds = std::chrono::duration<double>(now - allowance.since).count();
  allowance.left = std::min(options_.rate, allowance.left + seconds * options_.rate);
  allowance.since = now;
  if (allowance.left < 1) return false;
  allowance.left -= 1;
  return true;
}

bool App::is_allowed_origin(std::string_view origin) const {
  return std::any_of(options_.cors.begin(), options_.cors.end(),
                     [&](const std::string& one) { return one == "*" || one == origin; });
}

// Pages of other origins may ask only if they are allowed to: a browser sends some requests without
// asking first, and a server of this machine has no token to protect it.
std::optional<Response> App::check_origin(const Request& request) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty()) return {};
  const std::string own =
      (request.secure ? "https://" : "http://") + std::string(request.header("host"));
  if (origin == own) return {};
  if (!is_allowed_origin(origin)) {
    return problem(code::kForbidden,
                   "pages of " + std::string(origin) + " may not ask here; --cors allows them");
  }
  if (request.method != "OPTIONS" || request.header("access-control-request-method").empty()) {
    return {};
  }
  Response response;
  response.status = 204;
  response.headers = {
      {"Access-Control-Allow-Methods", "GET, POST, PUT, DELETE"},
      {"Access-Control-Allow-Headers",
       "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"},
      {"Access-Control-Max-Age", "600"}};
  return response;
}

const Token* App::sent_token(const Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view sent = request.header("authorization");
  return sent.starts_with(kBearer) ? options_.tokens.find(sent.substr(kBearer.size())) : nullptr;
}

std::optional<Response> App::check(const Request& request, Found& found) {
  const Token*& token = found.token;
  if (auto response = check_origin(request)) return response;
  if (found.file != nullptr) return file_response(request, *found.file);
  if (found.route == nullptr) {
    if (!found.allow.empty()) {
      Response response = problem(code::kMethod, "this path takes " + found.allow);
      response.headers.push_back({"Allow", found.allow});
      return response;
    }
    return !found.is_target ? problem(code::kRequest, "the path cannot be read")
                            : problem(code::kNotFound, "there is no such path; see /openapi.json");
  }
  const Route& route = *found.route;
  if (!options_.tokens.empty() && route.role != Role::none) {
    token = sent_token(request);
    if (token == nullptr) {
      return problem(code::kUnauthorized, "send 'Authorization: Bearer TOKEN' with a known token");
    }
    if (token->role < route.role || (!found.name.empty() && !token->covers(found.name))) {
      return problem(code::kForbidden, "this token is not for that");
    }
  }
  if (route.role != Role::none &&
      !has_allowance(token != nullptr ? token->secret : request.remote)) {
    return problem(code::kBusy, "more requests a second than allowed");
  }
  if (!found.name.empty() && !Service::is_name(found.name)) {
    return problem(code::kRequest,
                   "a cache's name is [A-Za-z0-9][A-Za-z0-9._-]*, at most 128 characters");
  }
  if (!request.header("content-encoding").empty() &&
      request.header("content-encoding") != "identity") {
    return problem(code::kUnsupported, "send the body as it is, without Content-Encoding");
  }
  if (!is_understood(route.body, media_type(request.header("content-type")))) {
    return problem(code::kUnsupported,
                   route.body == Body::vectors ? "send application/json or application/octet-stream"
                   : route.body == Body::items
                       ? "send application/json, application/x-ndjson or application/octet-stream"
                   : route.body == Body::json ? "send application/json"
                                              : "send application/octet-stream");
  }
  return {};
}

Application::Admission App::admit(const Request& head) {
  Admission admission;
  const auto found = std::make_shared<Found>(find(head));
  admission.context = found;
  admission.refusal = check(head, *found);
  if (admission.refusal) {
    decorate(head.header("origin"), head.id, *admission.refusal);
    return admission;
  }
  switch (found->route->body) {
    case Body::none:
      admission.body_limit = 0;
      break;
    case Body::memory_file:
      admission.body_limit = options_.max_snapshot;
      break;
    case Body::json:
    case Body::vectors:
    case Body::items:
      admission.body_limit = options_.max_body;
      break;
  }
  return admission;
}

// What admit() found, or what it would find.
std::shared_ptr<const App::Found> App::found_before(const Request& request) const {
  if (request.context) return std::static_pointer_cast<const Found>(request.context);
  auto found = std::make_shared<Found>(find(request));
  found->token = sent_token(request);
  return found;
}

void App::handle(Request request, Respond respond) {
  const auto found = found_before(request);
  const Route& route = *found->route;  // admit() has seen to it
  Call call;
  call.target = found->target;
  call.name = found->name;
  call.rest = found->rest;
  call.token = found->token;
  call.respond = [this, origin = std::string(request.header("origin")), id = request.id,
                  respond = std::move(respond)](Response response) {
    decorate(origin, id, response);
    respond(std::move(response));
  };
  call.request = std::move(request);
  if (route.needs_cache) {
    call.hosted = service_.find(call.name);
    if (!call.hosted) {
      const std::string why = service_.halted(Service::partition_of(call.name));
      return call.respond(
          why.empty()
              ? problem(code::kNotFound, "there is no cache '" + call.name + "'")
              : problem(code::kUnavailable, "the cache's part of the log is halted: " + why));
    }
  }
  route.handle(*this, std::move(call));
}

Response App::file_response(const Request& request, const PageFile& file) {
  Response response;
  // Names of assets hold a hash of their bytes.
  const bool lasts = request.target.starts_with("/assets/");
  response.headers = {
      {"Content-Type", file.type},
      {"Cache-Control", lasts ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' "
       "data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"}};
  response.body = file.bytes;
  return response;
}

Response App::refuse(unsigned status, std::string_view detail, const Request& head) {
  const std::string_view code = status == 400   ? code::kRequest
                                : status == 408 ? code::kTimeout
                                : status == 413 ? code::kTooLarge
                                : status == 417 ? code::kExpectation
                                : status == 431 ? code::kHeaders
                                : status == 503 ? code::kUnavailable
                                                : code::kInternal;
  Response response = problem(code, detail);
  decorate(head.header("origin"), head.id, response);
  return response;
}

void App::decorate(std::string_view origin, const std::string& id, Response& response) const {
  Headers& headers = response.headers;
  headers.push_back({"X-Content-Type-Options", "nosniff"});
  const bool has_policy = std::any_of(headers.begin(), headers.end(),
                                      [](const auto& one) { return one.first == "Cache-Control"; });
  if (!has_policy) headers.push_back({"Cache-Control", "no-store"});
  if (!id.empty()) headers.push_back({"X-Request-Id", id});
  if (origin.empty() || options_.cors.empty()) return;
  if (is_allowed_origin(origin)) {
    headers.push_back({"Access-Control-Allow-Origin", std::string(origin)});
    headers.push_back({"Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id"});
    headers.push_back({"Vary", "Origin"});
  }
}

void App::completed(const Request& request, unsigned status, std::uint64_t bytes_sent,
                    double seconds) {
  const auto found = found_before(request);
  const std::size_t index = found->route == nullptr
                                ? routes_.size()
                                : static_cast<std::size_t>(found->route - routes_.data());
  RouteMetrics& metrics = *metrics_[index];
  metrics.seconds.add(seconds);
  ++metrics.by_class[std::clamp(status / 100, 1U, 5U) - 1];
  if (!options_.access) return;
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  json.name("time").number(now());
  json.name("level").text("info");
  json.name("request").text(request.id);
  json.name("remote").text(request.remote);
  json.name("method").text(request.method);
  json.name("target").text(request.target);
  json.name("status").number(status);
  json.name("bytes").number(bytes_sent);
  json.name("ms").number(std::round(seconds * 1e6) / 1e3);
  json.end_object();
  options_.access(line);
}

// --- For the handlers

std::string media_type(std::string_view header) {
  std::string type(header.substr(0, header.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  for (char& c : type) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return type;
}

bool read_parameter(const Call& call, std::string_view name, std::optional<std::uint64_t>& value) {
  for (const auto& [key, text] : call.target.query) {
    if (key != name) continue;
    std::uint64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || number > kMaxInteger) return false;
    value = number;
  }
  return true;
}

std::string unknown_parameter(const Call& call, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : call.target.query) {
    if (std::find(known.begin(), known.end(), name) == known.end()) return name;
  }
  return {};
}

namespace {

bool read_time(const Call& call, std::int64_t& time) {
  time = App::now();
  for (const auto& [key, text] : call.target.query) {
    if (key != "time") continue;
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, time);
    if (result.ec != std::errc() || result.ptr != end) return false;
    constexpr auto kMost = static_cast<std::int64_t>(kMaxInteger);
    if (time < -kMost || time > kMost) return false;
  }
  return true;
}

}  // namespace

bool takes_time_alone(const Call& call, std::int64_t& time) {
  if (const std::string name = unknown_parameter(call, {"time"}); !name.empty()) {
    call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
    return false;
  }
  if (read_time(call, time)) return true;
  call.respond(problem(code::kRequest, "time must be an integer, of milliseconds"));
  return false;
}

Response json_response(std::string body, unsigned status) {
  Response response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}};
  response.body = std::move(body);
  return response;
}

Response refusal_response(Service::Refusal refusal, Service& service, std::string_view name) {
  switch (refusal) {
    case Service::Refusal::exists:
      return problem(code::kConflict, "there is such a cache already");
    case Service::Refusal::too_many:
      return problem(code::kFull, "there are as many caches as the server takes");
    case Service::Refusal::halted:
      return problem(code::kUnavailable, "this part of the log is halted: " +
                                             service.halted(Service::partition_of(name)));
    case Service::Refusal::busy:
      return problem(code::kBusy, "this cache has more to do than it can; try again");
    case Service::Refusal::memory:
      return problem(code::kFull, "the caches have as much memory as the server gives them");
    case Service::Refusal::failed:
      return problem(code::kFull, "it could not be stored; the server's log says why");
    case Service::Refusal::none:
      break;
  }
  return problem(code::kInternal, "");
}

Response append_response(Append outcome, const std::string& detail) {
  if (outcome == Append::full) {
    return problem(code::kFull, "the disk is full; nothing was changed: " + detail);
  }
  return problem(code::kUnavailable,
                 "the change is not known to be stored; ask, or try again: " + detail);
}

std::optional<Response> closed_response(const Hosted& hosted) {
  switch (hosted.closed()) {
    case Hosted::Closed::no:
      return {};
    case Hosted::Closed::removed:
      return problem(code::kNotFound, "the cache was removed");
    case Hosted::Closed::failed:
      return problem(code::kUnavailable, "the log takes no changes at the moment; try again");
  }
  return {};
}

Hosted::Done when_stored(Respond respond, Response response) {
  return [respond = std::move(respond), response = std::make_shared<Response>(std::move(response))](
             Append outcome, const std::string& detail) {
    respond(outcome == Append::ok ? std::move(*response) : append_response(outcome, detail));
  };
}

}  // namespace dpcache::server
