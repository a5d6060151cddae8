// Reads the rules of a language, line by line, and finds words in them.
#include "text/guard_table.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "dpcache/guards.h"
#include "text/guard_plain.h"
#include "text/unicode.h"

namespace dpcache::text {
namespace {

constexpr std::size_t kMaxTable = std::size_t{1} << 20U;  // bytes
constexpr std::size_t kMaxPhrase = 3;                     // words
constexpr std::uint32_t kMaxValue = 1000000000;

bool is_vowel(char c) {
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
}

bool ends(const char* word, std::size_t size, std::string_view with) {
  return size >= with.size() &&
         std::memcmp(word + size - with.size(), with.data(), with.size()) == 0;
}

bool has_vowel(const char* word, std::size_t size) {
  return std::any_of(word, word + size, is_vowel);
}

// stopp -> stop, but fall, miss and buzz stay.
std::size_t single(const char* word, std::size_t size) {
  if (size < 4 || word[size - 1] != word[size - 2] || is_vowel(word[size - 1])) return size;
  const char last = word[size - 1];
  return last == 'l' || last == 's' || last == 'z' ? size : size - 1;
}

}  // namespace

std::size_t stem(char* word, std::size_t size) noexcept {
  if (size == 3 && word[2] == 'y' && !is_vowel(word[1])) word[2] = 'i';  // dry, drying
  if (size <= 3) return size;
  const bool hissing = ends(word, size, "sses") || ends(word, size, "xes") ||
                       ends(word, size, "zes") || ends(word, size, "ches") ||
                       ends(word, size, "shes");
  if (hissing || (ends(word, size, "ies") && size > 4)) {
    size -= 2;
  } else if (word[size - 1] == 's' && word[size - 2] != 's' && word[size - 2] != 'u' &&
             word[size - 2] != 'i') {
    --size;
  }
  const bool adverb = size > 5 && ends(word, size, "ly") && word[size - 3] != 'b';
  if (adverb || (size > 4 && ends(word, size, "ied"))) {
    size -= 2;
  } else if (size > 4 && ends(word, size, "ed") && has_vowel(word, size - 2)) {
    size = single(word, size - 2);
  } else if (size > 5 && ends(word, size, "ing") && has_vowel(word, size - 3)) {
    size = single(word, size - 3);
  } else if (size > 5 && ends(word, size, "bly")) {
    word[size - 1] = 'e';
  }
  if (size > 3 && word[size - 1] == 'e') --size;
  if (size > 2 && word[size - 1] == 'y' && !is_vowel(word[size - 2])) word[size - 1] = 'i';
  if (size > 4 && word[size - 1] == 'l' && word[size - 2] == 'l') --size;
  if (size > 5 && ends(word, size, "our")) word[(--size) - 1] = 'r';  // colour, color
  if (size > 5 && ends(word, size, "iz")) word[size - 1] = 's';       // organize, organise
  return size;
}

std::uint64_t GuardTable::stem_id(std::string_view word) const noexcept {
  if (!english_ || word.size() > kMaxWord || !is_ascii(word)) return hash_of(word);
  char letters[kMaxWord];
  std::memcpy(letters, word.data(), word.size());
  return hash_of({letters, stem(letters, word.size())});
}

const Entry* GuardTable::find_id(std::uint64_t key) const noexcept {
  if (entries_.empty()) return nullptr;
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t at = key >> 8U & mask;; at = (at + 1) & mask) {
    if (entries_[at].key == key) return &entries_[at];
    if (entries_[at].key == 0) return nullptr;
  }
}

