// JSON as text (RFC 8259), without types of ours: a reader that goes from token to token, and a
// writer of objects.
#ifndef DPCACHE_SRC_JSON_TEXT_H_
#define DPCACHE_SRC_JSON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dpcache {

enum class JsonToken : std::uint8_t {
  begin_object,
  end_object,
  begin_array,
  end_array,
  key,
  string,
  natural,   // an integer without a sign, below 2^64
  negative,  // an integer with a sign, at least -2^63
  fraction,  // any other number
  yes,       // true
  no,        // false
  null,
  end,   // the text held one value, and nothing follows
  fault  // the text is no JSON; so is what any later call finds
};

// Strict: no comments, no bytes that are not UTF-8, no lone surrogates, no numbers beyond the
// largest double. A byte order mark in front is passed over. Memory beside the longest string: a
// byte for each level of nesting, which has no limit.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text);

  JsonToken next();
  // Behind what next() gave, in bytes; of a key: behind the colon.
  std::size_t position() const { return at_; }

  // Of the last token, if it was a key or a string.
  const std::string& text() const { return text_; }
  std::string take_text() { return std::exchange(text_, {}); }
  std::uint64_t natural() const { return integer_; }
  std::int64_t negative() const { return static_cast<std::int64_t>(integer_); }
  double number() const { return number_; }  // of all three kinds of number

 private:
  enum class Want : std::uint8_t { value, first, more, nothing };

  char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  bool take(char c);
  bool take(std::string_view word);
  void skip_blanks();
  JsonToken fault();
  JsonToken open(char closing, JsonToken token);
  JsonToken close(JsonToken token);
  JsonToken value(JsonToken token);  // ends with it
  JsonToken read_value();
  JsonToken read_number();
  bool read_string();
  bool read_escape();
  bool read_hex(char32_t& code);
  bool read_digits();

  std::string_view json_;
  std::size_t at_ = 0;
  Want want_ = Want::value;
  std::string open_;  // what closes each array and object around, the innermost last
  std::string text_;
  std::uint64_t integer_ = 0;
  double number_ = 0.0;
};

// Appends a text in quotes. Bytes that are not UTF-8 become U+FFFD.
void append_quoted(std::string_view text, std::string& out);

// Writes an object without blanks, field by field.
class JsonObject {
 public:
  void raw(std::string_view name, std::string_view json);
  void natural(std::string_view name, std::uint64_t value);
  void integer(std::string_view name, std::int64_t value);
  void number(std::string_view name, float value);  // null if it is not finite
  void boolean(std::string_view name, bool value);
  void string(std::string_view name, std::string_view value);

  std::string text() && {
    out_ += '}';
    return std::move(out_);
  }

 private:
  std::string out_ = "{";
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_JSON_TEXT_H_
