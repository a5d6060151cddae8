// dpcache::server as another program has it: what it refuses at the start, and which targets are
// its own.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "api/app.h"
#include "dpcache/server/mount.h"
#include "server/log_support.h"

namespace dpcache::server::testing {
namespace {

Response ask(Mount& mount, const std::string& method, const std::string& target,
             const std::string& body = "") {
  Request request;
  request.method = method;
  request.target = target;
  request.body = body;
  if (auto admission = mount.application().admit(request); admission.refusal) {
    return std::move(*admission.refusal);
  }
  std::promise<Response> promise;
  auto answer = promise.get_future();
  mount.application().handle(std::move(request), [&promise](Response response) {
    promise.set_value(std::move(response));
  });
  return answer.get();
}

TEST(Mount, SaysWhichOptionIsWrong) {
  const TempFolder folder;
  const auto refusal = [&](const std::function<void(MountOptions&)>& spoil) {
    MountOptions options;
    options.data = folder / "data";
    spoil(options);
    return thrown_by([&] { const Mount mount(std::move(options)); });
  };
  EXPECT_EQ(refusal([](auto& options) { options.data = ""; }), "data: no folder is named");
  EXPECT_EQ(refusal([](auto& options) { options.threads = 0; }), "threads: at least 1");
  EXPECT_EQ(refusal([](auto& options) { options.max_body = (256U << 20U) + 1; }),
            "max_body: at most 256 MiB");
  EXPECT_EQ(refusal([](auto& options) { options.tokens = "owner 0123456789abcdef"; }),
            "tokens: line 1: 'owner' is no role: read, write or admin");
  EXPECT_NE(refusal([](auto& options) { options.data += "/none/data"; }).find(folder.path()),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "data"));
  EXPECT_EQ(refusal([](auto&) {}), "nothing was thrown");
}

TEST(Mount, KnowsItsRoutes) {
  for (const Route& route : routes()) {
    std::string path(route.path);
    for (const std::string part : {"{name}", "{id}"}) {
      if (const std::size_t at = path.find(part); at != path.npos)
        path.replace(at, part.size(), "7");
    }
    EXPECT_TRUE(Mount::is_route(path)) << path;
    EXPECT_TRUE(Mount::is_route(path + "?limit=1")) << path;
  }
  for (const char* path : {"", "/", "/hello", "/v1", "/v1/cachesx", "/livezx", "v1/caches"}) {
    EXPECT_FALSE(Mount::is_route(path)) << path;
  }
}

TEST(Mount, KeepsCachesFromOneToTheNextAndIsNotReadyWhenItDrains) {
  const TempFolder folder;
  MountOptions options;
  options.data = folder / "data";
  {
    Mount mount(options);
    EXPECT_EQ(ask(mount, "PUT", "/v1/caches/c", R"({"dimension": 2})").status, 201U);
    EXPECT_EQ(ask(mount, "POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})").status,
              200U);
    EXPECT_EQ(ask(mount, "GET", "/readyz").status, 200U);
    mount.drain();
    EXPECT_EQ(ask(mount, "GET", "/readyz").status, 503U);
    EXPECT_NE(thrown_by([&] { const Mount second(options); }).find("in use by"), std::string::npos);
  }
  Mount mount(options);
  const Response slots = ask(mount, "GET", "/v1/caches/c/slots");
  EXPECT_NE(slots.body.find(R"("id":1,)"), std::string::npos) << slots.body;
  mount.stop();
}

}  // namespace
}  // namespace dpcache::server::testing
