// A server without its sockets: requests go in as values, answers come out.
#ifndef DPCACHE_TESTS_SERVER_API_SUPPORT_H_
#define DPCACHE_TESTS_SERVER_API_SUPPORT_H_

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "api/app.h"
#include "log/folder_snapshots.h"
#include "log/memory_log.h"
#include "server/log_support.h"

namespace dpcache::server::testing {

struct Reply {
  unsigned status = 0;
  Headers headers;
  std::string body;
  NextPart parts;

  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

inline Request request(std::string method, std::string target, std::string body = "",
                       Headers headers = {}) {
  Request made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.body = std::move(body);
  made.headers = std::move(headers);
  made.remote = "127.0.0.1";
  return made;
}

// What one process would have; restart() is a kill and a new start on the same log and snapshots.
class Machine {
 public:
  explicit Machine(ServiceOptions of_service = {}, AppOptions of_app = {})
      : service_options_(std::move(of_service)), app_options_(std::move(of_app)) {
    service_options_.info = [](const std::string&) {};
    service_options_.error = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      errors_ += text + "\n";
    };
    start();
  }

  void start() {
    snapshots = std::make_unique<FolderSnapshots>(folder.path());
    service = std::make_unique<Service>(log, *snapshots, service_options_);
    app = std::make_unique<App>(*service, app_options_);
  }
  // Without stop(): nothing is put in order first, but that what is under way is completed.
  void restart() {
    app.reset();
    service.reset();
    start();
  }

  std::future<Reply> begin(Request request) {
    auto promise = std::make_shared<std::promise<Reply>>();
    auto future = promise->get_future();
    auto admission = app->admit(request);
    const auto answer = [promise](Response response) {
      promise->set_value({response.status, std::move(response.headers), std::move(response.body),
                          std::move(response.parts)});
    };
    if (admission.refusal) {
      answer(std::move(*admission.refusal));
    } else {
      app->handle(std::move(request), answer);
    }
    return future;
  }
  Reply ask(std::string method, std::string target, std::string body = "", Headers headers = {}) {
    auto future =
        begin(request(std::move(method), std::move(target), std::move(body), std::move(headers)));
    if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return future.get();
  }
  std::string errors() {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

  TempFolder folder;
  MemoryLog log;
  std::unique_ptr<FolderSnapshots> snapshots;
  std::unique_ptr<Service> service;
  std::unique_ptr<App> app;

 private:
  ServiceOptions service_options_;
  AppOptions app_options_;
  std::mutex mutex_;
  std::string errors_;
};

}  // namespace dpcache::server::testing

#endif  // DPCACHE_TESTS_SERVER_API_SUPPORT_H_
