// Memory files, out and in.
#include <utility>

#include "api/handlers.h"

namespace dpcache::server {

void get_snapshot(App& app, Call&& call) {
  static_cast<void>(app);
  const auto hosted = call.hosted;
  hosted->turns.read(false, [hosted, respond = call.respond] {
    // It holds changes that the log has lost, and a file would keep them.
    if (hosted->is_broken()) {
      return respond(problem(code::kUnavailable, "the last change was lost; try again at once"));
    }
    const std::vector<std::byte> file = hosted->cache().save();
    Response response;
    response.headers = {
        {"Content-Type", "application/octet-stream"},
        {"Content-Disposition", "attachment; filename=\"" + hosted->name + ".dpcache\""}};
    response.body.assign(reinterpret_cast<const char*>(file.data()), file.size());
    respond(std::move(response));
  });
}

void put_snapshot(App& app, Call&& call) {
  const auto shared = std::make_shared<Call>(std::move(call));
  app.service().pool().post([&app, shared] {
    const std::string& body = shared->request.body;
    auto cache = Cache::load(std::as_bytes(std::span(body)));
    if (!cache) return shared->respond(problem(cache.status));
    if (cache->config().dimension > app.options().max_dimension ||
        cache->config().value_dimension > app.options().max_dimension) {
      return shared->respond(
          problem({Error::bad_config, 0, "", "its dimension is above what this server takes"}));
    }
    auto& metadata = cache->metadata();
    std::erase_if(metadata, [](const auto& one) { return one.first.starts_with(kServerMetadata); });
    Response response;
    response.status = 204;
    const auto respond = shared->respond;
    const auto refusal = app.service().load(shared->name, std::move(*cache), Settings{}, App::now(),
                                            when_stored(respond, std::move(response)));
    if (refusal != Service::Refusal::none) {
      respond(refusal_response(refusal, app.service(), shared->name));
    }
  });
}

}  // namespace dpcache::server
