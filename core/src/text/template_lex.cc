// Tokens out of a line, in one pass.
#include "text/template_lex.h"

#include <algorithm>
#include <array>

#include "numerics.h"
#include "text/template_words.h"
#include "text/unicode.h"
#include "utf8.h"

namespace dpcache::text {
namespace {

// What a byte is to a word.
constexpr unsigned kPart = 1;  // a letter, a digit, _
constexpr unsigned kLower = 2;
constexpr unsigned kUpper = 4;
constexpr unsigned kDigitByte = 8;
constexpr unsigned kJoint = 16;      // belongs to a word if it has one on both sides
constexpr unsigned kNameJoint = 32;  // and makes it a name
constexpr unsigned kWideByte = 64;
constexpr unsigned kSymbol = 128;  // a flag of words: has a kNameJoint

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = kPart | kLower;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = kPart | kUpper;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kPart | kDigitByte;
  for (unsigned c = 0x80; c < 256; ++c) table[c] = kWideByte;
  for (unsigned c = 0; c < 9; ++c) table[c] = kPart;  // control characters, NUL too
  for (unsigned c = 14; c < 32; ++c) table[c] = kPart;
  table[0x7F] = kPart;
  table['_'] = kPart;
  table['-'] = table['\''] = kJoint;
  table['.'] = table['@'] = table['~'] = table['$'] = kJoint | kNameJoint;
  return table;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Punctuation of scripts that are wide, and of typography.
bool is_wide_mark(char32_t code) {
  return (code >= 0x3000 && code <= 0x303F && code != 0x3005 && code != 0x3007) ||
         (code >= 0xFF00 && code <= 0xFF0F) || (code >= 0xFF1A && code <= 0xFF20) ||
         (code >= 0xFF3B && code <= 0xFF40) || (code >= 0xFF5B && code <= 0xFF65) ||
         (code >= 0x2010 && code <= 0x205E) || is_wide_blank(code);
}

// Scripts without blanks between words: beside Han and kana, those of South-East Asia.
bool is_run(char32_t code) {
  return is_unspaced(code) || (code >= 0x0E00 && code <= 0x0EFF) ||
         (code >= 0x1000 && code <= 0x109F) || (code >= 0x1780 && code <= 0x17FF);
}

std::uint64_t mix_in(std::uint64_t hash, std::uint64_t with) {
  hash = (hash ^ with) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 31U);
}

constexpr std::uint64_t kBlankHash = 0x5BD1E9955BD1E995ULL;

}  // namespace

TemplateLexer::TemplateLexer(const LexOptions& options) : options_(options) {
  for (std::size_t mask = 0; mask < kBuiltinMasks + options.own.size(); ++mask) {
    std::string whole("<");
    whole.append(mask_name(static_cast<std::uint8_t>(mask))).append(">");
    whole_.push_back(token_hash(whole));
  }
}

std::string TemplateLexer::form_of(const Token& token) const {
  if (token.spelled != 0) return forms_[token.spelled - 1];
  if (token.mask == kNoMask) return std::string(line_.substr(token.begin, token.end - token.begin));
  std::string form(line_.substr(token.begin, token.prefix));
  form.append("<").append(mask_name(token.mask)).append(">");
  return form.append(line_.substr(token.end - token.suffix, token.suffix));
}

std::span<const Token> TemplateLexer::read(std::string_view line) {
  line_ = line;
  tokens_.clear();
  literal_end_ = 0;
  mask_open_ = in_word_ = in_run_ = false;
  previous_bits_ = 0;
  previous_names_ = after_number_ = sentence_ = false;
  value_quote_ = 0;
  cells_ = -1;
  items_ = {};
  chains_ = 0;
  spelled_ = 0;
  scan(line, options_.masks, options_.own, *this);
  if (mask_open_) {
    mask_open_ = false;
    mask_end_ = line.size();
  }
  if (in_word_) end_word(line.size());
  end_items();
  return tokens_;
}

std::string_view TemplateLexer::text_of(const Token& token) const {
  return line_.substr(token.begin, token.end - token.begin);
}

void TemplateLexer::begin_word(std::size_t at) {
  in_word_ = true;
  word_begin_ = at;
  mask_ = kNoMask;
  parts_ = 0;
  flags_ = 0;
}

