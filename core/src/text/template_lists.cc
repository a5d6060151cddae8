// Lists of words in a line: "nodes: alpha, beta, gamma" has one token behind the colon.
//
// Items are single tokens with the same separator between them: a comma, a semicolon or a bar, with
// blanks or without, within quotes or brackets of their own. A comma's last item may stand behind
// "and". No item is
//   - a word for a state or an outcome, or a verb (template_words.h): "failed, retrying" is what
//     happened, not what it happened to;
//   - the line's first token, a key, or what stands in front of a colon: those are fields.
// Three items make a list if a word is among them: lists of masked parts alone are loose tokens
// already. Two do where the place says so: in square or curly brackets, each in quotes, or behind =
// without blanks. Semicolons, bars and brackets also stand between fields, so these need a mark in
// front of the first item, and an end behind the last.
#include "text/template_lex.h"
#include "text/template_words.h"

namespace dpcache::text {
namespace {

struct Separator {
  char mark = 0;  // , ; | or [ where brackets stand next to each other; 0: it is none
  char wrap = 0;  // the quote or bracket that closes an item in front of it
};

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

Separator separator_of(std::string_view gap) {
  Separator out;
  if (!gap.empty() && (gap.front() == ':' || gap.front() == '=')) return out;  // most others
  if (gap.size() >= 2) {
    const char front = gap.front();
    const bool quotes = gap.size() >= 3 && (front == '"' || front == '\'') && gap.back() == front;
    if (quotes || (front == ']' && gap.back() == '[')) {
      out.wrap = front;
      gap = gap.substr(1, gap.size() - 2);
    }
  }
  gap = without_blanks(gap);
  if (gap == "," || gap == ";" || gap == "|") {
    out.mark = gap.front();
  } else if (gap == "、" || gap == "，") {
    out.mark = ',';
  } else if (gap == "；") {
    out.mark = ';';
  } else if (gap.empty() && out.wrap == ']') {
    out.mark = '[';
  }
  return out;
}

constexpr std::string_view kMarks = ":=([{<";

}  // namespace

bool is_list_separator(std::string_view gap) noexcept {
  return separator_of(gap).mark != 0;
}

// How many items a token is, 0 if it cannot be one.
std::size_t TemplateLexer::items_of(const Token& token) const {
  if (token.key || token.code || token.anchor || token.words) return 0;
  const std::string_view text = text_of(token);
  if (token.list) return text.find(',') == std::string_view::npos ? 0 : 2;
  if (token.kind == TokenKind::loose) return 1;
  const bool fixed = token.kind == TokenKind::run ? has_fixed_part(text, 0, text.size())
                                                  : is_fixed_word(text, token.form);
  return fixed ? 0 : 1;
}

// A word without a masked part, a digit, or what makes it a name.
bool TemplateLexer::is_plain(const Token& token) const {
  return token.mask == kNoMask && !token.list &&
         text_of(token).find_first_of(".@~$0123456789") == std::string_view::npos;
}

bool TemplateLexer::is_list() const {
  const std::size_t enough = 3;
  if (!options_.structure || !items_.plain || items_.count + 1 < enough) return false;
  const Token& first = tokens_[items_.first];
  const std::size_t before = tokens_[items_.first - 1].end;
  const std::string_view front = line_.substr(before, first.begin - before);
  std::string_view back = line_.substr(tokens_[items_.last].end);
  if (front.find_first_of(",;|") != std::string_view::npos || separator_of(front).mark != 0) {
    return false;  // it began with what is no item
  }
  if (items_.wrap != 0) {
    const char opening = items_.wrap == ']' ? '[' : items_.wrap;
    if (front.empty() || front.back() != opening || !back.starts_with(items_.wrap)) return false;
    back.remove_prefix(1);
  }
  std::string_view mark = without_blanks(front);
  if (items_.wrap != 0 && !mark.empty()) mark.remove_suffix(1);
  const bool marked = mark.find_first_of(kMarks) != std::string_view::npos;
  const bool square = mark.ends_with('[') && back.starts_with(']');
  const bool curly = mark.ends_with('{') && back.starts_with('}');
  const std::string_view items = line_.substr(first.begin, tokens_[items_.last].end - first.begin);
  const bool value = mark.ends_with('=') && items.find_first_of(" \t") == std::string_view::npos;
  const bool quoted = marked && items_.wrap != 0 && items_.wrap != ']';
  if (items_.count < enough && !square && !curly && !value && !quoted) return false;
  const bool comma = items_.mark == ',' && items_.wrap != ']';
  if (comma || quoted) return true;
  return marked && (back.empty() || !is_blank(back.front()) || without_blanks(back).empty());
}

// Makes one token of the items.
void TemplateLexer::fold_items() {
  Token& list = tokens_[items_.first];
  list.end = tokens_[items_.last].end;
  list.kind = TokenKind::loose;
  list.mask = kNoMask;
  list.prefix = list.suffix = list.spelled = 0;
  list.list = list.words = true;
  tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(items_.first) + 1,
                tokens_.begin() + static_cast<std::ptrdiff_t>(items_.last) + 1);
  items_.last = items_.first;
  items_.folded = true;
}

