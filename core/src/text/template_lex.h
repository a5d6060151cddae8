// The tokens of a line: which of its words make its kind, and which may be values.
//
// A token is a word, with what masks have replaced in it, or a run of characters of a script that
// is written without blanks. Blanks and punctuation stand between tokens. A token is fixed, so that
// it makes the line's kind, or loose. Loose are
//   - what has a masked part, and names with . @ ~ or $ in them (hosts, files, classes);
//   - values: behind =, behind a colon without a blank, in JSON, in cells of a line of cells;
//     true, null and the like; units behind a number;
//   - the word behind one that announces a name (user alice), or beside a run without a blank.
// A word for a state or an outcome, or a verb (template_words.h), stays fixed in all these places,
// and so do a key in front of = and the words of a sentence that is a value (msg="...").
// Masked parts of one kind that follow each other with the same between them are one token: a list.
// So are words with commas and the like between them (template_lists.cc). What may be such a list
// ("alpha, beta", "alpha and beta"), as only other lines can tell, is a chain.
#ifndef DPCACHE_SRC_TEXT_TEMPLATE_LEX_H_
#define DPCACHE_SRC_TEXT_TEMPLATE_LEX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/mask_scan.h"

namespace dpcache::text {

enum class TokenKind : std::uint8_t { loose, fixed, run };  // a run is fixed, but for its middle

inline constexpr std::size_t kMaxTokens = 256;  // of a line; what follows them does not count
inline constexpr std::size_t kMaxRun = 1024;    // bytes; a longer run is a word

inline constexpr std::uint8_t kNoMask = 0xFF;  // else: built-in masks by MaskKind, then own ones

struct Token {
  std::uint64_t form = 0;    // hash of its bytes with masks in them
  std::uint64_t before = 0;  // hash of what stands between it and the token before, blanks as one
  std::uint32_t begin = 0;   // bytes of the line
  std::uint32_t end = 0;
  std::uint32_t prefix = 0;  // bytes in front of the first masked part, and behind the last
  std::uint32_t suffix = 0;
  std::uint8_t mask = kNoMask;  // of the first masked part
  TokenKind kind = TokenKind::fixed;
  bool anchor = false;        // begins the line, or stands in front of a colon
  bool key = false;           // stands in front of =
  bool code = false;          // a number that says how something ended: status 404
  bool list = false;          // of several items
  bool words = false;         // and words are among them
  std::uint16_t chain = 0;    // those with the same number, not 0, may be a list
  std::uint32_t spelled = 0;  // where form_of finds a form of several masked parts, counted from 1
};

// What a lexer is told, once.
struct LexOptions {
  unsigned masks = 0;                // bits of MaskKind
  std::span<const std::string> own;  // names of the caller's masks
  bool structure = true;             // know =, JSON and cells
  bool codes = false;                // keep codes fixed
};

// Whether this, which stands between two tokens, can separate items of a list.
bool is_list_separator(std::string_view gap) noexcept;
// Whether a word can stand in front of the last item: "and".
inline bool is_list_joint(std::string_view word) noexcept {
  return word == "and" || word == "or";
}

class TemplateLexer final : public TextSink {
 public:
  explicit TemplateLexer(const LexOptions& options);

  // The tokens of `line`, whose placeholders <own> stand for own masks. Valid until the next call.
  // Linear time; allocates only while its buffers grow.
  std::span<const Token> read(std::string_view line);
  // A token's bytes with masks in them, whose hash is its `form`. Until the next line is read.
  std::string form_of(const Token& token) const;

  void literal(std::size_t begin, std::size_t end) override;
  void masked(std::string_view name) override;

 private:
  struct Between {
    std::uint64_t hash = 0;
    bool blank = false;   // has one
    bool equals = false;  // ends in =, beside blanks, quotes and opening brackets
    bool json = false;    // a quote and a colon, or a colon and a quote
    char only = 0;        // the one byte that it is
    char last_quote = 0;
  };

  std::string_view mask_name(std::uint8_t mask) const;
  void begin_word(std::size_t at);
  void end_word(std::size_t at);
  void wide(std::size_t& at, std::size_t end);
  Between between(std::size_t begin, std::size_t end) const;
  void classify(Token& token, const Between& gap);
  bool in_cells();
  bool is_value(const Token& token, const Between& gap);
  bool joins_list(const Token& token, const Between& gap) const;

  std::string_view text_of(const Token& token) const;

  // template_lists.cc
  void add(const Token& token, const Between& gap);
  std::size_t items_of(const Token& token) const;
  bool is_plain(const Token& token) const;
  bool is_list() const;
  void add_item(const Token& token);
  void fold_items();
  void end_items();

  LexOptions options_;
  std::string_view line_;
  std::vector<Token> tokens_;
  std::vector<std::string> forms_;
  std::size_t spelled_ = 0;           // of forms_ that are in use
  std::vector<std::uint64_t> whole_;  // hashes of <number> and so on, by mask

  std::size_t literal_end_ = 0;  // of the last literal: where a masked part begins
  bool mask_open_ = false;       // a masked part's end is not known yet
  bool in_word_ = false;
  bool in_run_ = false;
  std::size_t word_begin_ = 0;
  std::size_t mask_end_ = 0;  // of the word's last masked part
  std::uint32_t prefix_ = 0;
  std::uint8_t mask_ = kNoMask;
  unsigned parts_ = 0;  // masked parts of the word
  unsigned flags_ = 0;
  std::string form_;  // of a word with several masked parts, up to the last of them

  unsigned previous_bits_ = 0;  // word_bits of the token before
  bool previous_names_ = false;
  bool after_number_ = false;
  char value_quote_ = 0;    // inside a quoted value that began with this
  bool sentence_ = false;   // and whose words are no values
  signed char cells_ = -1;  // whether the line is one of cells; -1: not known yet

  // The tokens at the end that may be items of a list; behind them an "and" at most.
  struct Items {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t count = 0;        // items; 0: there are none
    std::uint64_t separator = 0;  // its hash, as Token::before
    char mark = 0;                // of the separator
    char wrap = 0;
    bool plain = false;   // a word is among them
    bool closed = false;  // behind an "and"
    bool folded = false;  // they are one token
  };
  Items items_;
  std::uint16_t chains_ = 0;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_TEMPLATE_LEX_H_