std::string_view TemplateLexer::mask_name(std::uint8_t mask) const {
  if (mask < kBuiltinMasks) return kMaskNames[mask];
  return options_.own[mask - kBuiltinMasks];
}

void TemplateLexer::masked(std::string_view name) {
  if (in_run_ && in_word_) end_word(literal_end_);
  std::uint8_t mask = 0;
  while (mask < kBuiltinMasks && kMaskNames[mask] != name) ++mask;
  for (std::size_t i = 0; mask == kBuiltinMasks + i && i < options_.own.size(); ++i) {
    if (options_.own[i] != name) ++mask;
  }
  if (mask_open_) mask_end_ = literal_end_;  // two without anything between them
  if (!in_word_) begin_word(literal_end_);
  if (parts_ == 0) {
    prefix_ = static_cast<std::uint32_t>(literal_end_ - word_begin_);
    mask_ = mask;
  } else {
    if (parts_ == 1) {
      form_.assign(line_, word_begin_, prefix_);
      form_.append("<").append(mask_name(mask_)).append(">");
    }
    form_.append(line_.substr(mask_end_, literal_end_ - mask_end_));
    form_.append("<").append(name).append(">");
  }
  ++parts_;
  mask_open_ = true;
}

void TemplateLexer::literal(std::size_t begin, std::size_t end) {
  if (mask_open_) {
    mask_open_ = false;
    mask_end_ = begin;
  }
  literal_end_ = end;
  const auto byte = [this](std::size_t i) { return static_cast<unsigned char>(line_[i]); };
  for (std::size_t at = begin; at < end;) {
    const unsigned classes = kClasses[byte(at)];
    if ((classes & kPart) != 0) {
      if (in_run_ && in_word_) end_word(at);
      if (!in_word_) {
        in_run_ = false;
        begin_word(at);
      }
      flags_ |= classes;
      ++at;
      while (at < end && (kClasses[byte(at)] & kPart) != 0) flags_ |= kClasses[byte(at++)];
    } else if (classes == 0) {
      if (in_word_) end_word(at);
      ++at;
    } else if ((classes & kWideByte) != 0) {
      wide(at, end);
    } else {  // a joint
      const bool goes_on =
          at + 1 < end ? (kClasses[byte(at + 1)] & (kPart | kWideByte)) != 0 : end < line_.size();
      if (in_word_ && !in_run_ && goes_on) {
        if ((classes & kNameJoint) != 0) flags_ |= kSymbol;
      } else if (in_word_) {
        end_word(at);
      }
      ++at;
    }
  }
}

void TemplateLexer::wide(std::size_t& at, std::size_t end) {
  const CodePoint point = read_utf8(line_.substr(0, end), at);
  if (is_wide_mark(point.value)) {
    if (in_word_) end_word(at);
  } else {
    const bool run = point.valid && is_run(point.value);
    if (in_word_ && run != in_run_) end_word(at);
    if (!in_word_) {
      begin_word(at);
      in_run_ = run;
    }
  }
  at += point.size;
}

TemplateLexer::Between TemplateLexer::between(std::size_t begin, std::size_t end) const {
  Between gap;
  if (end - begin == 1) {
    gap.only = line_[begin];
    gap.blank = is_blank(gap.only);
    gap.equals = gap.only == '=';
    gap.hash = gap.blank ? kBlankHash : mix_in(kBlankHash, static_cast<unsigned char>(gap.only));
    return gap;
  }
  if (begin == end) return gap;
  char last = 0;
  char solid = 0;  // the last that separates
  bool was_blank = false;
  std::uint64_t hash = kBlankHash;
  for (std::size_t i = begin; i < end; ++i) {
    const char c = line_[i];
    if (is_blank(c)) {
      gap.blank = true;
      if (!was_blank && (i != begin || begin != 0)) hash = mix_in(hash, ' ');
      was_blank = true;
      continue;
    }
    was_blank = false;
    hash = mix_in(hash, static_cast<unsigned char>(c));
    if (c == '"' || c == '\'') {
      gap.last_quote = c;
      gap.json = gap.json || solid == ':';
    } else if (c == '=' || c == ':' || c == ',' || c == ';' || c == '|' || c == ')' || c == ']' ||
               c == '}') {
      if (c == ':' && (last == '"' || last == '\'')) gap.json = true;
      if (c != ':') {
        gap.last_quote = 0;
        gap.json = false;
      }
      solid = c;
    }
    last = c;
  }
  gap.equals = solid == '=';
  // "a","b": the next of a list.
  const bool quoted = line_[begin] == '"' && line_[end - 1] == '"';
  gap.json = gap.json || (quoted && end - begin >= 3 && solid == ',');
  gap.hash = gap.blank && hash == mix_in(kBlankHash, ' ') ? kBlankHash : hash;
  return gap;
}

