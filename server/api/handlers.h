// The handlers of all routes; each answers by call.respond, once.
#ifndef DPCACHE_SERVER_API_HANDLERS_H_
#define DPCACHE_SERVER_API_HANDLERS_H_

#include "api/app.h"

namespace dpcache::server {

// handlers_caches.cc
void list_caches(App& app, Call&& call);
void put_cache(App& app, Call&& call);
void get_cache(App& app, Call&& call);
void delete_cache(App& app, Call&& call);
// handlers_items.cc
void observe(App& app, Call&& call);
void read(App& app, Call&& call);
void score(App& app, Call&& call);
void consolidate(App& app, Call&& call);
void lookup(App& app, Call&& call);
// handlers_slots.cc
void list_slots(App& app, Call&& call);
void get_slot(App& app, Call&& call);
void delete_slot(App& app, Call&& call);
// handlers_trust.cc
void list_members(App& app, Call&& call);
void split(App& app, Call&& call);
void list_pairs(App& app, Call&& call);
void judge_pair(App& app, Call&& call);
// handlers_reviews.cc
void list_reviews(App& app, Call&& call);
void get_review(App& app, Call&& call);
void answer_review(App& app, Call&& call);
// handlers_events.cc
void list_events(App& app, Call&& call);
// handlers_advice.cc
void advise(App& app, Call&& call);
// handlers_snapshot.cc
void get_snapshot(App& app, Call&& call);
void put_snapshot(App& app, Call&& call);
// handlers_server.cc
void livez(App& app, Call&& call);
void readyz(App& app, Call&& call);
void metrics(App& app, Call&& call);
void openapi(App& app, Call&& call);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_HANDLERS_H_
