// Lists of words that only other lines tell: where a template has lists of three items and more, a
// single word is one too, and so are two.
#include <algorithm>
#include <utility>

#include "text/template_state.h"
#include "text/template_words.h"

namespace dpcache {

using text::Element;
using text::Entry;
using text::Line;
using text::LineWord;
using text::ListPlace;
using text::Shape;
using text::Token;
using text::TokenKind;
using text::Word;

namespace {

// So many words besides make a word a list; behind one alone it says too little.
constexpr std::size_t kLoneWords = 2;
// Files of before may have lists of more words as templates.
constexpr std::size_t kMostWords = 32;

bool can_be_item(std::string_view text, std::uint64_t hash, bool run) {
  return run ? !text::has_fixed_part(text, 0, text.size()) : !text::is_fixed_word(text, hash);
}

// Where a shape has the elements that are the words [place.word, + count) and what belongs to them;
// with no words, several loose ones in front of place.word. Nothing if they are not such a list.
struct Elements {
  std::size_t first = 0;
  std::size_t last = 0;
  bool found = false;
};

Elements list_in(const Shape& shape, const ListPlace& place, std::size_t count) {
  const std::vector<Element>& all = shape.elements;
  const auto follows = [&all](std::size_t i) {  // the one before it in a list
    const bool beside_joint =
        text::is_list_joint(all[i].form) || text::is_list_joint(all[i - 1].form);
    return text::is_list_separator(all[i].before) || (beside_joint && all[i].before == " ");
  };
  const auto begin = static_cast<std::int32_t>(place.word);
  const auto end = begin + static_cast<std::int32_t>(count);
  Elements out;
  while (out.first < all.size() && all[out.first].word != begin - 1) ++out.first;
  do {
    if (++out.first >= all.size() || all[out.first].word >= end) return out;
  } while (all[out.first].before_hash != place.before);
  out.last = out.first;
  while (out.last + 1 < all.size() && follows(out.last + 1) && all[out.last + 1].word < end) {
    ++out.last;
  }
  std::size_t words = 0;
  for (std::size_t i = out.first; i <= out.last; ++i) words += all[i].word >= 0 ? 1 : 0;
  // If the next element follows too, this is a part of a list.
  const bool whole = out.last + 1 == all.size() || !follows(out.last + 1);
  out.found = whole && words == count && (count > 0 || out.last > out.first);
  return out;
}

// Whether so many words of a template, at this place of another's list, are that list in each line.
bool is_list_of(const Entry& entry, const ListPlace& place, std::size_t count) {
  if (entry.shapes.empty()) return false;
  for (std::size_t i = place.word; i < place.word + count; ++i) {
    const Word& word = entry.words[i];
    if (i != place.word && text::is_list_joint(word.text)) continue;
    if (!can_be_item(word.text, word.hash, word.run) || word.fixed) return false;
  }
  return std::all_of(entry.shapes.begin(), entry.shapes.end(), [&](const auto& shape) {
    const Elements at = list_in(*shape, place, count);
    return at.found && (at.last > at.first || entry.words.size() > kLoneWords);
  });
}

// Makes one element of those that are the list.
void make_list(Shape& shape, const Entry& entry, const ListPlace& place, std::size_t count) {
  std::vector<Element>& all = shape.elements;
  const Elements at = list_in(shape, place, count);
  Element list = all[at.first];
  bool partial = false;
  for (std::size_t i = at.first; i <= at.last; ++i) {
    const Element& one = all[i];
    partial = partial || (one.word >= 0 && entry.words[static_cast<std::size_t>(one.word)].kind ==
                                               Word::Kind::partial);
    if (i == at.first) continue;
    list.form += one.before + one.form;
    list.varies = list.varies || one.varies || one.mask != text::kNoMask;
  }
  if (at.first != at.last || partial) {
    list.varies = list.varies || all[at.first].mask != text::kNoMask;
    list.form_hash = text::token_hash(list.form);
    list.form.resize(std::min(list.form.size(), text::kPartSize));
    list.values.clear();
    list.others = list.varies ? shape.count : 0;  // which were not kept together
  }
  list.word = -1;
  list.prefix = list.suffix = 0;
  list.mask = text::kNoMask;
  list.list = list.words = true;
  all[at.first] = std::move(list);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(at.first) + 1,
            all.begin() + static_cast<std::ptrdiff_t>(at.last) + 1);
  for (std::size_t i = at.first + 1; i < all.size(); ++i) {
    if (all[i].word >= 0) all[i].word -= static_cast<std::int32_t>(count);
  }
}

}  // namespace

namespace text {

bool reads_as_list(std::span<const LineWord> words, const Entry& entry, const ListPlace& place,
                   std::size_t count) {
  if (count > kListWords) return false;
  const LineWord& first = words[place.word];
  if (first.before != place.before) return false;
  const std::size_t end = place.word + count;
  if (first.chain == 0) {
    if (count != 1 || entry.words.size() < kLoneWords) return false;
  } else if (words[place.word - 1].chain == first.chain ||
             (end < words.size() && words[end].chain == first.chain)) {
    return false;
  }
  for (std::size_t i = place.word; i < end; ++i) {
    const LineWord& word = words[i];
    if (word.chain != first.chain || word.key || word.anchor) return false;
    if (i != place.word && is_list_joint(word.text)) continue;
    if (!can_be_item(word.text, word.hash, word.run)) return false;
  }
  return true;
}

}  // namespace text

