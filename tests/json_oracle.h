// What another reader of JSON (nlohmann/json) makes of a text, to compare with the library's own.
#ifndef DPCACHE_TESTS_JSON_ORACLE_H_
#define DPCACHE_TESTS_JSON_ORACLE_H_

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "json_text.h"

namespace dpcache::oracle {

using Json = nlohmann::ordered_json;

// What stands in a text, token by token, in a form that tells all values and kinds apart.
class Tokens final : public nlohmann::json_sax<Json> {
 public:
  const std::string& list() const { return list_; }

  void add(char kind, std::string_view text = "") {
    list_ += kind;
    list_ += std::to_string(text.size());
    list_ += text;
  }
  void add_double(double x) { add('f', std::to_string(std::bit_cast<std::uint64_t>(x))); }

  bool null() override { return note('n'); }
  bool boolean(bool value) override { return note(value ? 'y' : 'o'); }
  bool number_integer(number_integer_t value) override { return note('i', std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return note('u', std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    add_double(value);
    return true;
  }
  bool string(string_t& text) override { return note('s', text); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return note('{'); }
  bool key(string_t& key) override { return note('k', key); }
  bool end_object() override { return note('}'); }
  bool start_array(std::size_t /*size*/) override { return note('['); }
  bool end_array() override { return note(']'); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool note(char kind, std::string_view text = "") {
    add(kind, text);
    return true;
  }

  std::string list_;
};

// None: the text is no JSON. (nlohmann/json takes NUL for the end of the text.)
inline std::optional<std::string> expected_tokens(std::string_view text) {
  Tokens tokens;
  const bool good = text.find('\0') == std::string_view::npos &&
                    Json::sax_parse(text.begin(), text.end(), &tokens);
  if (!good) return {};
  return tokens.list();
}

inline std::optional<std::string> tokens_of(std::string_view text) {
  Tokens tokens;
  JsonReader reader(text);
  for (;;) {
    switch (reader.next()) {
      case JsonToken::begin_object:
        tokens.add('{');
        break;
      case JsonToken::end_object:
        tokens.add('}');
        break;
      case JsonToken::begin_array:
        tokens.add('[');
        break;
      case JsonToken::end_array:
        tokens.add(']');
        break;
      case JsonToken::key:
        tokens.add('k', reader.text());
        break;
      case JsonToken::string:
        tokens.add('s', reader.text());
        break;
      case JsonToken::natural:
        tokens.add('u', std::to_string(reader.natural()));
        break;
      case JsonToken::negative:
        tokens.add('i', std::to_string(reader.negative()));
        break;
      case JsonToken::fraction:
        tokens.add_double(reader.number());
        break;
      case JsonToken::yes:
        tokens.add('y');
        break;
      case JsonToken::no:
        tokens.add('o');
        break;
      case JsonToken::null:
        tokens.add('n');
        break;
      case JsonToken::end:
        return tokens.list();
      case JsonToken::fault:
        return {};
    }
  }
}

// A text in quotes; bytes that are not UTF-8 become U+FFFD.
inline std::string expected_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dpcache::oracle

#endif  // DPCACHE_TESTS_JSON_ORACLE_H_