GuardTable::Found GuardTable::find(std::string_view word) const noexcept {
  const std::uint64_t whole = hash_of(word);
  if (const Entry* entry = find_id(whole)) return {entry->id, entry};
  if (!english_ || word.size() > kMaxWord || word.size() < 4) return {whole, nullptr};
  char letters[kMaxWord];
  std::memcpy(letters, word.data(), word.size());
  std::size_t size = stem(letters, word.size());
  const std::uint64_t id = hash_of({letters, size});
  if (id != whole) {
    if (const Entry* entry = find_id(id)) return {entry->id, entry};
  }
  // higher, highest: the opposites of high, but a word of its own
  const std::size_t cut = ends(letters, size, "est") ? 3 : ends(letters, size, "er") ? 2 : 0;
  if (cut == 0 || size < cut + 3) return {id, nullptr};
  size = single(letters, size - cut);
  if (size > 3 && letters[size - 1] == 'e') --size;
  const Entry* entry = find_id(hash_of({letters, size}));
  const bool compares =
      entry != nullptr && entry->pole_count > 0 && (entry->flags & ~(kKnown | kStarts)) == 0;
  return {id, compares ? entry : nullptr};
}

std::span<const GuardTable::Prefix> GuardTable::prefixes(char first) const noexcept {
  if (first < 'a' || first > 'z' || prefixes_.empty()) return {};
  const auto i = static_cast<std::size_t>(first - 'a');
  return std::span(prefixes_).subspan(prefix_begin_[i], prefix_begin_[i + 1] - prefix_begin_[i]);
}