Templates::State::ListTokens Templates::State::list_tokens(const Line& line,
                                                           const text::Nearest& nearest) {
  const auto& tokens = line.tokens;
  const auto found = [](std::size_t first, std::size_t last) {
    return ListTokens{static_cast<std::uint32_t>(first),
                      static_cast<std::uint32_t>(last + 1 - first)};
  };
  const auto end_of_chain = [&tokens](std::size_t i) {
    const std::uint16_t chain = tokens[i].chain;
    while (chain != 0 && i + 1 < tokens.size() && tokens[i + 1].chain == chain) ++i;
    return i;
  };
  std::size_t words = 0;
  for (std::size_t i = 0, last = 0; i < tokens.size(); i = last + 1) {
    last = end_of_chain(i);
    const auto mine = static_cast<std::size_t>(
        std::count_if(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                      tokens.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                      [](const Token& token) { return token.kind != TokenKind::loose; }));
    if (mine == nearest.listed && mine != 0 && words == nearest.list) return found(i, last);
    if (mine == 0 && last > i && nearest.listed == 0) {  // a chain without words
      for (const ListPlace& place : nearest.entry->lists) {
        if (place.word == words && place.before == tokens[i].before) return found(i, last);
      }
    }
    words += mine;
  }
  return {};
}

Line Templates::State::with_list(const Line& line, ListTokens list, std::vector<Token>& tokens) {
  const auto begin = line.tokens.begin() + static_cast<std::ptrdiff_t>(list.first);
  tokens.assign(line.tokens.begin(), begin + static_cast<std::ptrdiff_t>(list.count));
  tokens.resize(list.first + 1);
  Token& one = tokens.back();
  one.end = line.tokens[list.first + list.count - 1].end;
  one.form = text::token_hash(line.text.substr(one.begin, one.end - one.begin));
  one.kind = TokenKind::loose;
  one.mask = text::kNoMask;
  one.prefix = one.suffix = one.spelled = 0;
  one.list = one.words = true;
  tokens.insert(tokens.end(), begin + static_cast<std::ptrdiff_t>(list.count), line.tokens.end());
  return {line.text, tokens, line.key};
}

// A text or a code behind a word that announces one is no list: "error: overflow".
bool Templates::State::update_lists(Entry& entry) {
  std::vector<ListPlace> lists;
  for (const auto& shape : entry.shapes) {
    std::uint32_t word = 0;
    for (const Element& element : shape->elements) {
      if (element.word >= 0) {
        word = static_cast<std::uint32_t>(element.word) + 1;
        continue;
      }
      if (!element.words || word == 0) continue;
      const unsigned bits = text::word_bits(entry.words[word - 1].hash);
      if ((bits & (text::kTextKey | text::kCodeWord | text::kLevelWord)) != 0) continue;
      const auto same = std::find_if(lists.begin(), lists.end(),
                                     [word](const ListPlace& one) { return one.word == word; });
      if (same == lists.end()) lists.push_back({word, element.before_hash});
    }
  }
  if (lists == entry.lists) return false;
  take_from_index(entry);
  entry.lists = std::move(lists);
  add_to_index(entry);
  ++version_;
  return true;
}

// Takes in the templates of lines whose list is one word or two.
Entry* Templates::State::fold_lists(Entry& entry, Learned& learned) {
  bool shorter_shapes = false;
  for (const ListPlace& place : entry.lists) {
    for (const auto& shape : entry.shapes) {
      if (!list_in(*shape, place, 0).found) continue;
      make_list(*shape, entry, place, 0);
      shorter_shapes = true;
    }
  }
  if (shorter_shapes) reshape(entry);
  std::vector<Entry*> found;
  for (const ListPlace& place : entry.lists) {
    for (std::size_t count = 1; count <= kMostWords; ++count) {
      const std::vector<Entry*>* list = covered_among(entry, place.word, count);
      if (list == nullptr) continue;
      std::vector<Entry*> shorter;
      for (Entry* other : *list) {
        if (other != &entry && covers(entry, *other, place.word, count) &&
            is_list_of(*other, place, count)) {
          shorter.push_back(other);
        }
      }
      std::sort(shorter.begin(), shorter.end(),
                [](const Entry* a, const Entry* b) { return a->id < b->id; });
      shorter.erase(std::unique(shorter.begin(), shorter.end()), shorter.end());
      for (Entry* other : shorter) {
        take_from_index(*other);
        for (const auto& shape : other->shapes) {
          drop_shape(*shape);
          make_list(*shape, *other, place, count);
        }
        const auto from = other->words.begin() + static_cast<std::ptrdiff_t>(place.word);
        other->words.erase(from, from + static_cast<std::ptrdiff_t>(count));
        other->lists.clear();
        add_to_index(*other);
        for (const auto& shape : other->shapes) put_shape(*shape);
        found.push_back(other);
      }
    }
  }
  return found.empty() ? &entry : &fold_all(entry, std::move(found), learned);
}

}  // namespace dpcache