// Cells: at least two of one delimiter that no blank follows, and few blanks beside them.
bool TemplateLexer::in_cells() {
  if (cells_ < 0) {
    std::size_t delimiters = 0;
    std::size_t blanks = 0;
    for (std::size_t i = 0; i < line_.size(); ++i) {
      const char c = line_[i];
      const bool delimiter = c == ',' || c == ';' || c == '|' || c == '\t';
      if (delimiter && (i + 1 == line_.size() || line_[i + 1] != ' ')) ++delimiters;
      if (c == ' ') ++blanks;
    }
    cells_ = delimiters >= 2 && 2 * blanks <= delimiters ? 1 : 0;
  }
  return cells_ == 1;
}

// Whether the place of the token says that it is a value.
bool TemplateLexer::is_value(const Token& token, const Between& gap) {
  if (value_quote_ != 0) {
    const std::string_view inside =
        line_.substr(tokens_.back().end, token.begin - tokens_.back().end);
    if (inside.find(value_quote_) == std::string_view::npos) return !sentence_;
    value_quote_ = 0;
  }
  const bool keyed = !tokens_.empty() && (gap.equals || gap.json);
  if (keyed) {
    sentence_ = false;
    if (gap.last_quote != 0 && token.begin > 0 && line_[token.begin - 1] == gap.last_quote) {
      value_quote_ = gap.last_quote;
      const std::size_t close = line_.find(value_quote_, token.begin);
      const std::size_t blank = line_.find(' ', token.begin);
      sentence_ = (previous_bits_ & kTextKey) != 0 && blank < close;
    }
    return !sentence_;
  }
  if (gap.only == ':' && !tokens_.empty() && tokens_.back().mask == kNoMask) return true;
  const auto delimits = [](char c) { return c == ',' || c == ';' || c == '|' || c == '\t'; };
  const char next = token.end < line_.size() ? line_[token.end] : '\0';
  if (token.end != line_.size() && !delimits(next)) return false;
  if (!tokens_.empty()) {  // cells may be empty
    const std::string_view between =
        line_.substr(tokens_.back().end, token.begin - tokens_.back().end);
    const bool cells = !between.empty() && delimits(between.front()) &&
                       between.find_first_not_of(between.front()) == std::string_view::npos;
    if (!cells) return false;
  }
  return in_cells();
}

