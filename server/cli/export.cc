// dpcache export: the slots of a memory, as JSON Lines, or as .npy and lines of text.
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/example_json.h"
#include "cli/item_json.h"
#include "cli/memory_file.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/replace_file.h"
#include "cli/signals.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kPage = 256;
constexpr std::size_t kFull = 64 * 1024;

// Standard output, or a file that is there when it is whole.
class Destination {
 public:
  explicit Destination(const std::optional<std::string>& file) {
    if (file) file_.emplace(*file);
  }

  void add(std::string_view bytes) {
    if (!file_) return output_.add(bytes);
    buffer_.append(bytes);
    if (buffer_.size() >= kFull) flush();
  }
  void rewrite_start(std::string_view bytes) {
    flush();
    file_->rewrite_start(bytes);
  }
  void close() {
    if (!file_) return output_.close();
    flush();
    file_->commit();
  }

 private:
  void flush() {
    file_->write(buffer_);
    buffer_.clear();
  }

  std::optional<ReplacedFile> file_;
  std::string buffer_;
  Output output_;
};

// The header of a matrix of float32, of one length whatever the number of rows.
std::string npy_header(std::uint64_t rows, std::uint32_t columns) {
  constexpr std::size_t kSize = 128;
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(kSize - 10);
  header += '\0';
  header += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
            std::to_string(columns) + "), }";
  header.resize(kSize - 1, ' ');
  return header + '\n';
}

class Export {
 public:
  explicit Export(const ExportOptions& options)
      : options_(options),
        memory_(read_memory(options.memory).cache),
        progress_(options.noise == Noise::usual && is_capable_terminal(STDERR_FILENO) &&
                          (options.out || !is_terminal(STDOUT_FILENO))
                      ? Show::yes
                      : Show::no,
                  "slots") {}

  Ending run() {
    if (options_.out) check_replaceable(*options_.out);
    if (options_.vectors) check_replaceable(*options_.vectors);
    Destination lines(options_.out);
    std::optional<Destination> vectors;
    const auto dimension = memory_.config().dimension;
    if (options_.vectors) {
      vectors.emplace(options_.vectors);
      vectors->add(npy_header(0, dimension));
    }
    const std::string encoder = memory_.config().encoder.value_or("");
    std::string text;
    std::uint64_t written = 0;
    SlotId after = 0;
    for (auto page = memory_.slots(after, kPage); !page.empty() && !stopping();
         page = memory_.slots(after, kPage)) {
      for (const auto& slot : page) {
        after = slot.id;
        if (options_.time && slot.expires && *slot.expires <= *options_.time) continue;
        text.clear();
        if (vectors) {
          vectors->add({reinterpret_cast<const char*>(slot.key.data()), slot.key.size_bytes()});
          text = line_of(slot);
        } else {
          write_row(slot, encoder, options_.keys, text);
        }
        lines.add(text);
        ++written;
      }
      progress_.update(grouped(written) + " slots",
                       static_cast<double>(written) / static_cast<double>(memory_.size()));
    }
    progress_.clear();
    if (stopping()) {
      if (options_.out || options_.vectors) {
        say("dpcache: stopped; no file was written");
      } else {
        lines.close();  // whole lines, but not all
      }
      return {Exit::ok, stop_signal()};
    }
    if (vectors) {
      vectors->rewrite_start(npy_header(written, dimension));
      vectors->close();
    }
    lines.close();
    return {};
  }

 private:
  // The text of a slot's first item, on one line.
  static std::string line_of(const Slot& slot) {
    auto line = read_example(slot.payload).text;
    for (char& c : line) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    return line + '\n';
  }

  const ExportOptions& options_;
  Cache memory_;
  Progress progress_;
};

}  // namespace

Ending run_export(const ExportOptions& options) {
  return Export(options).run();
}

}  // namespace dpcache::cli
