// Reads the shared data; data.h says what.
#include "paper/data.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/text.h"

namespace dpcache::paper {
namespace {

using studies::Key;

std::string path_of(const std::string& name) {
  const char* folder = std::getenv("DPCACHE_SHARED_DATA");
  return std::string(folder != nullptr ? folder : "../shared/data") + "/" + name;
}

// The whole file, plain or gzip.
std::string contents(const std::string& name) {
  const std::string path = path_of(name);
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw Missing(path + " is not there");
  std::string text;
  std::vector<char> buffer(1U << 16U);
  int size = 0;
  while ((size = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  gzclose(file);
  if (size < 0) throw std::runtime_error(path + " cannot be read");
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Columns by the names in the first line.
class Table {
 public:
  explicit Table(const std::string& name) : name_(name), text_(contents(name)) {
    std::vector<std::string> lines = split(text_, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (std::string& line : lines) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      rows_.push_back(split(line, '\t'));
      if (rows_.back().size() != rows_.front().size()) {
        throw std::runtime_error(name + ": line " + std::to_string(rows_.size()) +
                                 " has another number of columns than its head");
      }
    }
    heads_ = std::move(rows_.front());
    rows_.erase(rows_.begin());
  }

  std::size_t size() const { return rows_.size(); }
  // Where a column stands.
  std::size_t column(const std::string& head) const {
    const auto found = std::find(heads_.begin(), heads_.end(), head);
    if (found == heads_.end()) throw std::runtime_error(name_ + " has no column " + head);
    return static_cast<std::size_t>(found - heads_.begin());
  }
  const std::string& at(std::size_t row, std::size_t column) const { return rows_[row][column]; }

 private:
  std::string name_;
  std::string text_;
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

// Numbers names in the order in which they come.
class Numbering {
 public:
  std::size_t of(const std::string& name) {
    return numbers_.try_emplace(name, numbers_.size()).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

double median(std::vector<double> list) {
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
  std::nth_element(list.begin(), middle, list.end());
  return *middle;
}

// Eight bands of equal size; equal prices may part.
std::vector<std::size_t> bands(const std::vector<std::vector<double>>& prices) {
  constexpr std::size_t kBands = 8;
  std::vector<double> medians;
  medians.reserve(prices.size());
  for (const std::vector<double>& of_item : prices) medians.push_back(median(of_item));
  std::vector<double> sorted = medians;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> classes;
  for (double price : medians) {
    const auto rank = std::lower_bound(sorted.begin(), sorted.end(), price) - sorted.begin();
    classes.push_back(static_cast<std::size_t>(rank) * kBands / sorted.size());
  }
  return classes;
}

// An item that was not seen before brings its text.
void see(RealStream& stream, std::size_t item, const std::string& text) {
  if (item == stream.texts.size()) stream.texts.push_back(text);
  stream.events.push_back({item, item});
}

std::map<std::string, std::string> descriptions() {
  std::map<std::string, std::string> out;
  const Table table("rec_online_retail/items.tsv");
  const std::size_t code = table.column("stockcode");
  const std::size_t text = table.column("description");
  for (std::size_t i = 0; i < table.size(); ++i) out[table.at(i, code)] = table.at(i, text);
  return out;
}

// Items whose class is the first of two columns that name them.
RealStream two_columns(const std::string& name, const std::string& file, const std::string& kind,
                       const std::string& code) {
  const Table table(file);
  const std::size_t kinds = table.column(kind);
  const std::size_t codes = table.column(code);
  const std::size_t texts = table.column("text");
  RealStream stream;
  stream.name = name;
  Numbering items;
  Numbering classes;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string named = table.at(i, kinds) + " " + table.at(i, codes);
    const std::size_t item = items.of(named);
    if (item == stream.classes.size()) stream.classes.push_back(classes.of(table.at(i, kinds)));
    see(stream, item, named + " " + table.at(i, texts));
  }
  return stream;
}

// \\, \t and \n as the logs' table writes them.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == 't') {
      out += '\t';
    } else if (next == 'n') {
      out += '\n';
    } else {
      if (next != '\\') out += '\\';
      out += next;
    }
  }
  return out;
}

std::string one_blank(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// An array of the NumPy format, version 1: what stands behind its head.
template <class T>
std::vector<T> numpy_array(const std::string& name, std::string_view type) {
  const std::string bytes = contents(name);
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY\x01")) {
    throw std::runtime_error(name + " is no .npy file of version 1");
  }
  const std::size_t begin =
      10U + static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string_view head(bytes.data() + 10, begin - 10);
  if (head.find(type) == std::string_view::npos ||
      head.find("'fortran_order': False") == std::string_view::npos) {
    throw std::runtime_error(name + " is not of type " + std::string(type) + ", row by row");
  }
  std::vector<T> out((bytes.size() - begin) / sizeof(T));
  std::memcpy(out.data(), bytes.data() + begin, out.size() * sizeof(T));
  return out;
}

std::vector<TextPair> pairs(const std::string& file) {
  const Table table(file);
  const std::size_t label = table.column("label");
  const std::size_t a = table.column("text_a");
  const std::size_t b = table.column("text_b");
  std::vector<TextPair> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    out.push_back({table.at(i, label) == "1", "", table.at(i, a), table.at(i, b)});
  }
  return out;
}

std::vector<Utterance> test_split(const std::string& file) {
  const Table table(file);
  const std::size_t split_column = table.column("split");
  const std::size_t intent = table.column("intent");
  const std::size_t text = table.column("text");
  std::vector<Utterance> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.at(i, split_column) == "test")
      out.push_back({table.at(i, intent), table.at(i, text)});
  }
  return out;
}

}  // namespace

