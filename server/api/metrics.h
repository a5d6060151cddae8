// What the server counts about its requests, and how all figures are printed for Prometheus.
#ifndef DPCACHE_SERVER_API_METRICS_H_
#define DPCACHE_SERVER_API_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpcache::server {

class Histogram {
 public:
  static constexpr std::array<double, 12> kBounds = {.0001, .00025, .0005, .001, .0025, .005,
                                                     .01,   .025,   .05,   .1,   .5,    2.5};
  void add(double seconds);
  void print(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<std::uint64_t> nanoseconds_ = 0;
};

// Of one route.
struct RouteMetrics {
  Histogram seconds;
  std::array<std::atomic<std::uint64_t>, 5> by_class{};  // 1xx … 5xx
};

// "# HELP name help" and "# TYPE name type".
void print_head(std::string& out, std::string_view name, std::string_view type,
                std::string_view help);
// name{labels} value
void print_sample(std::string& out, std::string_view name, std::string_view labels, double value);
// A label's value, escaped.
std::string label(std::string_view name, std::string_view value);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_METRICS_H_
