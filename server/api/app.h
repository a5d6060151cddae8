// The server's application: finds the route of a request, whether it may be taken, and answers it.
#ifndef DPCACHE_SERVER_API_APP_H_
#define DPCACHE_SERVER_API_APP_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/metrics.h"
#include "api/problem.h"
#include "api/target.h"
#include "api/tokens.h"
#include "http/application.h"
#include "service/service.h"

namespace dpcache::server {

// A file of the page.
struct PageFile {
  std::string type;  // of its content
  std::string bytes;
};

struct AppOptions {
  std::uint64_t max_body = 64U << 20U;
  std::uint64_t max_snapshot = 4ULL << 30U;  // of a memory file that comes in
  std::uint32_t max_dimension = 65'536;
  Tokens tokens;
  double rate = 0;                       // requests a second for each token, or address; 0: any
  std::vector<std::string> cors;         // origins that pages may ask from; "*": all
  std::map<std::string, PageFile> page;  // by path; "/" is its beginning
  std::function<void(std::string_view)> access;        // one line of JSON for each request
  std::function<void(std::string& out)> more_metrics;  // of log and connections
};

class App;

// One request on its way to its answer.
struct Call {
  Request request;
  Target target;
  std::string name;  // of the cache, where the path has one
  std::string rest;  // what follows it, where the path has it
  const Token* token = nullptr;
  std::shared_ptr<Hosted> hosted;
  Respond respond;
};

// What a route takes as its body.
// `items`: vectors, or JSON Lines.
enum class Body : std::uint8_t { none, json, vectors, items, memory_file };

struct Route {
  std::string_view method;
  std::string_view path;  // "{name}" and "{id}" stand for a part
  Role role;
  Body body;
  bool needs_cache;
  void (*handle)(App& app, Call&& call);
};

// All of them.
std::vector<Route> routes();

class App final : public Application {
 public:
  App(Service& service, AppOptions options);

  Admission admit(const Request& head) override;
  void handle(Request request, Respond respond) override;
  Response refuse(unsigned status, std::string_view detail, const Request& head) override;
  void completed(const Request& request, unsigned status, std::uint64_t bytes_sent,
                 double seconds) override;

  Service& service() { return service_; }
  const AppOptions& options() const { return options_; }
  // Milliseconds since 1970, by this machine's clock.
  static std::int64_t now();
  // From here on /readyz says no.
  void stop() { stopping_ = true; }
  bool is_ready() const { return !stopping_; }
  std::string metrics() const;

 private:
  struct Found {
    const Route* route = nullptr;
    bool is_target = false;  // it could be read
    Target target;
    std::string name;
    std::string rest;
    std::string allow;  // the methods of this path, if this one is none of them
    const PageFile* file = nullptr;
    const Token* token = nullptr;
  };
  Found find(const Request& request) const;
  std::shared_ptr<const Found> found_before(const Request& request) const;
  const Token* sent_token(const Request& request) const;  // null: none that is known
  std::optional<Response> check(const Request& request, Found& found);
  bool has_allowance(const std::string& who);
  bool is_allowed_origin(std::string_view origin) const;
  std::optional<Response> check_origin(const Request& request) const;
  void decorate(std::string_view origin, const std::string& id, Response& response) const;
  static Response file_response(const Request& request, const PageFile& file);

  struct Allowance {
    double left = 0;
    std::chrono::steady_clock::time_point since;
  };

  Service& service_;
  const AppOptions options_;
  const std::vector<Route> routes_;
  std::vector<std::vector<std::string_view>> paths_;    // of the routes, in parts
  std::vector<std::unique_ptr<RouteMetrics>> metrics_;  // of each route, and of none
  std::atomic<bool> stopping_ = false;
  std::mutex rate_mutex_;
  std::map<std::string, Allowance> allowances_;
};

// --- For the handlers

// What a Content-Type names, in lower case: of "application/json; charset=utf-8" application/json.
std::string media_type(std::string_view header);
// A parameter of the query; none if it is not there. False: it is there and is no such number.
bool read_parameter(const Call& call, std::string_view name, std::optional<std::uint64_t>& value);
// The one parameter of a change, `time`, in milliseconds by the client's clock; else by this
// machine's. False: it or another parameter is wrong, and the call has been answered.
bool takes_time_alone(const Call& call, std::int64_t& time);
// The parameters that a call has beside those that it may have; empty: none.
std::string unknown_parameter(const Call& call, std::initializer_list<std::string_view> known);
// The id of a slot in the path; 0, which none has, for what is no id.
SlotId id_of(const Call& call);
Response json_response(std::string body, unsigned status = 200);
// The answer when a change was not taken.
Response refusal_response(Service::Refusal refusal, Service& service, std::string_view name);
// Why a cache takes no change now; none if it does. In a turn to write.
std::optional<Response> closed_response(const Hosted& hosted);
// Answers when a change is on the disk, or says that it is not.
Hosted::Done when_stored(Respond respond, Response response);
// The answer when an append has not succeeded.
Response append_response(Append outcome, const std::string& detail);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_APP_H_
