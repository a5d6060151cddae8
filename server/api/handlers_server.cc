// The server itself: whether it lives, its figures, its description.
#include <string>
#include <utility>

#include "api/handlers.h"
#include "openapi_text.h"

namespace dpcache::server {

void livez(App& app, Call&& call) {
  static_cast<void>(app);
  call.respond(json_response(R"({"status":"ok"})"));
}

void readyz(App& app, Call&& call) {
  if (!app.is_ready()) return call.respond(problem(code::kUnavailable, "the server is stopping"));
  call.respond(json_response(R"({"status":"ok"})"));
}

void openapi(App& app, Call&& call) {
  static_cast<void>(app);
  call.respond(json_response(std::string(kOpenApiBegin) + kOpenApiEnd));
}

void metrics(App& app, Call&& call) {
  Response response;
  response.headers = {{"Content-Type", "text/plain; version=0.0.4"}};
  response.body = app.metrics();
  call.respond(std::move(response));
}

std::string App::metrics() const {
  std::string out;
  print_head(out, "dpcache_request_seconds", "histogram", "Time from a request to its answer.");
  const auto route_label = [&](std::size_t i) {
    return i < routes_.size()
               ? label("route", std::string(routes_[i].method) + " " + std::string(routes_[i].path))
               : label("route", "none");
  };
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    metrics_[i]->seconds.print(out, "dpcache_request_seconds", route_label(i));
  }
  print_head(out, "dpcache_requests_total", "counter", "Requests by route and class of status.");
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    for (std::size_t c = 0; c < 5; ++c) {
      const auto count = metrics_[i]->by_class[c].load();
      if (count == 0) continue;
      print_sample(out, "dpcache_requests_total",
                   route_label(i) + "," + label("class", std::to_string(c + 1) + "xx"),
                   static_cast<double>(count));
    }
  }
  struct Figure {
    const char* name;
    const char* type;
    const char* help;
    std::atomic<std::uint64_t> HostedCounters::*counter;
  };
  constexpr Figure kFigures[] = {
      {"dpcache_slots", "gauge", "Slots of a cache.", &HostedCounters::slots},
      {"dpcache_cache_bytes", "gauge", "Memory of a cache.", &HostedCounters::bytes},
      {"dpcache_items_total", "counter", "Items observed.", &HostedCounters::items},
      {"dpcache_allocations_total", "counter", "Items that opened a slot.",
       &HostedCounters::allocations},
      {"dpcache_merges_total", "counter", "Items that joined a slot.", &HostedCounters::merges},
      {"dpcache_evictions_total", "counter", "Slots dropped for the budget.",
       &HostedCounters::evictions},
      {"dpcache_folds_total", "counter", "Slots folded into others.", &HostedCounters::folds},
      {"dpcache_expirations_total", "counter", "Slots that expired.", &HostedCounters::expirations},
      {"dpcache_erasures_total", "counter", "Slots erased.", &HostedCounters::erasures},
  };
  const auto caches = service_.list("", SIZE_MAX);
  for (const Figure& figure : kFigures) {
    print_head(out, figure.name, figure.type, figure.help);
    for (const auto& hosted : caches) {
      print_sample(out, figure.name, label("cache", hosted->name),
                   static_cast<double>((hosted->counters.*figure.counter).load()));
    }
  }
  print_head(out, "dpcache_waiting", "gauge", "Requests that wait for a cache or are at work.");
  for (const auto& hosted : caches) {
    print_sample(out, "dpcache_waiting", label("cache", hosted->name),
                 static_cast<double>(hosted->turns.waiting()));
  }
  print_head(out, "dpcache_snapshots_total", "counter", "Snapshots made.");
  print_sample(out, "dpcache_snapshots_total", label("result", "ok"),
               static_cast<double>(service_.snapshots_made()));
  print_sample(out, "dpcache_snapshots_total", label("result", "failed"),
               static_cast<double>(service_.snapshots_failed()));
  print_head(out, "dpcache_ready", "gauge", "Whether the server takes requests.");
  print_sample(out, "dpcache_ready", "", is_ready() ? 1 : 0);
  if (options_.more_metrics) options_.more_metrics(out);
  return out;
}

}  // namespace dpcache::server
