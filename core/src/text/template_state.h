// What templates consist of, and how a line finds its own.
//
// A template is a sequence of words. Lines of one template can differ in what stands between the
// words: a list that is longer, a unit, a bracket. Each such form is a shape, and a shape counts
// the values at its loose places. A line whose shape is known needs one look-up.
#ifndef DPCACHE_SRC_TEXT_TEMPLATE_STATE_H_
#define DPCACHE_SRC_TEXT_TEMPLATE_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dpcache/templates.h"
#include "text/template_lex.h"

namespace dpcache::text {

inline constexpr std::size_t kMaxShapes = 16;  // of a template; lines of further ones only count
inline constexpr std::size_t kMaxValues = 64;  // of an element
inline constexpr std::size_t kExampleSize = 1024;  // bytes
inline constexpr std::size_t kOriginSize = 256;
inline constexpr std::size_t kValueSize = 64;
inline constexpr std::size_t kPartSize =
    256;  // bytes of a word or separator that are kept to be shown

// The words of a line, as they are compared.
struct LineWord {
  std::uint64_t hash = 0;
  std::string_view text;
  bool run = false;
  bool key = false;
  bool anchor = false;
  std::uint16_t chain = 0;   // Token::chain
  std::uint64_t before = 0;  // what stands in front of it, or of its chain
};

// A place of a template's sequence.
struct Word {
  enum class Kind : std::uint8_t {
    constant,
    parameter,  // any word
    partial     // a run whose ends are constant
  };
  std::uint64_t hash = 0;
  std::string text;  // of the first line; whole, as runs are compared
  Kind kind = Kind::constant;
  bool run = false;
  bool fixed = false;        // must not become a parameter
  std::uint32_t prefix = 0;  // bytes of a partial run's constant ends
  std::uint32_t suffix = 0;
};

struct ValueCount {
  std::uint64_t hash = 0;
  std::string text;
  std::uint64_t count = 0;
};

// A token of a shape.
struct Element {
  std::uint64_t before_hash = 0;
  std::uint64_t form_hash = 0;
  std::string before;  // what stands in front of it, blanks as one
  std::string form;
  std::int32_t word = -1;  // which of the template's words it is
  std::uint32_t prefix = 0;
  std::uint32_t suffix = 0;
  std::uint8_t mask = kNoMask;
  bool varies = false;  // has had other forms
  bool list = false;
  bool words = false;  // of words
  std::vector<ValueCount> values;
  std::uint64_t others = 0;

  bool counts_values() const { return varies || mask != kNoMask; }
};

struct Entry;

struct Shape {
  std::uint64_t key = 0;
  std::uint64_t count = 0;
  std::vector<Element> elements;
  std::string tail;
  Entry* owner = nullptr;
};

// Where a template has a list of words: a word there, or two with a separator or "and" between
// them, is such a list too.
struct ListPlace {
  std::uint32_t word = 0;    // in front of this one
  std::uint64_t before = 0;  // what stands in front of the list

  bool operator==(const ListPlace&) const = default;
};
inline constexpr std::size_t kListWords = 3;  // "alpha and beta"

struct Entry {
  TemplateId id = 0;
  std::uint64_t count = 0;
  std::uint64_t shapeless = 0;  // lines of shapes that are not kept
  std::vector<Word> words;
  std::vector<ListPlace> lists;  // of the shapes
  std::vector<std::unique_ptr<Shape>> shapes;
  std::vector<std::string> examples;
  std::string origin;
};

// Whether so many words of a line, at this place of a template's list, can be that list: one word,
// or all of a chain.
bool reads_as_list(std::span<const LineWord> words, const Entry& entry, const ListPlace& place,
                   std::size_t count);

// Which of the templates that a line can join is the nearest, and where they differ.
struct Nearest {
  Entry* entry = nullptr;  // nullptr: there is none
  float similarity = 0.0F;
  std::vector<std::size_t> differences;  // among the template's words
  std::size_t list = 0;                  // which of the line's words are a list of the template's:
  std::size_t listed = 0;                // so many from `list` on
};

// A line, read.
struct Line {
  std::string_view text;  // own masks replaced
  std::span<const Token> tokens;
  std::uint64_t key = 0;  // of its shape
};

// Where parts of a text that own masks replaced came from.
struct Origin {
  std::size_t begin = 0;  // in the text with placeholders
  std::size_t end = 0;
  std::size_t from = 0;  // in the line
  std::size_t to = 0;
};

// A line with its own masks replaced.
struct Prepared {
  std::string buffer;
  std::vector<Origin> origins;
  std::string_view line;
  std::string_view text;

