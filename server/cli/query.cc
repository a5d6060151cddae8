// dpcache query: does a memory know this?
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/encoding.h"
#include "cli/lines.h"
#include "cli/npy.h"
#include "cli/scale.h"
#include "cli/session.h"
#include "cli/signals.h"

namespace dpcache::cli {
namespace {

class Query {
 public:
  explicit Query(const QueryCommandOptions& options)
      : options_(options),
        memory_(read_memory(options.memory).cache),
        printer_(options.format == Format::json ? json_answers(output_) : text_answers(output_)) {}

  Ending run() {
    if (options_.vectors) {
      ask_vectors();
    } else {
      ask_texts();
    }
    output_.close();
    if (stopping()) return {Exit::ok, stop_signal()};
    return {all_known_ ? Exit::ok : Exit::negative};
  }

 private:
  void ask_texts() {
    EncoderOptions own;
    own.own = options_.own;
    const auto encoder = encoder_of(memory_, own, options_.memory);
    RecentVectors vectors(encoder);
    for (const auto& text : options_.texts) ask(text, vectors.of(text), "");
    if (!options_.texts.empty()) return;
    Input input("-");
    input.on_idle([this] { output_.flush(); });
    LineReader lines(std::move(input));
    for (std::string_view line; !stopping() && lines.next_or_last(line);) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      ask(line, vectors.of(line), "");
    }
  }

  void ask_vectors() {
    NpyReader rows(Input{*options_.vectors});
    const auto& config = memory_.config();
    if (rows.columns() != config.dimension) {
      throw Failure(Exit::input, *options_.vectors + ": has vectors of length " +
                                     std::to_string(rows.columns()) + ", " + options_.memory +
                                     " holds vectors of length " +
                                     std::to_string(config.dimension));
    }
    if (config.encoder && config.encoder != options_.made_by) {
      throw Failure(Exit::memory, options_.memory + ": holds vectors made by '" + *config.encoder +
                                      "' (say --encoder if these are too)");
    }
    Scale scale(options_.scale, rows, 1);
    std::vector<float> key(rows.columns());
    for (std::uint64_t row = 1; !stopping() && rows.next(key); ++row) {
      scale.apply(key);
      ask(std::to_string(row), key, *options_.vectors + ": row " + std::to_string(row) + ": ");
    }
  }

  void ask(std::string_view query, std::span<const float> key, const std::string& where) {
    dpcache::QueryOptions options;
    options.k = options_.k;
    options.time = options_.time.value_or(Session::clock());
    // The nearest slot decides, however short the list.
    const auto nearest = memory_.nearest(key, options);
    if (!nearest) throw Failure(Exit::input, where + nearest.status.detail);
    const auto reading = memory_.read(key, options);
    if (!reading) throw Failure(Exit::input, where + reading.status.detail);
    Answer answer;
    answer.query = query;
    answer.threshold = threshold(memory_.config());
    answer.empty = !nearest->has_value();
    if (*nearest) answer.novelty = 1.0F - (*nearest)->similarity;
    answer.known = !answer.empty && !(answer.novelty > answer.threshold);
    for (const auto& weighted : reading->top) {
      const auto slot = memory_.slot(weighted.slot);
      answer.top.push_back({weighted.slot, weighted.similarity, weighted.weight, slot->count,
                            read_example(slot->payload)});
    }
    all_known_ = all_known_ && answer.known;
    printer_->answer(answer);
  }

  const QueryCommandOptions& options_;
  Output output_;
  Cache memory_;
  std::unique_ptr<AnswerPrinter> printer_;
  bool all_known_ = true;
};

}  // namespace

Ending run_query(const QueryCommandOptions& options) {
  return Query(options).run();
}

}  // namespace dpcache::cli
