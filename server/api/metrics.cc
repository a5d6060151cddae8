// Counting, and the text format of Prometheus.
#include "api/metrics.h"

#include <charconv>
#include <cmath>

namespace dpcache::server {

namespace {

std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string with(std::string_view labels, std::string_view more) {
  std::string all(labels);
  if (!all.empty()) all += ',';
  return all += more;
}

}  // namespace

void Histogram::add(double seconds) {
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  ++buckets_[bucket];
  nanoseconds_ += static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

void Histogram::print(std::string& out, std::string_view name, std::string_view labels) const {
  std::uint64_t count = 0;
  const std::string bucket = std::string(name) + "_bucket";
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    count += buckets_[i];
    const std::string bound = i < kBounds.size() ? shortest(kBounds[i]) : "+Inf";
    print_sample(out, bucket, with(labels, label("le", bound)), static_cast<double>(count));
  }
  print_sample(out, std::string(name) + "_sum", labels, static_cast<double>(nanoseconds_) / 1e9);
  print_sample(out, std::string(name) + "_count", labels, static_cast<double>(count));
}

void print_head(std::string& out, std::string_view name, std::string_view type,
                std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void print_sample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out.append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(shortest(value)).append("\n");
}

std::string label(std::string_view name, std::string_view value) {
  std::string text(name);
  text += "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text += '"';
}

}  // namespace dpcache::server