// Two passes over the lines: words first, then phrases, whose keys are the ids of words.
class TableReader {
 public:
  Result<GuardTable> read(std::string_view text) {
    if (text.size() > kMaxTable) return fault("the table has more than 1 MiB");
    std::string copy;
    if (!is_ascii(text)) {
      copy = plain_form(text);
      text = copy;
    }
    table_.id_ = hash_of(text);
    table_.entries_.resize(64);
    for (int pass = 0; pass < 2; ++pass) {
      phrases_ = pass == 1;
      line_ = 0;
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        ++line_;
        line = line.substr(0, line.find('#'));
        if (Status status = read_line(line); !status) return status;
        begin = end + 1;
      }
    }
    finish();
    return std::move(table_);
  }

 private:
  struct Kind {
    std::string_view name;
    std::uint32_t flags;
    int arguments;
  };
  static constexpr std::array<Kind, 26> kKinds = {{
      {"negation", kCue, 0},
      {"limit", kLimit, 0},
      {"ceasing", kCeasing, 0},
      {"answer", kAnswer, 0},
      {"soft", kSoft, 0},
      {"plain", kPlain, 0},
      {"opposite", 0, 0},
      {"apart", 0, 0},
      {"day", kDay, 0},
      {"month", kMonth, 0},
      {"maybe", kMaybe, 0},
      {"same", 0, 0},
      {"whole", 0, 0},
      {"function", kFunction, 0},
      {"article", kFunction | kArticle, 0},
      {"symmetric", kFunction | kSymmetric, 0},
      {"subject", kFunction | kSubject, 0},
      {"particle", kFunction | kParticle, 0},
      {"number", kValue, 1},
      {"perhaps", kValue | kPerhaps, 1},
      {"scale", kScale, 1},
      {"unit", kUnit, 2},
      {"prefix", 0, 1},
      {"pair", 0, 1},
      {"ending", 0, 0},
      {"stem", 0, 0},
  }};

  Status fault(std::string_view what) const {
    Status status{Error::bad_config, line_ == 0 ? 0 : line_ - 1, "/line/", {}};
    status.pointer += std::to_string(line_);
    status.detail.append("line ").append(std::to_string(line_)).append(": ").append(what);
    return status;
  }

  static std::string_view next_word(std::string_view& rest) {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t' || rest.front() == '\r')) {
      rest.remove_prefix(1);
    }
    const std::size_t size = std::min(rest.find_first_of(" \t\r"), rest.size());
    const std::string_view word = rest.substr(0, size);
    rest.remove_prefix(size);
    return word;
  }

  static bool whole_number(std::string_view digits, std::uint32_t& value) {
    if (digits.empty() || digits.size() > 10) return false;
    std::uint64_t sum = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      sum = sum * 10 + static_cast<unsigned>(c - '0');
    }
    value = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kMaxValue + 1ULL));
    return sum <= kMaxValue;
  }

  Status read_line(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      std::string_view rest = line;
      return next_word(rest).empty() ? Status{} : fault("has no colon");
    }
    std::string_view head = line.substr(0, colon);
    std::string_view rest = line.substr(colon + 1);
    const std::string_view name = next_word(head);
    const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                          [name](const Kind& one) { return one.name == name; });
    if (kind == kKinds.end()) {
      std::string what = "there is no rule '";
      what.append(name).append("'; there are");
      for (const Kind& one : kKinds) what.append(" ").append(one.name);
      return fault(what);
    }
    std::string_view arguments[2];
    for (int i = 0; i < kind->arguments; ++i) arguments[i] = next_word(head);
    if (!next_word(head).empty()) return fault("has something else in front of the colon");
    value_ = 0;
    unit_ = 0;
    exponent_ = 0;
    if (kind->arguments == 1 && !whole_number(arguments[0], value_)) {
      return fault("needs a whole number up to 1000000000 in front of the colon");
    }
    if (kind->arguments == 2) {
      const bool below = !arguments[1].empty() && arguments[1].front() == '-';
      std::uint32_t power = 0;
      if (arguments[0].empty() || !whole_number(arguments[1].substr(below ? 1 : 0), power) ||
          power > 30) {
        return fault("needs a unit's name and a power of ten from -30 to 30");
      }
      exponent_ =
          static_cast<std::int16_t>(below ? -static_cast<int>(power) : static_cast<int>(power));
      unit_ = unit_of(arguments[0]);
      if (unit_ == 0) return fault("is one unit too many");
    }
    if (name == "scale" && value_ > 30) return fault("a power of ten is at most 30");
    return read_words(*kind, line, rest);
  }

  Status read_words(const Kind& kind, std::string_view line, std::string_view rest) {
    const bool opposite = kind.name == "opposite";
    const bool grouped = opposite || kind.name == "apart" || kind.name == "day" ||
                         kind.name == "month" || kind.name == "pair" || kind.name == "ending";
    const auto groups = 1 + static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '|'));
    if (groups > 1 && !grouped) return fault("has no groups");
    if ((opposite || kind.name == "pair" || kind.name == "ending") && groups != 2) {
      return fault("needs two groups with | between them");
    }
    if (groups > 60) return fault("has more than 60 groups");
    std::size_t group = 0;
    std::uint64_t first = 0;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
      if (word == "|") {
        ++group;
        continue;
      }
      if (word.size() > kMaxWord) return fault("a word has more than 64 bytes");
      if (kind.name == "stem") {
        if (word != "english" && word != "none") return fault("stems are english or none");
        table_.english_ = word == "english";
      } else if (kind.name == "prefix" || kind.name == "pair" || kind.name == "ending") {
        if (Status status = add_prefix(kind, line, word, group); !status) return status;
      } else if (Status status = add_word(kind, line, word, group, groups, first); !status) {
        return status;
      }
    }
    return {};
  }

  Status add_prefix(const Kind& kind, std::string_view line, std::string_view word,
                    std::size_t group) {
    GuardTable::Prefix prefix;
    if (word.size() > prefix.letters.size() || word.front() < 'a' || word.front() > 'z') {
      return fault("needs up to eight letters, a small one first");
    }
    if (phrases_) return {};
    std::copy(word.begin(), word.end(), prefix.letters.begin());
    prefix.size = static_cast<std::uint8_t>(word.size());
    prefix.least = static_cast<std::uint8_t>(
        kind.name == "ending" ? 3 : std::clamp<std::uint32_t>(value_, 2, 60));
    prefix.group = static_cast<std::uint8_t>(group);
    prefix.pair = kind.name == "prefix" ? 0 : hash_of(line);
    if (kind.name == "ending") {
      table_.endings_.push_back(prefix);
    } else {
      table_.prefixes_.push_back(prefix);
    }
    return {};
  }

  // `first`: the id of the line's first word, 0 before it is known.
  Status add_word(const Kind& kind, std::string_view line, std::string_view word, std::size_t group,
                  std::size_t groups, std::uint64_t& first) {
    const bool phrase = word.find('_') != std::string_view::npos;
    std::uint64_t keys[2] = {};
    std::uint64_t id = 0;
    if (phrase) {
      if (!phrases_) {
        std::string_view rest = word;
        if (!split(rest, [this](std::string_view part) { part_entry(part); })) {
          return fault("a phrase has two or three words, with _ between them");
        }
        if (first == 0) first = hash_of(word);
        return {};
      }
      keys[0] = phrase_key(word);
      id = keys[0];
      if (first == 0) first = hash_of(word);
    } else {
      keys[0] = hash_of(word);
      id = kind.name == "whole" ? keys[0] : table_.stem_id(word);
      if (id != keys[0] && kind.name != "whole" && !inflected(word)) keys[1] = id;
      if (first == 0) first = id;
      if (phrases_) return {};
    }
    for (const std::uint64_t key : keys) {
      if (key == 0) continue;
      Entry& entry = place(key, id);
      entry.flags |= kind.flags | kKnown;
      if (kind.name == "whole") entry.id = id;
      if (kind.name == "same") entry.id = first;
      if ((kind.flags & kUnit) != 0) {
        entry.unit = unit_;
        entry.exponent = exponent_;
        if (phrase || word.size() > 2) {
          entry.id = joined(hash_of("unit"),
                            std::uint64_t{unit_} * 64 + 32 + static_cast<std::uint64_t>(exponent_));
        }
      }
      if ((kind.flags & (kValue | kScale)) != 0) entry.value = value_;
      if ((kind.flags & (kDay | kMonth)) != 0) entry.value = static_cast<std::uint32_t>(group + 1);
      if (kind.name == "opposite" || kind.name == "apart") {
        poles_.push_back(
            {key,
             {hash_of(line), static_cast<std::uint8_t>(group), static_cast<std::uint8_t>(groups)}});
      }
    }
    return {};
  }

  static bool inflected(std::string_view word) {
    return ends(word.data(), word.size(), "s") || ends(word.data(), word.size(), "ed") ||
           ends(word.data(), word.size(), "ing") || ends(word.data(), word.size(), "ly");
  }

  template <class Visit>
  static bool split(std::string_view phrase, Visit visit) {
    std::size_t parts = 0;
    while (true) {
      const std::size_t end = std::min(phrase.find('_'), phrase.size());
      if (end == 0 || ++parts > kMaxPhrase) return false;
      visit(phrase.substr(0, end));
      if (end == phrase.size()) return parts > 1;
      phrase.remove_prefix(end + 1);
    }
  }

  // A word of a phrase must have an entry, which says that a phrase may begin there.
  void part_entry(std::string_view word) {
    const std::uint64_t key = hash_of(word);
    const std::uint64_t id = table_.stem_id(word);
    place(key, id);
    if (id != key && !inflected(word)) place(id, id);
  }

  std::uint64_t phrase_key(std::string_view phrase) {
    std::uint64_t key = 0;
    split(phrase, [this, &key](std::string_view part) {
      const std::uint64_t own = table_.stem_id(part);
      if (key == 0) {
        key = table_.find(part).id;
        place(hash_of(part), own).flags |= kStarts;
        if (Entry* entry = found(own)) entry->flags |= kStarts;
        return;
      }
      if (Entry* entry = found(key)) entry->flags |= kStarts;
      key = joined(key, table_.find(part).id);
      place(key, key);
    });
    return key;
  }

  Entry* found(std::uint64_t key) { return const_cast<Entry*>(table_.find_id(key)); }

  Entry& place(std::uint64_t key, std::uint64_t id) {
    if (Entry* entry = found(key)) return *entry;
    if (2 * ++table_.used_ > table_.entries_.size()) {
      std::vector<Entry> old(2 * table_.entries_.size());
      old.swap(table_.entries_);
      for (const Entry& entry : old) {
        if (entry.key != 0) free_place(entry.key) = entry;
      }
    }
    Entry& entry = free_place(key);
    entry.key = key;
    entry.id = id;
    return entry;
  }

  Entry& free_place(std::uint64_t key) {
    const std::size_t mask = table_.entries_.size() - 1;
    std::size_t at = key >> 8U & mask;
    while (table_.entries_[at].key != 0) at = (at + 1) & mask;
    return table_.entries_[at];
  }

  // From 1; 0: there are too many.
  std::uint16_t unit_of(std::string_view name) {
    if (units_.empty()) units_ = {"am", "pm", "day", "month"};
    const auto at = std::find(units_.begin(), units_.end(), name);
    if (at == units_.end()) {
      if (units_.size() == 4000) return 0;
      units_.emplace_back(name);
      return static_cast<std::uint16_t>(units_.size());
    }
    return static_cast<std::uint16_t>(at - units_.begin() + 1);
  }

  void finish() {
    std::stable_sort(poles_.begin(), poles_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, pole] : poles_) {
      Entry& entry = *found(key);
      if (entry.pole_count++ == 0) entry.poles = static_cast<std::uint32_t>(table_.poles_.size());
      table_.poles_.push_back(pole);
    }
    // Of words that are the same, one without opposites has those of the first.
    for (Entry& entry : table_.entries_) {
      if (entry.key == 0 || entry.pole_count > 0 || entry.id == entry.key) continue;
      const Entry* first = table_.find_id(entry.id);
      if (first == nullptr) continue;
      entry.poles = first->poles;
      entry.pole_count = first->pole_count;
    }
    std::stable_sort(
        table_.prefixes_.begin(), table_.prefixes_.end(),
        [](const auto& a, const auto& b) { return a.letters.front() < b.letters.front(); });
    for (std::size_t i = 0; i < 27; ++i) {
      const auto first = static_cast<char>('a' + i);
      table_.prefix_begin_[i] = static_cast<std::uint16_t>(
          std::count_if(table_.prefixes_.begin(), table_.prefixes_.end(),
                        [first](const auto& one) { return one.letters.front() < first; }));
    }
  }

  GuardTable table_;
  std::vector<std::pair<std::uint64_t, Pole>> poles_;
  std::vector<std::string> units_;
  std::size_t line_ = 0;
  bool phrases_ = false;
  std::uint32_t value_ = 0;  // what stands in front of the colon
  std::uint16_t unit_ = 0;
  std::int16_t exponent_ = 0;
};

Result<GuardTable> GuardTable::parse(std::string_view table) {
  return TableReader().read(table);
}

}  // namespace dpcache::text

namespace dpcache {

GuardLanguage::GuardLanguage() {
  static const auto kNone = std::make_shared<const text::GuardTable>();
  table_ = kNone;
}

const GuardLanguage& GuardLanguage::english() {
  static const GuardLanguage kEnglish = [] {
    Result<GuardLanguage> language = parse(english_table());
    return language ? std::move(*language) : GuardLanguage();  // a test holds it to be valid
  }();
  return kEnglish;
}

std::string_view GuardLanguage::english_table() {
  return text::english_guard_table();
}

Result<GuardLanguage> GuardLanguage::parse(std::string_view table) {
  Result<text::GuardTable> read = text::GuardTable::parse(table);
  if (!read) return std::move(read.status);
  return GuardLanguage(std::make_shared<const text::GuardTable>(std::move(*read)));
}

std::uint64_t GuardLanguage::id() const noexcept {
  return table_->id();
}

}  // namespace dpcache
