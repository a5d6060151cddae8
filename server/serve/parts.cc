// Puts log, snapshots, caches and API together.
#include "serve/parts.h"

#include <charconv>
#include <utility>

#include "api/metrics.h"

namespace dpcache::server {

namespace {

void print_log_metrics(const SqliteLog& log, std::string& out) {
  const SqliteLogStatistics figures = log.statistics();
  const auto one = [&out](const char* name, const char* type, const char* help, double value) {
    print_head(out, name, type, help);
    print_sample(out, name, "", value);
  };
  one("dpcache_log_appends_total", "counter", "Entries on the disk.",
      static_cast<double>(figures.appends));
  one("dpcache_log_bytes_total", "counter", "Bytes of those.", static_cast<double>(figures.bytes));
  one("dpcache_log_failures_total", "counter", "Appends that failed.",
      static_cast<double>(figures.failed));
  one("dpcache_log_queue", "gauge", "Entries that wait for the disk.",
      static_cast<double>(figures.queue));
  const char* name = "dpcache_log_commit_seconds";
  print_head(out, name, "histogram", "Time of a group commit, with its fsync.");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < figures.commit_seconds.size(); ++i) {
    count += figures.commit_seconds[i];
    std::string bound = "+Inf";
    if (i < SqliteLogStatistics::kBounds.size()) {
      char text[40];
      bound.assign(text,
                   std::to_chars(text, text + sizeof text, SqliteLogStatistics::kBounds[i]).ptr);
    }
    print_sample(out, std::string(name) + "_bucket", label("le", bound),
                 static_cast<double>(count));
  }
  print_sample(out, std::string(name) + "_sum", "", figures.commit_seconds_sum);
  print_sample(out, std::string(name) + "_count", "", static_cast<double>(count));
}

AppOptions with_metrics(AppOptions options, const SqliteLog& log) {
  options.more_metrics = [&log, more = std::move(options.more_metrics)](std::string& out) {
    print_log_metrics(log, out);
    if (more) more(out);
  };
  return options;
}

}  // namespace

Parts::Parts(const std::string& data, ServiceOptions of_service, AppOptions of_app)
    : lock(data),
      log(data),
      snapshots(data + "/snapshots"),
      service(log, snapshots, std::move(of_service)),
      app(service, with_metrics(std::move(of_app), log)) {}

}  // namespace dpcache::server
