// The routes for another program's HTTP server.
#include "dpcache/server/mount.h"

#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "serve/parts.h"

namespace dpcache::server {

namespace {

ServiceOptions service_options(MountOptions& options) {
  ServiceOptions of_service;
  of_service.threads = options.threads;
  of_service.max_memory = options.max_memory;
  of_service.max_caches = options.max_caches;
  of_service.snapshot_interval = options.snapshot_interval;
  if (options.info) of_service.info = std::move(options.info);
  if (options.error) of_service.error = std::move(options.error);
  return of_service;
}

AppOptions app_options(MountOptions& options) {
  AppOptions of_app;
  of_app.max_body = options.max_body;
  of_app.max_snapshot = options.max_snapshot;
  of_app.max_dimension = options.max_dimension;
  of_app.rate = options.rate;
  of_app.cors = std::move(options.cors);
  if (options.tokens.empty()) return of_app;
  try {
    of_app.tokens = Tokens::parse(options.tokens);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string("tokens: ") + error.what());
  }
  return of_app;
}

MountOptions checked(MountOptions options) {
  if (options.data.empty()) throw std::runtime_error("data: no folder is named");
  if (options.threads == 0) throw std::runtime_error("threads: at least 1");
  if (options.max_body > kMostBody) throw std::runtime_error("max_body: at most 256 MiB");
  return options;
}

}  // namespace

struct Mount::Impl {
  explicit Impl(MountOptions options)
      : parts(options.data, service_options(options), app_options(options)) {}

  Parts parts;
  bool stopped = false;
};

Mount::Mount(MountOptions options) : impl_(std::make_unique<Impl>(checked(std::move(options)))) {}

Mount::~Mount() {
  try {
    stop();
  } catch (const std::exception& error) {
    impl_->parts.service.options().error(error.what());
  }
}

Application& Mount::application() noexcept {
  return impl_->parts.app;
}

bool Mount::is_route(std::string_view target) noexcept {
  const std::string_view path = target.substr(0, target.find('?'));
  for (const std::string_view one :
       {"/v1/caches", "/livez", "/readyz", "/healthz", "/metrics", "/openapi.json"}) {
    if (path == one) return true;
  }
  return path.starts_with("/v1/caches/");
}

void Mount::drain() noexcept {
  impl_->parts.app.stop();
}

void Mount::stop() {
  if (std::exchange(impl_->stopped, true)) return;
  drain();
  impl_->parts.service.stop();
}

}  // namespace dpcache::server
