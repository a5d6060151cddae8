// Reading and writing JSON's grammar.
#include "json_text.h"

#include <cmath>
#include <limits>
#include <utility>

#include "digits.h"
#include "utf8.h"

namespace dpcache {

namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// In a string: stands for itself, and is ASCII.
constexpr bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

}  // namespace

JsonReader::JsonReader(std::string_view text) : json_(text) {
  take("\xEF\xBB\xBF");
}

bool JsonReader::take(char c) {
  if (at_ == json_.size() || json_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonReader::take(std::string_view word) {
  if (json_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void JsonReader::skip_blanks() {
  while (take(' ') || take('\n') || take('\r') || take('\t')) {
  }
}

JsonToken JsonReader::fault() {
  json_ = {};
  at_ = 0;
  want_ = Want::value;
  open_.clear();
  return JsonToken::fault;
}

JsonToken JsonReader::open(char closing, JsonToken token) {
  open_ += closing;
  want_ = Want::first;
  return token;
}

JsonToken JsonReader::close(JsonToken token) {
  open_.pop_back();
  return value(token);
}

JsonToken JsonReader::value(JsonToken token) {
  want_ = open_.empty() ? Want::nothing : Want::more;
  return token;
}

JsonToken JsonReader::next() {
  skip_blanks();
  if (want_ == Want::nothing) return at_ == json_.size() ? JsonToken::end : fault();
  if (want_ == Want::value) return read_value();
  const bool in_object = open_.back() == '}';
  if (take(open_.back())) return close(in_object ? JsonToken::end_object : JsonToken::end_array);
  if (want_ == Want::more) {
    if (!take(',')) return fault();
    skip_blanks();
  }
  if (!in_object) return read_value();
  if (!read_string()) return fault();
  skip_blanks();
  if (!take(':')) return fault();
  want_ = Want::value;
  return JsonToken::key;
}

JsonToken JsonReader::read_value() {
  if (take('{')) return open('}', JsonToken::begin_object);
  if (take('[')) return open(']', JsonToken::begin_array);
  if (take("true")) return value(JsonToken::yes);
  if (take("false")) return value(JsonToken::no);
  if (take("null")) return value(JsonToken::null);
  if (peek() == '"') return read_string() ? value(JsonToken::string) : fault();
  return read_number();
}

bool JsonReader::read_digits() {
  if (!is_digit(peek())) return false;
  while (is_digit(peek())) ++at_;
  return true;
}

JsonToken JsonReader::read_number() {
  const std::size_t begin = at_;
  const bool negative = take('-');
  const std::size_t digits = at_;
  if (!take('0') && !read_digits()) return fault();
  bool is_integer = true;
  integer_ = 0;
  for (std::size_t i = digits; i < at_ && is_integer; ++i) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    const auto digit = static_cast<std::uint64_t>(json_[i] - '0');
    is_integer = integer_ <= (kMost - digit) / 10;
    integer_ = integer_ * 10 + digit;
  }
  if (negative) {
    is_integer = is_integer && integer_ <= std::uint64_t{1} << 63U;
    integer_ = 0 - integer_;
  }
  if (take('.')) {
    is_integer = false;
    if (!read_digits()) return fault();
  }
  if (take('e') || take('E')) {
    is_integer = false;
    if (!take('-')) take('+');
    if (!read_digits()) return fault();
  }
  if (!is_integer) {
    number_ = parse_decimal(json_.substr(begin, at_ - begin));
    return std::isfinite(number_) ? value(JsonToken::fraction) : fault();
  }
  number_ = negative ? static_cast<double>(static_cast<std::int64_t>(integer_))
                     : static_cast<double>(integer_);
  return value(negative ? JsonToken::negative : JsonToken::natural);
}

bool JsonReader::read_string() {
  text_.clear();
  if (!take('"')) return false;
  while (!take('"')) {
    const std::size_t begin = at_;
    while (is_plain(peek())) ++at_;
    text_.append(json_, begin, at_ - begin);
    if (at_ != begin) continue;
    const CodePoint next = at_ < json_.size() ? read_utf8(json_, at_) : CodePoint();
    if (!next.valid || next.value < 0x20) return false;
    if (next.value == '\\') {
      if (!read_escape()) return false;
    } else {
      text_.append(json_, at_, next.size);
      at_ += next.size;
    }
  }
  return true;
}

bool JsonReader::read_escape() {
  ++at_;
  constexpr std::string_view kNames = "\"\\/bfnrtu";
  constexpr std::string_view kCharacters = "\"\\/\b\f\n\r\t";
  const std::size_t which = kNames.find(peek());
  if (which == std::string_view::npos) return false;
  ++at_;
  if (which < kCharacters.size()) {
    text_ += kCharacters[which];
    return true;
  }
  char32_t code = 0;
  if (!read_hex(code) || (code >= 0xDC00 && code < 0xE000)) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    char32_t low = 0;
    if (!take("\\u") || !read_hex(low) || low < 0xDC00 || low >= 0xE000) return false;
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  append_utf8(code, text_);
  return true;
}

bool JsonReader::read_hex(char32_t& code) {
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = peek();
    const char letter = static_cast<char>(c | 0x20);
    if (!is_digit(c) && !(letter >= 'a' && letter <= 'f')) return false;
    code = code << 4U | static_cast<char32_t>(is_digit(c) ? c - '0' : letter - 'a' + 10);
  }
  return true;
}

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint next = read_utf8(text, at);
    at += next.size;
    constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t";
    const std::size_t which = next.value < 0x80 ? kCharacters.find(static_cast<char>(next.value))
                                                : std::string_view::npos;
    if (which != std::string_view::npos) {
      out += '\\';
      out += "\"\\bfnrt"[which];
    } else if (next.value < 0x20) {
      out += "\\u";
      out += hex(next.value).substr(12);
    } else {
      append_utf8(next.value, out);
    }
  }
  out += '"';
}

void JsonObject::raw(std::string_view name, std::string_view json) {
  if (out_.size() > 1) out_ += ',';
  append_quoted(name, out_);
  out_ += ':';
  out_ += json;
}

void JsonObject::natural(std::string_view name, std::uint64_t value) {
  raw(name, whole_number(value));
}

void JsonObject::integer(std::string_view name, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  raw(name, value < 0 ? '-' + whole_number(0 - bits) : whole_number(bits));
}

void JsonObject::number(std::string_view name, float value) {
  std::string text = std::isfinite(value) ? shortest_decimal(value) : "null";
  if (text.find_first_of(".el") == std::string::npos) text += ".0";
  raw(name, text);
}

void JsonObject::boolean(std::string_view name, bool value) {
  raw(name, value ? "true" : "false");
}

void JsonObject::string(std::string_view name, std::string_view value) {
  std::string quoted;
  append_quoted(value, quoted);
  raw(name, quoted);
}

}  // namespace dpcache
