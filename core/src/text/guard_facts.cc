// Facts out of words; the names of guards.
#include <algorithm>
#include <cstring>
#include <utility>

#include "dpcache/guards.h"
#include "text/guard_cells.h"
#include "text/guard_read.h"
#include "text/guard_table.h"

namespace dpcache {
namespace text {
namespace {

constexpr std::size_t kPolesOfWord = 6;

constexpr std::pair<std::uint32_t, std::uint64_t> kTokenFlags[] = {
    {kDenies, kInDenial}, {kYields, kInSoft}, {kName, kInName}, {kNumber, kInNumber},
    {kCode, kInCode},     {kWeak, kInWeak},   {kVerb, kInVerb}, {kComma, kInComma},
    {kForm, kInForm},     {kUpper, kInUpper}, {kTied, kInTied}, {kFirst, kInFirst},
};

std::uint64_t number_hash(const GuardToken& token) {
  if (token.unit == kUnitDay) return token.digits;
  const bool below = (token.flags & kBelow) != 0;
  return mix64(token.digits +
               static_cast<std::uint64_t>(static_cast<std::int64_t>(token.exponent)) * 4 +
               (below ? 2 : 0) + ((token.flags & kParts) != 0 ? 1 : 0));
}

std::uint64_t word_cell(const GuardToken& token) {
  std::uint64_t bits = 0;
  for (const auto& [from, to] : kTokenFlags) {
    if ((token.flags & from) != 0) bits |= to;
  }
  const std::uint32_t flags = token.entry == nullptr ? 0 : token.entry->flags;
  if ((token.flags & kName) == 0) {
    if ((flags & (kFunction | kCue)) != 0 || (token.flags & (kTied | kNumber)) != 0) {
      bits |= kInFunction;
    }
    if ((flags & kArticle) != 0) bits |= kInArticle;
    if ((flags & kLimit) != 0) bits |= kInLimit;
    if ((flags & kSymmetric) != 0) bits |= kInSymmetric;
  }
  if (token.letter >= 'a' && token.letter <= 'z') {
    bits |= std::uint64_t{static_cast<unsigned>(token.letter - 'a') + 1} << kLetterShift;
  }
  const bool number = (token.flags & kNumber) != 0;
  const std::uint64_t hash = number ? mix64(number_hash(token) + 1) : token.id;
  return hash >> kWordBits << kWordBits | bits;
}

// The opposites that a word has, by the table and by how it is made.
class Poles {
 public:
  Poles(const GuardTable& table, std::string_view text) : table_(table), text_(text) {}

  std::size_t of(const GuardToken& token, std::size_t word, std::uint64_t* out) {
    out_ = out;
    count_ = 0;
    word_ = word;
    denies_ = false;
    if ((token.flags & (kDigits | kTied | kCode | kWeak)) != 0) return 0;
    if (token.entry != nullptr) {
      for (const Pole& pole : table_.poles(*token.entry)) add(pole.key, pole.group, pole.groups);
      if ((token.entry->flags & (kFunction | kValue)) != 0) return count_;
    }
    made(token);
    return count_;
  }

  // The last one denies a word of the table by its form: unfair.
  bool denies() const { return denies_; }

 private:
  void add(std::uint64_t key, unsigned group, unsigned groups) {
    if (count_ < kPolesOfWord) out_[count_++] = pole_cell(key, word_, group, groups);
  }

  void made(const GuardToken& token) {
    char form[kMaxWord];
    std::size_t size = 0;
    if (token.end - token.begin > kMaxWord || token.letter == 0) return;
    for (std::size_t i = token.begin; i < token.end; ++i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (c == '-') continue;
      form[size++] = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20U : c);
    }
    const std::string_view word(form, size);
    for (const GuardTable::Prefix& prefix : table_.prefixes(word.empty() ? '\0' : word.front())) {
      if (size < prefix.size + std::size_t{prefix.least} ||
          std::memcmp(form, prefix.letters.data(), prefix.size) != 0) {
        continue;
      }
      const GuardTable::Found rest = table_.find(word.substr(prefix.size));
      if (prefix.pair != 0) {
        add(joined(prefix.pair, rest.id), prefix.group, 2);
        continue;
      }
      add(rest.id, 0, 0);
      if (rest.entry == nullptr || (rest.entry->flags & kFunction) != 0) continue;
      denies_ = true;
      for (const Pole& pole : table_.poles(*rest.entry)) {
        if (pole.groups == 2) add(pole.key, 1U - pole.group, 2);
      }
    }
    for (const GuardTable::Prefix& ending : table_.endings()) {
      if (size < ending.size + std::size_t{ending.least} ||
          std::memcmp(form + size - ending.size, ending.letters.data(), ending.size) != 0) {
        continue;
      }
      const std::size_t rest = size - ending.size;
      add(joined(ending.pair, table_.find(word.substr(0, rest)).id), ending.group, 2);
    }
  }