// No further token belongs to the items.
void TemplateLexer::end_items() {
  if (items_.count == 0) return;
  if (!items_.folded && is_list()) fold_items();
  if (items_.folded) {
    Token& list = tokens_[items_.first];
    list.form = token_hash(text_of(list));
  } else if (options_.structure) {
    ++chains_;
    for (std::size_t i = items_.first; i <= items_.last; ++i) tokens_[i].chain = chains_;
  }
  items_ = {};
}

void TemplateLexer::add_item(const Token& token) {
  items_.plain = items_.plain || is_plain(token);
  ++items_.count;
  if (items_.folded) {
    tokens_.resize(items_.first + 1);
    tokens_.back().end = token.end;
  } else {
    tokens_.push_back(token);
    items_.last = tokens_.size() - 1;
    // Without waiting for the end, so that a list may have more items than a line has tokens.
    if (items_.mark == ',' && items_.wrap == 0 && items_.count >= 3 && is_list()) fold_items();
  }
  if (!items_.folded) return;
  previous_names_ = false;  // "groups wheel, adm, users"
  previous_bits_ = 0;
}

// Puts the token behind the others, of which there are some.
void TemplateLexer::add(const Token& token, const Between& gap) {
  const std::size_t back = tokens_.size() - 1;
  const std::size_t end = tokens_.back().end;
  const bool blank = gap.only == ' ';
  Separator separator;
  if (gap.only == 0) {
    separator = separator_of(line_.substr(end, token.begin - end));
  } else if (gap.only == ',' || gap.only == ';' || gap.only == '|') {
    separator.mark = gap.only;
  }
  const bool behind_joint = blank && is_list_joint(text_of(tokens_.back()));
  if (items_.count != 0) {
    const bool next = items_.last == back && !items_.closed;
    if (next && separator.mark != 0 && gap.hash == items_.separator && items_of(token) != 0) {
      add_item(token);
      return;
    }
    if (next && (blank || separator.mark == ',') && is_list_joint(text_of(token))) {
      tokens_.push_back(token);
      return;
    }
    if (items_.last + 1 == back && behind_joint && items_.mark == ',' && items_of(token) != 0) {
      items_.closed = true;
      add_item(token);
      return;
    }
    end_items();
  }
  // The first two.
  const std::size_t before = tokens_.size() - 1;
  if (separator.mark != 0) {
    if (const std::size_t had = items_of(tokens_[before]); had != 0 && items_of(token) != 0) {
      items_.first = before;
      items_.count = had;
      items_.separator = gap.hash;
      items_.mark = separator.mark;
      items_.wrap = separator.wrap;
      items_.plain = is_plain(tokens_[before]);
      add_item(token);
      return;
    }
  } else if (behind_joint && before > 0 && items_of(token) != 0 &&
             items_of(tokens_[before - 1]) == 1) {
    const std::size_t from = tokens_[before - 1].end;
    const std::string_view space = line_.substr(from, tokens_[before].begin - from);
    if (space.size() == 1 && is_blank(space.front())) {
      items_.first = before - 1;
      items_.count = 1;
      items_.mark = ',';
      items_.plain = is_plain(tokens_[before - 1]);
      items_.closed = true;
      add_item(token);
      return;
    }
  }
  tokens_.push_back(token);
}

}  // namespace dpcache::text
