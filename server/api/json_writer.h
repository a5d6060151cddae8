// Writes JSON text: short, in one pass, numbers in the shortest form that gives the same number
// back.
#ifndef DPCACHE_SERVER_API_JSON_WRITER_H_
#define DPCACHE_SERVER_API_JSON_WRITER_H_

#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace dpcache::server {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& name(std::string_view name) {
    separate();
    quote(name);
    out_ += ':';
    comma_ = false;
    return *this;
  }
  template <class T>
  JsonWriter& number(T value) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    separate();
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) {  // JSON has none; a usage can be beyond the largest double
        out_ += value > 0 ? "1e999" : "null";
        comma_ = true;
        return *this;
      }
    }
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out_.append(text, end);
    comma_ = true;
    return *this;
  }
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  // UTF-8; what is not becomes U+FFFD.
  JsonWriter& text(std::string_view text) {
    separate();
    quote(text);
    comma_ = true;
    return *this;
  }
  // A value that is JSON already.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    comma_ = true;
    return *this;
  }
  JsonWriter& floats(std::span<const float> values) {
    begin_array();
    for (const float value : values) number(value);
    return end_array();
  }

 private:
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
  }
  void separate() {
    if (comma_) out_ += ',';
    comma_ = false;
  }
  void quote(std::string_view text);

  std::string& out_;
  bool comma_ = false;
};

// The length of the UTF-8 character that `text` begins with; 0: it begins with none.
std::size_t utf8_length(std::string_view text);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_JSON_WRITER_H_