void TemplateLexer::classify(Token& token, const Between& gap) {
  const std::string_view word = line_.substr(token.begin, token.end - token.begin);
  const char next = token.end < line_.size() ? line_[token.end] : '\0';
  token.anchor = tokens_.empty() || next == ':';
  const bool value = options_.structure && is_value(token, gap);
  unsigned bits = 0;
  if (parts_ != 0) {
    token.kind = TokenKind::loose;
    if (mask_ == static_cast<std::uint8_t>(MaskKind::number) && token.prefix == 0 &&
        (previous_bits_ & kCodeWord) != 0 && word.size() <= 5) {
      token.code = true;
      if (options_.codes && parts_ == 1) {
        token.kind = TokenKind::fixed;
        token.mask = kNoMask;
        token.form = token_hash(word);
      }
    }
  } else if (in_run_) {
    token.kind = word.size() <= kMaxRun ? TokenKind::run : TokenKind::fixed;
    const bool after_name = previous_names_ && gap.blank;
    if ((value || after_name) && !has_fixed_part(word, 0, word.size()))
      token.kind = TokenKind::loose;
  } else {
    bits = word_bits(token.form);
    std::size_t key = token.end;
    while (options_.structure && key < line_.size() && (line_[key] == ' ' || line_[key] == '"'))
      ++key;
    const bool is_key = options_.structure && key < line_.size() &&
                        (line_[key] == '=' && (key + 1 == line_.size() || line_[key + 1] != '='));
    const bool json_key =
        options_.structure && next == '"' && key < line_.size() && line_[key] == ':';
    const bool beside_run = gap.hash == 0 && !tokens_.empty();
    const bool before_run = (static_cast<unsigned char>(next) & 0x80U) != 0 &&
                            is_run(read_utf8(line_, token.end).value);
    if (is_key || json_key) {
      token.key = true;
    } else if ((flags_ & kSymbol) != 0 || (bits & kValueWord) != 0 || (flags_ & kDigitByte) != 0) {
      token.kind =
          (flags_ & kDigitByte) != 0 && options_.masks == 0 ? TokenKind::fixed : TokenKind::loose;
    } else if (after_number_ && (bits & kUnitWord) != 0) {
      token.kind = TokenKind::loose;
    } else if (value || previous_names_ || beside_run || before_run) {
      const bool fixed = previous_names_ && !value ? is_fixed_after_name(word, token.form)
                                                   : is_fixed_word(word, token.form);
      token.kind = fixed ? TokenKind::fixed : TokenKind::loose;
    }
  }
  const bool ends_name = next == ' ' || next == '\'' || next == '"' || next == ':' ||
                         token.end == line_.size() || in_run_;
  previous_names_ = (in_run_ && names_what_follows(word)) ||
                    ((bits & kNamingWord) != 0 && ends_name && options_.structure);
  after_number_ = token.mask == static_cast<std::uint8_t>(MaskKind::number) && token.suffix == 0;
  previous_bits_ = bits;
}

bool TemplateLexer::joins_list(const Token& token, const Between& gap) const {
  if (tokens_.empty() || token.kind != TokenKind::loose || token.mask == kNoMask) return false;
  const Token& last = tokens_.back();
  if (last.kind != TokenKind::loose || last.mask != token.mask) return false;
  if (token.prefix != 0 || token.suffix != 0 || last.suffix != 0 || last.prefix != 0) return false;
  return gap.hash == kBlankHash ||
         (line_[last.end] == ',' && last.end + 2 == token.begin && line_[last.end + 1] == ' ');
}

void TemplateLexer::end_word(std::size_t at) {
  in_word_ = false;
  if (tokens_.size() == kMaxTokens) return;
  Token token;
  token.begin = static_cast<std::uint32_t>(word_begin_);
  token.end = static_cast<std::uint32_t>(at);
  if (parts_ == 0) {
    token.form = token_hash(line_.substr(word_begin_, at - word_begin_));
  } else {
    token.mask = mask_;
    token.prefix = prefix_;
    token.suffix = static_cast<std::uint32_t>(at - mask_end_);
    if (parts_ > 1) {
      form_.append(line_.substr(mask_end_, at - mask_end_));
      token.form = token_hash(form_);
      if (spelled_ == forms_.size()) forms_.emplace_back();
      forms_[spelled_] = form_;
      token.spelled = static_cast<std::uint32_t>(++spelled_);
    } else if (token.prefix == 0 && token.suffix == 0) {
      token.form = whole_[mask_];
    } else {
      form_.assign(line_, word_begin_, prefix_);
      form_.append("<").append(mask_name(mask_)).append(">");
      form_.append(line_.substr(mask_end_, at - mask_end_));
      token.form = token_hash(form_);
    }
  }
  const std::size_t gap_begin = tokens_.empty() ? 0 : tokens_.back().end;
  const Between gap = between(gap_begin, word_begin_);
  token.before = tokens_.empty() && gap.hash == kBlankHash ? 0 : gap.hash;
  classify(token, gap);
  if (joins_list(token, gap)) {
    tokens_.back().end = token.end;
    tokens_.back().list = true;
    if (items_.count != 0 && items_.last + 1 == tokens_.size()) ++items_.count;
  } else if (tokens_.empty() ||
             (gap.only == ' ' && items_.count == 0 && !is_list_joint(text_of(tokens_.back())))) {
    tokens_.push_back(token);
  } else {
    add(token, gap);
  }
  in_run_ = false;
}

}  // namespace dpcache::text
