// The rows of a file that is to be imported.
#include "cli/import_rows.h"

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/failure.h"
#include "cli/lines.h"
#include "cli/memory_file.h"
#include "cli/npy.h"
#include "cli/safetensors.h"
#include "cli/scale.h"
#include "cli/signals.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kPage = 256;
constexpr std::size_t kMarked = 64 * 1024;  // bytes of a file that its fingerprint sees

class JsonRows : public ImportRows {
 public:
  JsonRows(Input input, const std::string& file) : ImportRows("line"), lines_(std::move(input)) {
    examples_.set_file(file);
  }

  bool next(ImportRow& row, std::string& fault) override {
    std::string_view line;
    do {
      if (!read(line)) return false;
    } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
    fault = read_row(line, row);
    if (fault.empty() && row.text && row.payload.empty()) {
      row.payload = examples_.write(*row.text, number());
    }
    return true;
  }
  bool skip() override {
    std::string_view line;
    return read(line);
  }
  const Input* input() const noexcept override { return &lines_.input(); }

 private:
  bool read(std::string_view& line) {
    if (stopping() || !lines_.next_or_last(line)) return false;
    count();
    return true;
  }

  LineReader lines_;
  ExampleWriter examples_;
};

// Vectors, each with a line of text for its payload, or with its number.
class MatrixRows : public ImportRows {
 public:
  MatrixRows(NpyReader rows, const ImportOptions& options)
      : ImportRows("row"), rows_(std::move(rows)), scale_(options.scale, rows_, 1) {
    if (options.labels) labels_.emplace(Input(*options.labels));
    examples_.set_file(options.file);
  }

  bool next(ImportRow& row, std::string& fault) override {
    fault.clear();
    row = {};
    row.key.resize(rows_.columns());
    if (!read(row.key)) return false;
    row.payload = examples_.write(text(), number());
    return true;
  }
  bool skip() override {
    passed_.resize(rows_.columns());
    if (!read(passed_)) return false;
    text();
    return true;
  }
  const Input* input() const noexcept override { return &rows_.input(); }

 private:
  bool read(std::vector<float>& key) {
    if (stopping()) return false;
    if (!rows_.next(key)) {
      if (std::string_view more; !stopping() && labels_ && labels_->next_or_last(more)) {
        throw Failure(Exit::input, labels_->input().title() + ": has more lines than " +
                                       rows_.input().title() + " has rows, " +
                                       std::to_string(rows_.rows()) + " (one line a row)");
      }
      return false;
    }
    count();
    scale_.apply(key);
    return true;
  }

  std::string_view text() {
    if (!labels_) return name_ = std::to_string(number());
    std::string_view line;
    if (!labels_->next(line)) {
      line = labels_->take_rest();
      if (line.empty() && !stopping()) {
        throw Failure(Exit::input, labels_->input().title() + ": has " +
                                       std::to_string(number() - 1) + " lines, " +
                                       rows_.input().title() + " has " +
                                       std::to_string(rows_.rows()) + " rows (one line a row)");
      }
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  NpyReader rows_;
  Scale scale_;
  std::optional<LineReader> labels_;
  ExampleWriter examples_;
  std::string name_;
  std::vector<float> passed_;
};

// The slots of another memory.
class MemoryRows : public ImportRows {
 public:
  explicit MemoryRows(const std::string& file)
      : ImportRows("slot"), cache_(read_memory(file).cache) {}

  bool next(ImportRow& row, std::string& fault) override {
    fault.clear();
    if (!skip()) return false;
    const Slot& slot = page_[at_ - 1];
    row = {};
    row.key.assign(slot.key.begin(), slot.key.end());
    row.value.assign(slot.value.begin(), slot.value.end());
    row.payload = slot.payload;
    row.exact_keys.assign(slot.exact_keys.begin(), slot.exact_keys.end());
    row.time = slot.first_time;
    if (slot.expires) row.ttl_ms = *slot.expires - slot.first_time;
    row.encoder = cache_.config().encoder.value_or("");
    return true;
  }
  bool skip() override {
    if (stopping()) return false;
    if (at_ == page_.size()) {
      page_ = cache_.slots(after_, kPage);
      at_ = 0;
      if (page_.empty()) return false;
      after_ = page_.back().id;
    }
    ++at_;
    count();
    return true;
  }
  const Input* input() const noexcept override { return nullptr; }

 private:
  Cache cache_;
  std::vector<Slot> page_;
  std::size_t at_ = 0;
  SlotId after_ = 0;
};

// Whether a safetensors file is one of this project's memories: the name stands in its header.
bool is_memory(Input& input, std::string_view start) {
  std::uint64_t length = 0;
  std::copy_n(start.data(), sizeof length, reinterpret_cast<char*>(&length));
  const auto header = input.head(sizeof length + static_cast<std::size_t>(length));
  return header.find("\"dpcache.format_version\"") != std::string_view::npos;
}

}  // namespace

std::unique_ptr<ImportRows> open_rows(const ImportOptions& options) {
  Input input(options.file);
  const std::string start(input.head(16));
  const bool matrix = start.starts_with(kNpyMagic);
  const bool tensors = !matrix && looks_like_safetensors(start);
  if (!matrix && !tensors && (options.labels || options.scale || options.tensor)) {
    throw Failure(Exit::usage,
                  "--text, --scale and --tensor are for vectors: FILE must be .npy or safetensors");
  }
  if (matrix) {
    if (options.tensor) throw Failure(Exit::usage, "--tensor is for safetensors files");
    return std::make_unique<MatrixRows>(NpyReader(std::move(input)), options);
  }
  if (!tensors) return std::make_unique<JsonRows>(std::move(input), options.file);
  if (!options.tensor && is_memory(input, start)) {
    if (!input.is_file() || input.is_gzip() || options.file == "-") {
      throw Failure(Exit::input, input.title() + ": is a memory, which must be a plain file");
    }
    if (options.labels || options.scale) {
      throw Failure(Exit::usage, "--text and --scale do not go with a memory, which has payloads");
    }
    return std::make_unique<MemoryRows>(options.file);
  }
  return std::make_unique<MatrixRows>(
      NpyReader::of_safetensors(std::move(input), options.tensor.value_or("keys")), options);
}

std::optional<std::string> fingerprint_of(const std::string& file) {
  struct stat stat {};
  if (file == "-" || ::stat(file.c_str(), &stat) != 0 || !S_ISREG(stat.st_mode)) {
    return std::nullopt;  // opening a pipe twice would wait, or take what is another's
  }
  Input input(file);
  if (!input.size()) return std::nullopt;
  // FNV-1a, 64 bits.
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001B3ULL; };
  for (const char c : input.head(kMarked)) add(static_cast<unsigned char>(c));
  for (unsigned shift = 0; shift < 64; shift += 8) add(*input.size() >> shift & 255U);
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace dpcache::cli