double RealStream::largest_class() const {
  std::array<double, studies::kClasses> counts{};
  for (std::size_t one : classes) ++counts.at(one);
  return *std::max_element(counts.begin(), counts.end()) / static_cast<double>(classes.size());
}

RealStream retail() {
  const std::map<std::string, std::string> known = descriptions();
  const Table table("rec_online_retail/events.tsv.gz");
  const std::size_t code = table.column("stockcode");
  const std::size_t price = table.column("unit_price");
  RealStream stream;
  stream.name = "retail";
  Numbering items;
  std::vector<std::vector<double>> prices;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string& named = table.at(i, code);
    const std::size_t item = items.of(named);
    if (item == prices.size()) prices.emplace_back();
    prices[item].push_back(std::strtod(table.at(i, price).c_str(), nullptr));
    const auto text = known.find(named);
    see(stream, item, text == known.end() ? named : named + " " + text->second);
  }
  stream.classes = bands(prices);
  return stream;
}

RealStream retail_by_description() {
  const SentenceVectors vectors;
  const std::map<std::string, std::string> known = descriptions();
  const Table table("rec_online_retail/events.tsv.gz");
  const std::size_t code = table.column("stockcode");
  const std::size_t price = table.column("unit_price");
  RealStream stream;
  stream.name = "retail";
  Numbering items;
  std::vector<std::vector<double>> prices;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto text = known.find(table.at(i, code));
    if (text == known.end() || !vectors.of(text->second)) continue;
    const std::size_t item = items.of(one_blank(text->second));
    if (item == prices.size()) prices.emplace_back();
    prices[item].push_back(std::strtod(table.at(i, price).c_str(), nullptr));
    see(stream, item, one_blank(text->second));
  }
  stream.classes = bands(prices);
  return stream;
}

RealStream clinical() {
  return two_columns("clinical", "clinical_synthea27nj/events.tsv.gz", "kind", "code");
}

RealStream claims() {
  return two_columns("claims", "insurance_synthea_claims/claim_lines.tsv", "type",
                     "procedure_code");
}

std::vector<RealStream> logs(std::uint64_t seed) {
  const Table table("loghub2k/loghub2k.tsv.gz");
  const std::size_t name = table.column("dataset");
  const std::size_t corrected = table.column("event_corrected");
  const std::size_t original = table.column("event_orig");
  const std::size_t content = table.column("content");
  EncoderConfig config;
  config.masks = Masks::all();
  const Encoder encoder = *Encoder::create(config);
  studies::Random random(seed);
  std::vector<RealStream> out;
  Numbering texts;
  Numbering items;
  Numbering originals;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (out.empty() || out.back().name != table.at(i, name)) {
      out.emplace_back().name = table.at(i, name);
      texts = items = originals = Numbering();
    }
    RealStream& log = out.back();
    const std::string masked = *encoder.mask(unescaped(table.at(i, content)));
    const std::size_t text = texts.of(masked);
    if (text == log.texts.size()) log.texts.push_back(masked);
    const std::size_t item = items.of(table.at(i, corrected));
    if (item == log.classes.size()) log.classes.push_back(random.below(studies::kClasses));
    log.events.push_back({text, item});
    log.original.push_back(originals.of(table.at(i, original)));
  }
  return out;
}

