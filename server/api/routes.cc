// The table of routes. openapi.json describes the same; a test compares them.
#include "api/app.h"
#include "api/handlers.h"

namespace dpcache::server {

std::vector<Route> routes() {
  return {
      {"GET", "/v1/caches", Role::read, Body::none, false, list_caches},
      {"PUT", "/v1/caches/{name}", Role::admin, Body::json, false, put_cache},
      {"GET", "/v1/caches/{name}", Role::read, Body::none, true, get_cache},
      {"DELETE", "/v1/caches/{name}", Role::admin, Body::none, true, delete_cache},
      {"POST", "/v1/caches/{name}/observe", Role::write, Body::items, true, observe},
      {"POST", "/v1/caches/{name}/read", Role::read, Body::vectors, true, read},
      {"POST", "/v1/caches/{name}/score", Role::read, Body::vectors, true, score},
      {"POST", "/v1/caches/{name}/lookup", Role::read, Body::json, true, lookup},
      {"POST", "/v1/caches/{name}/split", Role::write, Body::json, true, split},
      {"GET", "/v1/caches/{name}/pairs", Role::read, Body::none, true, list_pairs},
      {"POST", "/v1/caches/{name}/pairs", Role::write, Body::json, true, judge_pair},
      {"GET", "/v1/caches/{name}/reviews", Role::read, Body::none, true, list_reviews},
      {"GET", "/v1/caches/{name}/reviews/{id}", Role::read, Body::none, true, get_review},
      {"POST", "/v1/caches/{name}/reviews/{id}", Role::write, Body::json, true, answer_review},
      {"GET", "/v1/caches/{name}/slots/{id}/members", Role::read, Body::none, true, list_members},
      {"POST", "/v1/caches/{name}/consolidate", Role::write, Body::json, true, consolidate},
      {"POST", "/v1/caches/{name}/advise", Role::read, Body::json, true, advise},
      {"GET", "/v1/caches/{name}/slots", Role::read, Body::none, true, list_slots},
      {"GET", "/v1/caches/{name}/slots/{id}", Role::read, Body::none, true, get_slot},
      {"DELETE", "/v1/caches/{name}/slots/{id}", Role::write, Body::none, true, delete_slot},
      {"GET", "/v1/caches/{name}/events", Role::read, Body::none, true, list_events},
      {"GET", "/v1/caches/{name}/snapshot", Role::read, Body::none, true, get_snapshot},
      {"PUT", "/v1/caches/{name}/snapshot", Role::admin, Body::memory_file, false, put_snapshot},
      {"GET", "/livez", Role::none, Body::none, false, livez},
      {"GET", "/readyz", Role::none, Body::none, false, readyz},
      {"GET", "/healthz", Role::none, Body::none, false, readyz},
      {"GET", "/metrics", Role::read, Body::none, false, metrics},
      {"GET", "/openapi.json", Role::none, Body::none, false, openapi},
  };
}

}  // namespace dpcache::server
