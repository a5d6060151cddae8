// Templates as bytes, and back. Little-endian; strings and lists with their length in front.
//
// A file begins with a mark, a version, its own size and a checksum over all of it. What passes the
// checksum is still checked: nothing in it can make the program read or write out of bounds, or
// take more memory than a small multiple of the file.
#include <algorithm>
#include <cstring>
#include <utility>

#include "hash.h"
#include "numerics.h"
#include "text/template_state.h"

namespace dpcache {

using text::Element;
using text::Entry;
using text::Shape;
using text::Word;

namespace {

constexpr std::string_view kMark = "DPCTMPLS";
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kOldestVersion = 1;  // knew no lists of words
constexpr std::size_t kSizeAt = 12;
constexpr std::size_t kChecksumAt = 20;
constexpr std::size_t kHeader = 28;

class Writer {
 public:
  template <class T>
  void number(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void string(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  void size(std::size_t size) { number(static_cast<std::uint32_t>(size)); }
  std::vector<std::byte> finish() {
    const std::uint64_t size = bytes_.size();
    std::memcpy(bytes_.data() + kSizeAt, &size, sizeof size);
    const std::uint64_t sum = hash64_with_blank(bytes_, kChecksumAt, sizeof(std::uint64_t));
    std::memcpy(bytes_.data() + kChecksumAt, &sum, sizeof sum);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

// Reads in order; after the first thing that is not there, everything is zero and good() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  T number() {
    T value{};
    if (left_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return value;
  }
  std::string string(std::size_t most) {
    const auto size = number<std::uint32_t>();
    if (size > most || size > left_.size()) {
      fail();
      return "";
    }
    std::string text(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return text;
  }
  // A list's length: each of its members takes at least `each` bytes.
  std::size_t size(std::size_t most, std::size_t each) {
    const auto size = number<std::uint32_t>();
    if (size > most || size > left_.size() / each) {
      fail();
      return 0;
    }
    return size;
  }
  std::uint8_t below(std::uint8_t end) {
    const auto value = number<std::uint8_t>();
    if (value < end) return value;
    fail();
    return 0;
  }
  void require(bool holds) {
    if (!holds) fail();
  }
  bool good() const { return good_; }
  bool at_end() const { return left_.empty(); }

 private:
  void fail() {
    good_ = false;
    left_ = {};
  }
  std::span<const std::byte> left_;
  bool good_ = true;
};

Status bad(std::string detail) {
  return {Error::bad_snapshot, 0, "", std::move(detail)};
}

void write_config(const TemplateConfig& config, Writer& to) {
  to.number(config.tau);
  const Masks& masks = config.masks;
  for (const bool on : {masks.number, masks.hex, masks.ip, masks.uuid, masks.time, masks.path}) {
    to.number(static_cast<std::uint8_t>(on));
  }
  to.number(config.structure);
  to.number(config.codes);
  to.number(config.max_templates);
  to.number(config.max_line);
  to.number(config.examples);
  to.number(config.values);
  to.size(masks.own.size());
  for (const Pattern& pattern : masks.own) {
    to.string(pattern.name);
    to.string(pattern.source);
  }
}

TemplateConfig read_config(Reader& from) {
  TemplateConfig config;
  config.tau = from.number<float>();
  Masks& masks = config.masks;
  for (bool* on : {&masks.number, &masks.hex, &masks.ip, &masks.uuid, &masks.time, &masks.path}) {
    *on = from.below(2) != 0;
  }
  config.structure = static_cast<Structure>(from.below(2));
  config.codes = static_cast<Codes>(from.below(2));
  config.max_templates = from.number<std::uint32_t>();
  config.max_line = from.number<std::uint32_t>();
  config.examples = from.number<std::uint32_t>();
  config.values = from.number<std::uint32_t>();
  const std::size_t own = from.size(100, 8);
  for (std::size_t i = 0; i < own; ++i) {
    Pattern pattern;
    pattern.name = from.string(64);
    pattern.source = from.string(1U << 20U);
    masks.own.push_back(std::move(pattern));
  }
  return config;
}

void write_element(const Element& element, Writer& to) {
  to.number(element.before_hash);
  to.number(element.form_hash);
  to.string(element.before);
  to.string(element.form);
  to.number(element.word);
  to.number(element.prefix);
  to.number(element.suffix);
  to.number(element.mask);
  to.number(static_cast<std::uint8_t>(element.varies));
  to.number(static_cast<std::uint8_t>(element.words ? 2 : element.list ? 1 : 0));
  to.size(element.values.size());
  for (const text::ValueCount& value : element.values) {
    to.number(value.hash);
    to.string(value.text);
    to.number(value.count);
  }
  to.number(element.others);
}

Element read_element(Reader& from, std::size_t masks) {
  Element element;
  element.before_hash = from.number<std::uint64_t>();
  element.form_hash = from.number<std::uint64_t>();
  element.before = from.string(text::kPartSize);
  element.form = from.string(text::kPartSize);
  element.word = from.number<std::int32_t>();
  element.prefix = from.number<std::uint32_t>();
  element.suffix = from.number<std::uint32_t>();
  element.mask = from.number<std::uint8_t>();
  from.require(element.mask == text::kNoMask || element.mask < masks);
  element.varies = from.below(2) != 0;
  const std::uint8_t list = from.below(3);
  element.list = list != 0;
  element.words = list == 2;
  const std::size_t values = from.size(text::kMaxValues, 20);
  for (std::size_t i = 0; i < values; ++i) {
    text::ValueCount value;
    value.hash = from.number<std::uint64_t>();
    value.text = from.string(text::kValueSize);
    value.count = from.number<std::uint64_t>();
    element.values.push_back(std::move(value));
  }
  element.others = from.number<std::uint64_t>();
  return element;
}

void write_entry(const Entry& entry, Writer& to) {
  to.number(entry.id);
  to.number(entry.count);
  to.number(entry.shapeless);
  to.string(entry.origin);
  to.size(entry.examples.size());
  for (const std::string& example : entry.examples) to.string(example);
  to.size(entry.words.size());
  for (const Word& word : entry.words) {
    to.number(word.hash);
    to.string(word.text);
    to.number(word.kind);
    to.number(static_cast<std::uint8_t>(word.run));
    to.number(static_cast<std::uint8_t>(word.fixed));
    to.number(word.prefix);
    to.number(word.suffix);
  }
  to.size(entry.shapes.size());
  for (const auto& shape : entry.shapes) {
    to.number(shape->key);
    to.number(shape->count);
    to.string(shape->tail);
    to.size(shape->elements.size());
    for (const Element& element : shape->elements) write_element(element, to);
  }
}

Word read_word(Reader& from) {
  Word word;
  word.hash = from.number<std::uint64_t>();
  word.text = from.string(text::kMaxRun);
  word.kind = static_cast<Word::Kind>(from.below(3));
  word.run = from.below(2) != 0;
  word.fixed = from.below(2) != 0;
  word.prefix = from.number<std::uint32_t>();
  word.suffix = from.number<std::uint32_t>();
  from.require(std::uint64_t{word.prefix} + word.suffix <= word.text.size());
  from.require(word.kind != Word::Kind::partial || word.run);
  return word;
}

// `masks`: how many there are.
std::unique_ptr<Entry> read_entry(Reader& from, const TemplateConfig& config, std::size_t masks) {
  auto entry = std::make_unique<Entry>();
  entry->id = from.number<std::uint64_t>();
  entry->count = from.number<std::uint64_t>();
  entry->shapeless = from.number<std::uint64_t>();
  entry->origin = from.string(text::kOriginSize);
  const std::size_t examples = from.size(config.examples, 4);
  for (std::size_t i = 0; i < examples; ++i) {
    entry->examples.push_back(from.string(text::kExampleSize));
  }
  const std::size_t words = from.size(text::kMaxTokens, 23);
  from.require(words >= 1);
  for (std::size_t i = 0; i < words && from.good(); ++i) entry->words.push_back(read_word(from));
  const std::size_t shapes = from.size(text::kMaxShapes, 24);
  std::uint64_t lines = entry->shapeless;
  for (std::size_t i = 0; i < shapes && from.good(); ++i) {
    auto shape = std::make_unique<Shape>();
    shape->owner = entry.get();
    shape->key = from.number<std::uint64_t>();
    shape->count = from.number<std::uint64_t>();
    lines += shape->count;
    shape->tail = from.string(text::kPartSize);
    const std::size_t elements = from.size(text::kMaxTokens, 51);
    std::int32_t next = 0;
    for (std::size_t k = 0; k < elements && from.good(); ++k) {
      shape->elements.push_back(read_element(from, masks));
      const std::int32_t word = shape->elements.back().word;
      from.require(word == -1 || word == next);
      if (word == next) ++next;
    }
    // All words in their order, or none: then the shape stands for them.
    from.require(static_cast<std::size_t>(next) == words || (next == 0 && words == 1));
    if (from.good()) Templates::State::key_again(*shape, *entry);
    entry->shapes.push_back(std::move(shape));
  }
  from.require(lines == entry->count && entry->count > 0);
  return entry;
}

Status check_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeader || std::memcmp(bytes.data(), kMark.data(), kMark.size()) != 0) {
    return bad("it does not begin as templates do");
  }
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kMark.size(), sizeof version);
  if (version < kOldestVersion || version > kVersion) {
    return bad("the templates have format " + std::to_string(version) + "; this build reads " +
               std::to_string(kOldestVersion) + " to " + std::to_string(kVersion));
  }
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + kSizeAt, sizeof size);
  if (size != bytes.size()) {
    return bad("it has " + std::to_string(bytes.size()) + " bytes and should have " +
               std::to_string(size));
  }
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + kChecksumAt, sizeof sum);
  if (sum != hash64_with_blank(bytes, kChecksumAt, sizeof sum)) return bad("the checksum is wrong");
  return {};
}

}  // namespace

