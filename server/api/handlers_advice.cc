// Advice on tau from a cache's own slots.
#include <algorithm>
#include <memory>
#include <utility>

#include "api/advice_json.h"
#include "api/config_body.h"
#include "api/handlers.h"

namespace dpcache::server {

namespace {

// The slots are drawn in a turn to read, which takes as long as copying them; what is long is done
// in none, so that nobody waits for it.
void look(App& app, const std::shared_ptr<Call>& call, const AdvisorOptions& options) {
  const Cache& cache = call->hosted->cache();
  auto made = Advisor::create(options);
  if (!made) return call->respond(problem(made.status));
  const auto advisor = std::make_shared<Advisor>(std::move(*made));
  constexpr std::size_t kPage = 1024;
  SlotId after = 0;
  for (auto page = cache.slots(after, kPage); !page.empty(); page = cache.slots(after, kPage)) {
    for (const Slot& slot : page) {
      after = slot.id;
      if (const Status status = advisor->add(slot.key); !status) {
        return call->respond(problem(status));
      }
    }
  }
  app.service().pool().post([call, advisor, now = threshold(cache.config())] {
    const auto gone = call->request.gone;
    const auto advice = advisor->advise(
        [&gone](double /*share*/) { return gone && *gone ? Advisor::Go::stop : Advisor::Go::on; });
    if (!advice) return call->respond(problem(advice.status));
    if (!*advice) return call->respond(problem(code::kRequest, "the client has gone"));
    std::string body;
    JsonWriter json(body);
    json.begin_object().name("threshold").number(now);
    write_fields(json, **advice);
    json.end_object();
    call->respond(json_response(std::move(body)));
  });
}

}  // namespace

void advise(App& app, Call&& call) {
  if (const std::string name = unknown_parameter(call, {}); !name.empty()) {
    return call.respond(problem(code::kRequest, "there is no parameter '" + name + "' here"));
  }
  auto options = read_advisor_options(call.request.body);
  if (!options) return call.respond(problem(options.status));
  options->dimension = call.hosted->dimension;
  const auto shared = std::make_shared<Call>(std::move(call));
  shared->hosted->turns.read(false,
                             [&app, shared, options = *options] { look(app, shared, options); });
}

}  // namespace dpcache::server
