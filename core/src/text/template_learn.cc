// The rule: a line joins the nearest template or opens one, and templates that have become alike
// are one.
#include <algorithm>
#include <array>
#include <utility>

#include "numerics.h"
#include "text/template_state.h"
#include "text/template_words.h"

namespace dpcache {

using text::Element;
using text::Entry;
using text::Line;
using text::LineWord;
using text::Nearest;
using text::Prepared;
using text::Shape;
using text::Token;
using text::TokenKind;
using text::Word;

namespace {

constexpr std::uint64_t kNoTokens = 0x6A09E667F3BCC909ULL;
constexpr std::uint64_t kLoose = 0x1F83D9ABFB41BD6BULL;
constexpr std::uint64_t kParameterPlace = 0x3C6EF372FE94F82BULL;
constexpr std::uint64_t kRunPlace = 0x5BE0CD19137E2179ULL;

// So many templates that differ in one place alone make it a parameter. Fewer happen by chance:
// three kinds of interrupt, two kinds of cache.
constexpr std::size_t kSiblings = 4;
// They need so many words in common.
constexpr std::size_t kSiblingWords = 3;
// A template keeps this many words for each parameter that it has made of one.
constexpr std::size_t kWordsAParameter = 3;

std::uint64_t fold_in(std::uint64_t hash, std::uint64_t with) {
  hash = (hash ^ with) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29U);
}

std::uint64_t posting_key(std::size_t size, std::size_t place, std::uint64_t hash) {
  return mix64(hash ^ mix64(size * 0x10001 + place));
}

std::string cut(std::string_view text, std::size_t size) {
  return std::string(text.substr(0, size));
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  // Not in the middle of a character.
  while (n > 0 && n < b.size() && (static_cast<unsigned char>(b[n]) & 0xC0U) == 0x80U) --n;
  return n;
}

std::size_t common_suffix(std::string_view a, std::string_view b, std::size_t prefix) {
  const std::size_t most = std::min(a.size(), b.size()) - prefix;
  std::size_t n = 0;
  while (n < most && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  while (n > 0 && (static_cast<unsigned char>(b[b.size() - n]) & 0xC0U) == 0x80U) --n;
  return n;
}

struct Ends {
  bool alike = false;
  std::uint32_t prefix = 0;
  std::uint32_t suffix = 0;
};

// Whether two runs are one but for their middle: more than half of each is shared, and no word for
// a state stands where they differ.
Ends compare_runs(const Word& mine, std::string_view other) {
  const bool partial = mine.kind == Word::Kind::partial;
  const std::string_view text = mine.text;
  std::size_t prefix = common_prefix(text, other);
  if (partial) prefix = std::min<std::size_t>(prefix, mine.prefix);
  std::size_t suffix = common_suffix(text, other, prefix);
  if (partial) suffix = std::min<std::size_t>(suffix, mine.suffix);
  const std::size_t shared = prefix + suffix;
  if (2 * shared <= other.size() || 2 * shared <= text.size()) return {};
  if (text::has_fixed_part(text, prefix, text.size() - suffix) ||
      text::has_fixed_part(other, prefix, other.size() - suffix)) {
    return {};
  }
  return {true, static_cast<std::uint32_t>(prefix), static_cast<std::uint32_t>(suffix)};
}

// What is between two tokens, blanks as one.
std::string between(std::string_view line, std::size_t begin, std::size_t end) {
  std::string out;
  bool blank = false;
  for (std::size_t i = begin; i < end && out.size() < text::kPartSize; ++i) {
    const char c = line[i];
    const bool is_blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (is_blank && blank) continue;
    blank = is_blank;
    if (is_blank && begin == 0 && out.empty()) continue;
    out.push_back(is_blank ? ' ' : c);
  }
  return out;
}

void count_value(Element& element, std::string_view value, std::uint64_t times, std::size_t limit) {
  const std::uint64_t hash = text::token_hash(value);
  for (text::ValueCount& known : element.values) {
    if (known.hash != hash) continue;
    known.count += times;
    return;
  }
  if (element.values.size() < limit) {
    element.values.push_back({hash, cut(value, text::kValueSize), times});
  } else {
    element.others += times;
  }
}

}  // namespace

namespace text {

// `into` has had `count` lines, `from` `from_count`.
void merge_elements(Element& into, std::uint64_t count, const Element& from,
                    std::uint64_t from_count, std::size_t limit) {
  const bool same = !into.varies && !from.varies && into.form_hash == from.form_hash;
  if (same && !into.counts_values()) return;
  const auto as_value = [limit](Element& element, std::string_view form, std::uint64_t times) {
    count_value(element, form, times, limit);
  };
  if (!into.counts_values()) as_value(into, into.form, count);
  into.varies = into.varies || !same;
  if (into.mask != from.mask) into.mask = kNoMask;
  into.list = into.list || from.list;
  into.words = into.words || from.words;
  if (!from.counts_values()) {
    as_value(into, from.form, from_count);
  } else {
    for (const ValueCount& value : from.values) as_value(into, value.text, value.count);
    into.others += from.others;
  }
}

}  // namespace text

Templates::State::State(TemplateConfig settings)
    : config(std::move(settings)),
      own_names([this] {
        std::vector<std::string> names;
        for (const Pattern& pattern : config.masks.own) names.push_back(pattern.name);
        return names;
      }()),
      lex_options([this] {
        const Masks& masks = config.masks;
        const bool on[] = {masks.number, masks.hex, masks.ip, masks.uuid, masks.time, masks.path};
        text::LexOptions options;
        for (unsigned kind = 0; kind < text::kBuiltinMasks; ++kind) {
          options.masks |= unsigned{on[kind]} << kind;
        }
        options.own = own_names;
        options.structure = config.structure == Structure::known;
        options.codes = config.codes == Codes::fixed;
        return options;
      }()),
      lexer(lex_options) {}

Line Templates::State::read(std::string_view text, text::TemplateLexer& with) const {
  Line line;
  line.text = text;
  line.tokens = with.read(text);
  line.key = key_of(line, nullptr);
  return line;
}

// Without a template: the key of a line's own shape. With one: its parameters are loose.
std::uint64_t Templates::State::key_of(const Line& line, const Entry* entry) const {
  std::uint64_t key = kNoTokens;
  std::size_t word = 0;
  for (const Token& token : line.tokens) {
    std::uint64_t part = kLoose;
    if (token.kind != TokenKind::loose) {
      const bool varies = entry != nullptr && entry->words[word].kind != Word::Kind::constant;
      part = varies ? kLoose : token.form;
      ++word;
    }
    key = fold_in(fold_in(key, token.before), part);
  }
  if (!line.tokens.empty()) return key;
  // Punctuation alone.
  for (const char c : line.text) {
    if (c != ' ' && (c < '\t' || c > '\r')) key = fold_in(key, static_cast<unsigned char>(c));
  }
  return key;
}

std::vector<LineWord> Templates::State::words_of(const Line& line) const {
  std::vector<LineWord> words;
  std::uint16_t chain = 0;
  std::uint64_t before = 0;
  for (const Token& token : line.tokens) {
    if (token.chain == 0 || token.chain != chain) before = token.before;
    chain = token.chain;
    if (token.kind == TokenKind::loose) continue;
    words.push_back({token.form, line.text.substr(token.begin, token.end - token.begin),
                     token.kind == TokenKind::run, token.key, token.anchor, chain, before});
  }
  // A line without words is told from others by its shape.
  if (words.empty()) words.push_back({line.key, {}, false, true, true});
  return words;
}

// Under which keys a template is found: by each word in its place, and by each place of a parameter
// and of a run. Again where words of the line can be its list, which are parameters then.
std::vector<std::uint64_t> Templates::State::keys_of(const Entry& entry) {
  std::vector<std::uint64_t> keys;
  const auto add = [&](std::size_t list, std::size_t listed) {
    const std::size_t size = entry.words.size() + listed;
    for (std::size_t i = 0; i < listed; ++i) {
      keys.push_back(posting_key(size, list + i, kParameterPlace));
    }
    for (std::size_t i = 0; i < entry.words.size(); ++i) {
      const Word& word = entry.words[i];
      const std::size_t at = i < list ? i : i + listed;
      if (word.kind == Word::Kind::constant) keys.push_back(posting_key(size, at, word.hash));
      if (word.kind == Word::Kind::parameter)
        keys.push_back(posting_key(size, at, kParameterPlace));
      if (word.run) keys.push_back(posting_key(size, at, kRunPlace));
    }
  };
  add(0, 0);
  for (const text::ListPlace& place : entry.lists) {
    for (std::size_t listed = 1; listed <= text::kListWords; ++listed) add(place.word, listed);
  }
  return keys;
}

void Templates::State::add_to_index(Entry& entry) {
  for (const std::uint64_t key : keys_of(entry)) postings[key].push_back(&entry);
}

void Templates::State::take_from_index(Entry& entry) {
  for (const std::uint64_t key : keys_of(entry)) {
    const auto found = postings.find(key);
    if (found == postings.end()) continue;
    std::erase(found->second, &entry);
    if (found->second.empty()) postings.erase(found);
  }
}

// All templates that differ from these words in at most `misses` places, and others; by id. Of
// misses + 1 places, such a template has the word, or a parameter, in one: the places whose lists
// are shortest are looked at.
std::vector<Entry*> Templates::State::candidates(std::span<const LineWord> words,
                                                 std::size_t misses) const {
  using List = std::vector<Entry*>;
  struct Place {
    std::size_t cost = 0;
    std::array<const List*, 3> lists{};
  };
  std::vector<Place> places(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t keys[] = {words[i].hash, kParameterPlace, kRunPlace};
    for (std::size_t k = 0; k < (words[i].run ? 3U : 2U); ++k) {
      const auto list = postings.find(posting_key(words.size(), i, keys[k]));
      if (list == postings.end()) continue;
      places[i].lists[k] = &list->second;
      places[i].cost += list->second.size();
    }
  }
  const std::size_t looked_at = std::min(misses + 1, places.size());
  std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(looked_at),
                    places.end(), [](const Place& a, const Place& b) { return a.cost < b.cost; });
  List found;
  for (std::size_t i = 0; i < looked_at; ++i) {
    for (const List* list : places[i].lists) {
      if (list != nullptr) found.insert(found.end(), list->begin(), list->end());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Entry* a, const Entry* b) { return a->id < b->id; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Nothing if the line cannot join the template.
Nearest Templates::State::compare(std::span<const LineWord> words, Entry& entry) const {
  if (entry.words.size() == words.size()) return compare(words, entry, 0, 0);
  if (entry.words.size() > words.size()) return {};
  const std::size_t listed = words.size() - entry.words.size();
  for (const text::ListPlace& place : entry.lists) {
    if (!reads_as_list(words, entry, place, listed)) continue;
    Nearest found = compare(words, entry, place.word, listed);
    if (found.entry != nullptr) return found;
  }
  return {};
}

// The same where so many of the line's words from `list` on are a list of the template's.
Nearest Templates::State::compare(std::span<const LineWord> words, Entry& entry, std::size_t list,
                                  std::size_t listed) const {
  Nearest result;
  const std::size_t size = entry.words.size();
  const float most = config.tau * static_cast<float>(size);
  std::size_t constants = 0;
  std::size_t misses = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Word& mine = entry.words[i];
    const LineWord& other = words[i < list ? i : i + listed];
    if (mine.kind == Word::Kind::parameter) {
      if (other.key || other.run || text::is_fixed_word(other.text, other.hash)) return {};
      continue;
    }
    ++constants;
    if (mine.hash == other.hash && mine.run == other.run && mine.kind == Word::Kind::constant) {
      continue;
    }
    if (mine.run && other.run) {
      const Ends ends = compare_runs(mine, other.text);
      if (!ends.alike) return {};
      if (mine.kind != Word::Kind::partial || ends.prefix != mine.prefix ||
          ends.suffix != mine.suffix) {
        result.differences.push_back(i);
      }
      continue;
    }
    ++misses;
    if (static_cast<float>(misses) > most || mine.run || other.run || mine.fixed || other.key ||
        other.anchor || text::is_fixed_word(other.text, other.hash)) {
      return {};
    }
    result.differences.push_back(i);
  }
  const std::size_t parameters = size - constants;
  const bool joins = constants > 0 &&
                     static_cast<float>(misses) <= config.tau * static_cast<float>(constants) &&
                     (misses == 0 || (parameters + misses) * kWordsAParameter <= size);
  if (!joins) return {};
  result.entry = &entry;
  result.list = list;
  result.listed = listed;
  result.similarity = static_cast<float>(constants - misses) / static_cast<float>(constants);
  return result;
}

Nearest Templates::State::nearest(std::span<const LineWord> words) const {
  std::size_t misses = 0;
  while (static_cast<float>(misses + 1) <= config.tau * static_cast<float>(words.size())) ++misses;
  Nearest best;
  for (Entry* entry : candidates(words, misses)) {
    Nearest next = compare(words, *entry);
    if (next.similarity > best.similarity) best = std::move(next);
    if (best.similarity == 1.0F) break;  // the oldest of them
  }
  return best;
}

Nearest Templates::State::nearest_by_scan(std::span<const LineWord> words) const {
  Nearest best;
  for (const auto& entry : entries) {
    Nearest next = compare(words, *entry);
    if (next.similarity > best.similarity) best = std::move(next);
  }
  return best;
}

Entry* Templates::State::find(TemplateId id) const {
  const auto at = std::lower_bound(entries.begin(), entries.end(), id,
                                   [](const auto& entry, TemplateId i) { return entry->id < i; });
  return at != entries.end() && (*at)->id == id ? at->get() : nullptr;
}

Entry& Templates::State::open(std::span<const LineWord> words, std::string_view origin) {
  auto entry = std::make_unique<Entry>();
  entry->id = next_id++;
  entry->origin = cut(origin, text::kOriginSize);
  for (const LineWord& word : words) {
    Word mine;
    mine.hash = word.hash;
    mine.text = word.run ? std::string(word.text) : cut(word.text, text::kPartSize);
    mine.run = word.run;
    mine.fixed = word.key || (!word.run && text::is_fixed_word(word.text, word.hash));
    entry->words.push_back(std::move(mine));
  }
  entries.push_back(std::move(entry));
  add_to_index(*entries.back());
  ++version_;
  return *entries.back();
}

void Templates::State::generalise(Entry& entry, std::span<const LineWord> words,
                                  const std::vector<std::size_t>& places) {
  take_from_index(entry);
  for (const std::size_t place : places) {
    Word& word = entry.words[place];
    if (word.run) {
      const Ends ends = compare_runs(word, words[place].text);
      word.kind = Word::Kind::partial;
      word.prefix = ends.prefix;
      word.suffix = ends.suffix;
    } else {
      word.kind = Word::Kind::parameter;
    }
  }
  add_to_index(entry);
  ++version_;
}

// Makes one template of those that differ in one and the same place, if they are enough.
Entry* Templates::State::fold_siblings(Entry& fresh, Learned& learned) {
  if (fresh.words.size() <= kSiblingWords) return &fresh;
  std::vector<LineWord> words;
  for (const Word& word : fresh.words)
    words.push_back({word.hash, word.text, word.run, word.fixed, false, 0, 0});
  std::vector<std::vector<Entry*>> by_place(words.size());
  for (Entry* entry : candidates(words, 1)) {
    if (entry == &fresh || entry->words.size() != words.size()) continue;
    std::size_t place = 0;
    std::size_t misses = 0;
    bool possible = true;
    for (std::size_t i = 0; i < words.size() && misses < 2; ++i) {
      const Word& other = entry->words[i];
      if (other.kind == Word::Kind::constant && other.hash == words[i].hash) continue;
      possible = possible && other.kind == Word::Kind::constant && !other.run && !other.fixed &&
                 !fresh.words[i].fixed && !fresh.words[i].run;
      place = i;
      ++misses;
    }
    if (possible && misses == 1) by_place[place].push_back(entry);
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < by_place.size(); ++i) {
    if (by_place[i].size() > by_place[best].size()) best = i;
  }
  if (by_place[best].size() + 1 < kSiblings) return &fresh;
  Entry& oldest = *by_place[best].front();
  generalise(oldest, words, {best});
  for (std::size_t i = 1; i < by_place[best].size(); ++i) {
    learned.folded.push_back(by_place[best][i]->id);
    fold(oldest, *by_place[best][i]);
  }
  fold(oldest, fresh);
  reshape(oldest);
  return &oldest;
}

// Of the lists that name all templates that `entry` may cover, with so many words more from `list`
// on, the shortest; nullptr: there are none.
const std::vector<Entry*>* Templates::State::covered_among(const Entry& entry, std::size_t list,
                                                           std::size_t listed) const {
  const std::vector<Entry*>* shortest = nullptr;
  for (std::size_t i = 0; i < entry.words.size(); ++i) {
    const Word& word = entry.words[i];
    if (word.kind == Word::Kind::parameter) continue;
    const bool whole = word.kind == Word::Kind::constant;
    const auto found = postings.find(posting_key(
        entry.words.size() + listed, i < list ? i : i + listed, whole ? word.hash : kRunPlace));
    if (found == postings.end()) continue;
    if (shortest == nullptr || found->second.size() < shortest->size()) shortest = &found->second;
  }
  return shortest;
}

// Whether `entry` has every line of `other`: where it has a word, they have the same. So many words
// of the other from `list` on are not looked at.
bool Templates::State::covers(const Entry& entry, const Entry& other, std::size_t list,
                              std::size_t listed) {
  if (other.words.size() != entry.words.size() + listed) return false;
  for (std::size_t i = 0; i < entry.words.size(); ++i) {
    const Word& mine = entry.words[i];
    const Word& its = other.words[i < list ? i : i + listed];
    bool same = false;
    if (mine.kind == Word::Kind::parameter) {
      same = its.kind == Word::Kind::parameter || (!its.fixed && !its.run);
    } else if (mine.kind == Word::Kind::constant) {
      same = its.kind == Word::Kind::constant && its.hash == mine.hash;
    } else {
      const Ends ends = its.run ? compare_runs(mine, its.text) : Ends{};
      same = ends.alike && ends.prefix == mine.prefix && ends.suffix == mine.suffix;
    }
    if (!same) return false;
  }
  return true;
}

// Takes in those that `entry` covers now.
Entry* Templates::State::fold_alike(Entry& entry, Learned& learned) {
  std::vector<Entry*> alike;
  if (const std::vector<Entry*>* list = covered_among(entry, 0, 0); list != nullptr) {
    for (Entry* other : *list) {
      if (other != &entry && covers(entry, *other, 0, 0)) alike.push_back(other);
    }
  }
  if (alike.empty()) {
    reshape(entry);
    return &entry;
  }
  return &fold_all(entry, std::move(alike), learned);
}

// Makes one template, with the words of `entry`, of it and these: the oldest.
Entry& Templates::State::fold_all(Entry& entry, std::vector<Entry*> others, Learned& learned) {
  others.push_back(&entry);
  std::sort(others.begin(), others.end(),
            [](const Entry* a, const Entry* b) { return a->id < b->id; });
  others.erase(std::unique(others.begin(), others.end()), others.end());
  Entry& oldest = *others.front();
  if (&oldest != &entry) {
    take_from_index(oldest);
    oldest.words = entry.words;
    oldest.lists = entry.lists;
    add_to_index(oldest);
  }
  for (Entry* other : others) {
    if (other == &oldest) continue;
    // A line's own template that is no more has never been: its id is used again.
    if (!learned.opened || other != &entry) learned.folded.push_back(other->id);
    fold(oldest, *other);
  }
  reshape(oldest);
  return oldest;
}

// Moves all of `from` into `into`, whose shapes must be made anew then.
void Templates::State::fold(Entry& into, Entry& from) {
  into.count += from.count;
  into.shapeless += from.shapeless;
  for (auto& shape : from.shapes) {
    drop_shape(*shape);
    shape->owner = &into;
    into.shapes.push_back(std::move(shape));
  }
  from.shapes.clear();
  for (std::string& example : from.examples) {
    if (into.examples.size() < config.examples &&
        std::find(into.examples.begin(), into.examples.end(), example) == into.examples.end()) {
      into.examples.push_back(std::move(example));
    }
  }
  remove(from);
}

void Templates::State::remove(Entry& entry) {
  for (const auto& shape : entry.shapes) drop_shape(*shape);
  take_from_index(entry);
  const TemplateId id = entry.id;
  const auto at = std::lower_bound(entries.begin(), entries.end(), id,
                                   [](const auto& one, TemplateId i) { return one->id < i; });
  entries.erase(at);
  ++version_;
}

void Templates::State::put_shape(Shape& shape) {
  shapes.emplace(shape.key, &shape);
}

void Templates::State::drop_shape(Shape& shape) {
  auto [at, end] = shapes.equal_range(shape.key);
  while (at != end && at->second != &shape) ++at;
  if (at != end) shapes.erase(at);
}

// A template's parameter can stand where another has a loose token: then the older has the line.
Shape* Templates::State::shape_of(std::uint64_t key) const {
  Shape* oldest = nullptr;
  for (auto [at, end] = shapes.equal_range(key); at != end; ++at) {
    if (oldest == nullptr || at->second->owner->id < oldest->owner->id) oldest = at->second;
  }
  return oldest;
}

// Gives a shape the key, and its elements the ends, that go with the template's words.
std::uint64_t Templates::State::key_again(Shape& shape, const Entry& entry) {
  if (shape.elements.empty()) return shape.key;
  shape.key = kNoTokens;
  for (Element& element : shape.elements) {
    std::uint64_t part = kLoose;
    if (element.word >= 0) {
      const Word& word = entry.words[static_cast<std::size_t>(element.word)];
      part = word.kind == Word::Kind::constant ? element.form_hash : kLoose;
      if (word.kind == Word::Kind::partial) {
        element.prefix = word.prefix;
        element.suffix = word.suffix;
      }
    }
    shape.key = fold_in(fold_in(shape.key, element.before_hash), part);
  }
  return shape.key;
}

// Gives each shape the key that goes with the template's words, and makes one of those that have
// become equal.
void Templates::State::reshape(Entry& entry) {
  ++version_;
  for (const auto& shape : entry.shapes) drop_shape(*shape);
  std::vector<std::unique_ptr<Shape>> old = std::move(entry.shapes);
  entry.shapes.clear();
  for (auto& shape : old) {
    const std::uint64_t key = key_again(*shape, entry);
    const auto same = std::find_if(entry.shapes.begin(), entry.shapes.end(),
                                   [key](const auto& one) { return one->key == key; });
    if (same == entry.shapes.end()) {
      if (entry.shapes.size() == text::kMaxShapes) {
        entry.shapeless += shape->count;
      } else {
        entry.shapes.push_back(std::move(shape));
      }
      continue;
    }
    Shape& into = **same;
    for (std::size_t i = 0; i < into.elements.size(); ++i) {
      text::merge_elements(into.elements[i], into.count, shape->elements[i], shape->count,
                           config.values);
    }
    into.count += shape->count;
  }
  for (const auto& shape : entry.shapes) put_shape(*shape);
  update_lists(entry);
}

// The shape of a line in its template; nullptr if there are too many.
Shape* Templates::State::shape_for(Entry& entry, const Line& line, std::uint64_t key) {
  for (const auto& shape : entry.shapes) {
    if (shape->key == key) return shape.get();
  }
  if (entry.shapes.size() == text::kMaxShapes) return nullptr;
  auto shape = std::make_unique<Shape>();
  shape->key = key;
  shape->owner = &entry;
  std::size_t end = 0;
  std::int32_t word = 0;
  for (const Token& token : line.tokens) {
    Element element;
    element.before_hash = token.before;
    element.before = between(line.text, end, token.begin);
    element.form_hash = token.form;
    element.form = cut(lexer.form_of(token), text::kPartSize);
    element.mask = token.mask;
    element.list = token.list;
    element.words = token.words;
    element.prefix = token.prefix;
    element.suffix = token.suffix;
    if (token.kind != TokenKind::loose) {
      const Word& mine = entry.words[static_cast<std::size_t>(word)];
      if (mine.kind == Word::Kind::partial) {
        element.prefix = mine.prefix;
        element.suffix = mine.suffix;
      }
      element.word = word++;
    }
    end = token.end;
    shape->elements.push_back(std::move(element));
  }
  shape->tail = between(line.text, end, line.text.size());
  while (!shape->tail.empty() && shape->tail.back() == ' ') shape->tail.pop_back();
  entry.shapes.push_back(std::move(shape));
  put_shape(*entry.shapes.back());
  return entry.shapes.back().get();
}

bool Templates::State::count(Shape& shape, const Prepared& prepared, const Line& line) {
  bool lists = false;
  for (std::size_t i = 0; i < line.tokens.size(); ++i) {
    Element& element = shape.elements[i];
    const Token& token = line.tokens[i];
    if (token.form != element.form_hash && !element.varies) {
      if (!element.counts_values() && shape.count > 0) {
        count_value(element, element.form, shape.count, config.values);
      }
      element.varies = true;
      if (element.mask != token.mask) element.mask = text::kNoMask;
    }
    element.list = element.list || token.list;
    lists = lists || (token.words && !element.words);
    element.words = element.words || token.words;
    if (!element.counts_values()) continue;
    std::size_t begin = token.begin;
    std::size_t end = token.end;
    const std::size_t ends = std::size_t{element.prefix} + element.suffix;
    const bool inner = element.word >= 0 || (!element.varies && element.mask == token.mask);
    if (inner && ends <= end - begin) {
      begin += element.prefix;
      end -= element.suffix;
    }
    count_value(element, prepared.original(begin, end), 1, config.values);
  }
  ++shape.count;
  return lists;
}

Learned Templates::State::learn(const Prepared& prepared, std::string_view origin) {
  Line line = read(prepared.text, lexer);
  const std::uint64_t line_key = line.key;
  std::vector<Token> tokens;  // of the line with a list
  Learned learned;
  Shape* shape = nullptr;
  Memo& memo = memo_[line_key % memo_.size()];
  if (memo.version == version_ && memo.key == line_key) {
    shape = memo.shape;
    if (memo.list.count != 0) line = with_list(line, memo.list, tokens);
  } else if ((shape = shape_of(line_key)) != nullptr) {
    memo = {line_key, version_, shape, {}};
  }
  Entry* entry = nullptr;
  bool changed = false;  // what the template covers
  ListTokens list;
  learned.similarity = 1.0F;
  if (shape != nullptr) {
    entry = shape->owner;
  } else {
    std::vector<LineWord> words = words_of(line);
    const Nearest nearest = this->nearest(words);
    learned.similarity = nearest.similarity;
    if (nearest.entry != nullptr) {
      entry = nearest.entry;
      list = list_tokens(line, nearest);
      if (list.count != 0) {
        line = with_list(line, list, tokens);
        words = words_of(line);
      }
      if (!nearest.differences.empty()) {
        generalise(*entry, words, nearest.differences);
        entry = fold_alike(*entry, learned);
        changed = !entry->lists.empty();
      }
    } else {
      learned.opened = true;
      entry = &open(words, origin);
    }
    const std::size_t shapes_before = entry->shapes.size();
    shape = shape_for(*entry, line, key_of(line, entry));
    if (entry->shapes.size() != shapes_before) changed = update_lists(*entry) || changed;
  }
  ++lines;
  ++entry->count;
  if (shape != nullptr) {
    if (count(*shape, prepared, line)) changed = update_lists(*entry) || changed;
  } else {
    ++entry->shapeless;
  }
  if (entry->examples.size() < config.examples) {
    const std::string_view example = prepared.line.substr(0, text::kExampleSize);
    if (std::find(entry->examples.begin(), entry->examples.end(), example) ==
        entry->examples.end()) {
      entry->examples.emplace_back(example);
    }
  }
  const std::uint64_t version = version_;
  const TemplateId joined = entry->id;
  if (changed) entry = fold_lists(*entry, learned);
  if (learned.opened) {
    if (entry->id == joined) entry = fold_siblings(*entry, learned);
    if (entry->id != joined) {
      learned.opened = false;
      next_id = joined;
      if (!entry->lists.empty()) entry = fold_lists(*entry, learned);
    }
  } else if (shape != nullptr && version == version_ && memo.key != line_key) {
    memo = {line_key, version_, shape, list};
  }
  learned.id = entry->id;
  learned.lines = entry->count;
  if (learned.opened && entries.size() > config.max_templates) {
    Entry* least = nullptr;
    for (const auto& one : entries) {
      if (one.get() != entry && (least == nullptr || one->count < least->count)) least = one.get();
      if (least != nullptr && least->count == 1) break;  // the oldest of the rarest there can be
    }
    if (least != nullptr) {
      learned.evicted.push_back(least->id);
      remove(*least);
    }
  }
  return learned;
}

}  // namespace dpcache