std::vector<std::vector<std::string>> log_messages() {
  const Table table("loghub2k/loghub2k.tsv.gz");
  const std::size_t name = table.column("dataset");
  const std::size_t content = table.column("content");
  std::vector<std::vector<std::string>> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i == 0 || table.at(i, name) != table.at(i - 1, name)) out.emplace_back();
    out.back().push_back(unescaped(table.at(i, content)));
  }
  return out;
}

SentenceVectors::SentenceVectors() {
  const Table table("embeddings_use/open.texts.tsv");
  const auto bytes = numpy_array<std::int8_t>("embeddings_use/open.use128.i8.npy", "'|i1'");
  constexpr std::size_t kDimension = 128;
  if (bytes.size() != table.size() * kDimension) {
    throw std::runtime_error("embeddings_use: as many vectors as texts are needed");
  }
  const std::size_t text = table.column("text");
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto* row = bytes.data() + i * kDimension;
    keys_.emplace(one_blank(table.at(i, text)),
                  studies::unit(std::vector<double>(row, row + kDimension)));
  }
}

std::optional<Key> SentenceVectors::of(std::string_view text) const {
  const auto found = keys_.find(one_blank(text));
  if (found == keys_.end()) return std::nullopt;
  return found->second;
}

WordVectors::WordVectors() {
  constexpr std::size_t kDimension = 100;
  const auto bytes = numpy_array<std::int8_t>("glove_wink_30k/vectors.i8.npy", "'|i1'");
  const auto scale = numpy_array<float>("glove_wink_30k/scale.f32.npy", "'<f4'");
  const auto common = numpy_array<float>("glove_wink_30k/pc1.f32.npy", "'<f4'");
  common_.assign(common.begin(), common.end());
  std::vector<std::string> words = split(contents("glove_wink_30k/words.txt"), '\n');
  if (words.back().empty()) words.pop_back();
  if (words.size() != scale.size() || bytes.size() != words.size() * kDimension) {
    throw std::runtime_error("glove_wink_30k: as many vectors as words are needed");
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    ranks_.emplace(words[i], i);
    std::vector<double>& vector = vectors_.emplace_back();
    for (std::size_t j = 0; j < kDimension; ++j) {
      vector.push_back(static_cast<double>(bytes[i * kDimension + j]) *
                       static_cast<double>(scale[i]));
    }
  }
}

std::optional<Key> WordVectors::of(std::string_view text) const {
  constexpr double kSmoothing = 1e-3;         // a of a / (a + p)
  const double all_words = std::log(341479);  // in the list that these 30,000 are the head of
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::vector<double> sum(common_.size(), 0.0);
  double known = 0.0;
  for (std::size_t begin = 0, end = 0; begin < lower.size(); begin = end) {
    end = begin + 1;
    if (letter(lower[begin])) {  // with one apostrophe: don't
      while (end < lower.size() && letter(lower[end])) ++end;
      if (end + 1 < lower.size() && lower[end] == '\'' && letter(lower[end + 1])) {
        ++end;
        while (end < lower.size() && letter(lower[end])) ++end;
      }
    } else if (digit(lower[begin])) {
      while (end < lower.size() && digit(lower[end])) ++end;
    }
    const auto found = ranks_.find(lower.substr(begin, end - begin));
    if (found == ranks_.end()) continue;
    const double p = 1.0 / ((static_cast<double>(found->second) + 10.0) * all_words);
    for (std::size_t j = 0; j < sum.size(); ++j) {
      sum[j] += kSmoothing / (kSmoothing + p) * vectors_[found->second][j];
    }
    ++known;
  }
  if (known == 0.0) return std::nullopt;
  double along = 0.0;
  for (std::size_t j = 0; j < sum.size(); ++j) along += sum[j] * common_[j];
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] -= along * common_[j];
  return studies::unit(sum);
}

std::vector<TextPair> paws() {
  return pairs("pairs_paws/paws_wiki_test.tsv");
}

std::vector<TextPair> negations() {
  return pairs("pairs_negation/semantoneg.tsv");
}

std::vector<TextPair> probes() {
  std::vector<TextPair> out = pairs("probes_selfmade/probes.tsv");
  const Table table("probes_selfmade/probes.tsv");
  const std::size_t kind = table.column("kind");
  for (std::size_t i = 0; i < table.size(); ++i) out[i].kind = table.at(i, kind);
  return out;
}

std::vector<Utterance> banking() {
  return test_split("intents_banking77/banking77.tsv");
}

std::vector<Utterance> assistant() {
  return test_split("intents_clinc150/clinc150.tsv.gz");
}

}  // namespace dpcache::paper