  const GuardTable& table_;
  std::string_view text_;
  std::uint64_t* out_ = nullptr;
  std::size_t count_ = 0;
  std::size_t word_ = 0;
  bool denies_ = false;
};

}  // namespace

std::vector<std::uint64_t> pack(Reading& reading, const GuardTable& table) {
  std::uint64_t poles[kMaxPoles];
  std::size_t pole_count = 0;
  std::size_t number_count = 0;
  Poles finder(table, reading.text);
  for (std::size_t i = 0; i < reading.count; ++i) {
    if (pole_count + kPolesOfWord <= kMaxPoles) {
      pole_count += finder.of(reading.tokens[i], i, poles + pole_count);
      if (finder.denies()) reading.tokens[i].flags |= kYields;
    }
    if ((reading.tokens[i].flags & kNumber) != 0) ++number_count;
  }
  std::vector<std::uint64_t> cells;
  cells.reserve(kHeadCells + reading.count + pole_count + number_count);
  cells.push_back(head_cell(reading.count, pole_count, number_count));
  cells.push_back(table.id());
  for (std::size_t i = 0; i < reading.count; ++i) cells.push_back(word_cell(reading.tokens[i]));
  cells.insert(cells.end(), poles, poles + pole_count);
  for (std::size_t i = 0; i < reading.count; ++i) {
    const GuardToken& token = reading.tokens[i];
    if ((token.flags & kNumber) == 0) continue;
    cells.push_back(
        number_cell(number_hash(token), token.unit, i, (token.flags & kGuess) != 0 ? 1 : 0));
  }
  return cells;
}

}  // namespace text

Result<GuardSet> GuardSet::parse(std::string_view names) {
  if (names == "all") return all();
  GuardSet set;
  if (names == "none") return set;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    const auto* const found = std::find(kGuardNames.begin(), kGuardNames.end(), name);
    if (found == kGuardNames.end()) {
      std::string detail = "there is no guard '";
      detail.append(name).append("'; there are");
      for (const std::string_view guard : kGuardNames) detail.append(" ").append(guard).append(",");
      detail += " all and none";
      return Status{Error::bad_config, 0, "/guards", std::move(detail)};
    }
    set.add(static_cast<Guard>(found - kGuardNames.begin()));
    begin = end + 1;
  }
  return set;
}

std::vector<std::string_view> GuardSet::list() const {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < kGuards; ++i) {
    if (has(static_cast<Guard>(i))) out.push_back(kGuardNames[i]);
  }
  return out;
}

std::string GuardSet::names() const {
  std::string out;
  for (const std::string_view name : list()) {
    if (!out.empty()) out += ',';
    out += name;
  }
  return out.empty() ? "none" : out;
}

GuardFacts guard_facts(std::string_view text, const GuardLanguage& language) {
  text::Reading reading;
  text::read_guarded(text, language.table(), reading);
  GuardFacts facts;
  GuardFactsAccess::cells(facts) = text::pack(reading, language.table());
  return facts;
}

Result<GuardFacts> GuardFacts::from_cells(std::span<const std::uint64_t> cells) {
  GuardFacts facts;
  if (cells.empty()) return facts;
  const auto refuse = [](const char* why) { return Status{Error::bad_snapshot, 0, "", why}; };
  if (cells.size() < text::kHeadCells) return refuse("guard facts are cut");
  if (cells[0] >> 48U != text::kFactsVersion) return refuse("guard facts of another version");
  const std::size_t words = cells[0] >> 32U & 0xFFFFU;
  const std::size_t poles = cells[0] >> 16U & 0xFFFFU;
  const std::size_t numbers = cells[0] & 0xFFFFU;
  if (words > kMaxGuardWords || poles > text::kMaxPoles || numbers > words ||
      cells.size() != text::kHeadCells + words + poles + numbers) {
    return refuse("guard facts do not have as many cells as they say");
  }
  const text::Cells open = text::open_cells(cells);
  for (const std::uint64_t pole : open.poles) {
    if (text::pole_word(pole) >= words) return refuse("guard facts name a word that is none");
  }
  for (const std::uint64_t number : open.numbers) {
    if (text::number_word(number) >= words) return refuse("guard facts name a word that is none");
  }
  facts.cells_.assign(cells.begin(), cells.end());
  return facts;
}

GuardSet guards_between(const GuardFacts& a, const GuardFacts& b, GuardSet on) noexcept {
  if (a.empty() || b.empty() || on.empty()) return {};
  return text::compare_cells(a.cells(), b.cells(), on, nullptr);
}

namespace {

class Spelled final : public text::FindingSink {
 public:
  Spelled(const text::Reading& a, const text::Reading& b) : a_(a), b_(b) {}
  void found(const text::Finding& finding) override {
    findings.push_back({finding.guard, word(a_, finding.a), word(b_, finding.b)});
  }
  std::vector<GuardFinding> findings;

 private:
  static std::string word(const text::Reading& reading, std::size_t i) {
    if (i >= reading.count) return {};
    const text::GuardToken& token = reading.tokens[i];
    return std::string(reading.text.substr(token.begin, token.end - token.begin));
  }
  const text::Reading& a_;
  const text::Reading& b_;
};

}  // namespace

std::vector<GuardFinding> explain_guards(std::string_view a, std::string_view b, GuardSet on,
                                         const GuardLanguage& language) {
  const auto readings = std::make_unique<std::array<text::Reading, 2>>();  // large for two
  auto& [first, second] = *readings;
  text::read_guarded(a, language.table(), first);
  text::read_guarded(b, language.table(), second);
  Spelled spelled(first, second);
  text::compare_cells(text::pack(first, language.table()), text::pack(second, language.table()), on,
                      &spelled);
  return std::move(spelled.findings);
}

}  // namespace dpcache