std::vector<std::byte> Templates::save() const {
  Writer to;
  for (const char c : kMark) to.number(c);
  to.number(kVersion);
  to.number(std::uint64_t{0});
  to.number(std::uint64_t{0});
  write_config(state_->config, to);
  to.number(state_->lines);
  to.number(state_->next_id);
  to.size(state_->entries.size());
  for (const auto& entry : state_->entries) write_entry(*entry, to);
  return to.finish();
}

Result<std::vector<Pattern>> Templates::patterns_of(std::span<const std::byte> bytes) {
  if (Status status = check_header(bytes); !status) return status;
  Reader from(bytes.subspan(kHeader));
  TemplateConfig config = read_config(from);
  if (!from.good()) return bad("its settings are cut short");
  return std::move(config.masks.own);
}

Result<Templates> Templates::load(std::span<const std::byte> bytes, std::vector<Pattern> own) {
  if (Status status = check_header(bytes); !status) return status;
  Reader from(bytes.subspan(kHeader));
  TemplateConfig config = read_config(from);
  if (!from.good()) return bad("its settings are cut short");
  const auto same = [](const Pattern& a, const Pattern& b) {
    return a.name == b.name && a.source == b.source;
  };
  if (!std::equal(own.begin(), own.end(), config.masks.own.begin(), config.masks.own.end(), same)) {
    return Status{Error::encoder_mismatch, 0, "", "the templates have other masks of their own"};
  }
  config.masks.own = std::move(own);
  Result<Templates> templates = create(std::move(config));
  if (!templates) return bad("its settings are out of range: " + templates.status.detail);
  State& state = *templates->state_;
  const std::size_t masks = text::kBuiltinMasks + state.own_names.size();
  state.lines = from.number<std::uint64_t>();
  state.next_id = from.number<std::uint64_t>();
  const std::size_t entries = from.size(state.config.max_templates, 40);
  std::uint64_t lines = 0;
  TemplateId last = 0;
  for (std::size_t i = 0; i < entries && from.good(); ++i) {
    std::unique_ptr<Entry> entry = read_entry(from, state.config, masks);
    from.require(entry->id > last && entry->id < state.next_id);
    from.require(entry->count <= state.lines - std::min(lines, state.lines));
    if (!from.good()) break;
    last = entry->id;
    lines += entry->count;
    for (const auto& shape : entry->shapes) state.put_shape(*shape);
    state.add_to_index(*entry);
    state.update_lists(*entry);
    state.entries.push_back(std::move(entry));
  }
  if (!from.good() || !from.at_end()) return bad("its templates contradict themselves");
  return templates;
}

}  // namespace dpcache