  // The bytes of the line that [begin, end) of `text` came from.
  std::string_view original(std::size_t begin, std::size_t end) const;
};

// A template as it is shown: items in a row, some of which are parameters.
struct Item {
  Element element;
  bool parameter = false;
  bool rest = false;  // stands for any number of tokens
  std::string name;
  std::string kind;
};
struct Display {
  struct Gap {
    std::size_t first = 0;   // of its items
    std::size_t before = 0;  // items in front of the rest, or all
    std::size_t after = 0;   // items behind it
    bool rest = false;
  };
  std::vector<Item> items;
  std::vector<Gap> gaps;  // one more than words
  std::vector<std::size_t> word_items;
  std::string tail;
};
Display display_of(const Entry& entry, std::size_t value_limit);
std::string text_of(const Display& display);

}  // namespace dpcache::text

namespace dpcache {

struct Templates::State {
  explicit State(TemplateConfig settings);

  // Reads.
  Status prepare(std::string_view line, text::Prepared& prepared) const;
  text::Line read(std::string_view text, text::TemplateLexer& lexer) const;
  std::vector<text::LineWord> words_of(const text::Line& line) const;
  std::uint64_t key_of(const text::Line& line, const text::Entry* entry) const;
  text::Nearest nearest(std::span<const text::LineWord> words) const;
  // The same by looking at every template: what `nearest` must find.
  text::Nearest nearest_by_scan(std::span<const text::LineWord> words) const;
  text::Entry* find(TemplateId id) const;
  // The tokens of the line that are a list of the template's that it joins; none if count is 0.
  struct ListTokens {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  static ListTokens list_tokens(const text::Line& line, const text::Nearest& nearest);
  // The line with one token in their place. Uses `tokens`.
  static text::Line with_list(const text::Line& line, ListTokens list,
                              std::vector<text::Token>& tokens);

  // Changes.
  Learned learn(const text::Prepared& prepared, std::string_view origin);
  void add_to_index(text::Entry& entry);
  void take_from_index(text::Entry& entry);
  static std::uint64_t key_again(text::Shape& shape, const text::Entry& entry);
  text::Shape* shape_of(std::uint64_t key) const;
  void put_shape(text::Shape& shape);
  void drop_shape(text::Shape& shape);
  // Whether there are other places of lists now.
  bool update_lists(text::Entry& entry);

  TemplateConfig config;
  std::vector<std::string> own_names;
  text::LexOptions lex_options;
  text::TemplateLexer lexer;
  std::vector<std::unique_ptr<text::Entry>> entries;            // by id
  std::unordered_multimap<std::uint64_t, text::Shape*> shapes;  // by key
  std::unordered_map<std::uint64_t, std::vector<text::Entry*>> postings;
  std::uint64_t lines = 0;
  TemplateId next_id = 1;

 private:
  struct Memo {
    std::uint64_t key = 0;
    std::uint64_t version = 0;
    text::Shape* shape = nullptr;
    ListTokens list;
  };

  text::Nearest compare(std::span<const text::LineWord> words, text::Entry& entry) const;
  text::Nearest compare(std::span<const text::LineWord> words, text::Entry& entry, std::size_t list,
                        std::size_t listed) const;
  static std::vector<std::uint64_t> keys_of(const text::Entry& entry);
  std::vector<text::Entry*> candidates(std::span<const text::LineWord> words,
                                       std::size_t misses) const;
  text::Entry& open(std::span<const text::LineWord> words, std::string_view origin);
  void generalise(text::Entry& entry, std::span<const text::LineWord> words,
                  const std::vector<std::size_t>& places);
  text::Entry* fold_siblings(text::Entry& fresh, Learned& learned);
  text::Entry* fold_alike(text::Entry& entry, Learned& learned);
  text::Entry* fold_lists(text::Entry& entry, Learned& learned);
  text::Entry& fold_all(text::Entry& entry, std::vector<text::Entry*> others, Learned& learned);
  const std::vector<text::Entry*>* covered_among(const text::Entry& entry, std::size_t list,
                                                 std::size_t listed) const;
  static bool covers(const text::Entry& entry, const text::Entry& other, std::size_t list,
                     std::size_t listed);
  void fold(text::Entry& into, text::Entry& from);
  void reshape(text::Entry& entry);
  text::Shape* shape_for(text::Entry& entry, const text::Line& line, std::uint64_t key);
  // Whether a list of words stands where there was none.
  bool count(text::Shape& shape, const text::Prepared& prepared, const text::Line& line);
  void remove(text::Entry& entry);

  std::array<Memo, 4096> memo_{};
  std::uint64_t version_ = 1;
};

}  // namespace dpcache

#endif  // DPCACHE_SRC_TEXT_TEMPLATE_STATE_H_
