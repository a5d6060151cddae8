// What the user asked for: one struct a command, read from the command line.
#ifndef DPCACHE_CLI_OPTIONS_H_
#define DPCACHE_CLI_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/example_json.h"
#include "cli/item_json.h"
#include "dpcache/config.h"
#include "dpcache/event.h"
#include "dpcache/templates.h"
#include "serve/serve.h"

namespace dpcache::cli {

enum class Format : std::uint8_t { text, json };
enum class Order : std::uint8_t { count, first, last, novelty };
// Which slots distinct prints: all, those that this run met, or those that this run opened.
enum class Which : std::uint8_t { all, seen, fresh };
// What distinct prints while it reads: nothing, each new item, or each line behind its slot.
enum class Stream : std::uint8_t { nothing, fresh, assign };
enum class AtEnd : std::uint8_t { stop, follow };
// What distinct keeps: slots of vectors, or templates of lines.
enum class Keep : std::uint8_t { slots, templates };
// What import does about a row that cannot be taken: refuse the file, or leave it out.
enum class BadRows : std::uint8_t { refuse, skip };
// Whether each imported row is a slot of its own, whatever tau says.
enum class Apart : bool { no, yes };
// Where import begins in a file of which an earlier run took a part.
enum class Begin : std::uint8_t { go_on, at_first_row };
enum class Noise : std::uint8_t { usual, quiet };

// What turns text into vectors. What is not set comes from the memory, or is the default.
struct EncoderOptions {
  std::optional<std::string> masks;
  std::vector<OwnMask> own;
  std::optional<std::uint32_t> dimension;
  std::optional<std::uint64_t> seed;

  bool any() const { return masks || !own.empty() || dimension || seed; }
};

// Settings of the cache, the same way.
struct CacheOptions {
  std::optional<float> tau;
  std::optional<Gate> gate;
  std::optional<std::string> gate_encoder;  // what made the vectors that the gate was learned on
  std::optional<KeyUpdate> key_update;
  std::optional<float> usage_decay;
  std::optional<BudgetKind> budget;
  std::optional<std::uint64_t> max_slots;
  std::optional<float> m0;
  std::optional<float> beta;
  std::optional<float> eta;
  std::optional<Shrink> shrink;
  std::optional<std::int64_t> ttl_ms;
  std::optional<float> tau_merge;
  std::optional<GuardSet> guards;
  std::optional<Audit> audit;
  std::optional<float> correction_rate;
};

struct DistinctOptions {
  std::vector<std::string> files;
  Format format = Format::text;
  Order order = Order::count;
  std::optional<std::uint64_t> top;
  Which which = Which::all;
  Stream stream = Stream::nothing;
  AtEnd at_end = AtEnd::stop;
  std::optional<std::string> memory;
  Noise noise = Noise::usual;
  EncoderOptions encoder;
  CacheOptions cache;
  Keep keep = Keep::slots;
  // Templates only. What is not set comes from the memory, or is the default.
  std::optional<Codes> codes;
  std::optional<Structure> structure;
  // Vectors only.
  std::vector<std::string> labels;     // a text file beside each .npy file
  std::optional<std::string> scale;    // a number, or a .npy file
  std::optional<std::string> made_by;  // names what made the vectors
  std::optional<std::int64_t> time;    // instead of the clock
};

struct QueryCommandOptions {
  std::string memory;
  std::vector<std::string> texts;
  std::optional<std::string> vectors;  // a .npy file
  std::optional<std::string> scale;
  std::optional<std::string> made_by;
  std::uint64_t k = 5;
  Format format = Format::text;
  std::vector<OwnMask> own;
  std::optional<std::int64_t> time;
};

struct TrainOptions {
  std::vector<std::string> pairs;
  std::optional<std::string> items;
  std::optional<std::string> reference;
  std::optional<std::string> vectors_a;
  std::optional<std::string> vectors_b;
  std::optional<std::string> labels;
  std::optional<std::string> made_by;  // names what made the vectors
  std::optional<double> max_false_merge;
  std::optional<double> confidence;
  std::optional<std::uint64_t> upcoming;
  std::optional<double> false_merge_cost;
  std::optional<Config> start;  // its gate, and what it was learned on
  std::optional<double> rate;
  std::optional<std::string> out;
  EncoderOptions encoder;
  Format format = Format::text;
  Noise noise = Noise::usual;
};

struct AdviseOptions {
  std::vector<std::string> files;
  std::optional<std::string> pairs;
  std::optional<std::string> labels;
  std::vector<float> taus;  // to try, beside the usual ones
  std::optional<std::uint64_t> sample;
  std::optional<double> max_false_merge;
  std::optional<double> confidence;
  std::optional<std::string> out;
  std::optional<std::string> scale;    // of vectors
  std::optional<std::string> made_by;  // names what made the vectors
  EncoderOptions encoder;
  Format format = Format::text;
  Noise noise = Noise::usual;
};

struct ImportOptions {
  std::string file;
  std::string memory;
  std::optional<std::string> labels;  // a line of text for each row of vectors
  std::optional<std::string> scale;
  std::optional<std::string> tensor;    // of a safetensors file
  std::optional<std::string> made_by;   // names what made the vectors
  std::optional<Config> settings;       // of a new memory
  std::optional<std::int64_t> time;     // of rows that bring none
  std::optional<std::int64_t> save_ms;  // how often an unfinished import is saved
  BadRows bad_rows = BadRows::refuse;
  Apart apart = Apart::no;
  Begin begin = Begin::go_on;
  EncoderOptions encoder;
  CacheOptions cache;
  Format format = Format::text;
  Noise noise = Noise::usual;
};

struct ExportOptions {
  std::string memory;
  std::optional<std::string> out;      // instead of standard output
  std::optional<std::string> vectors;  // a .npy file; then texts go to `out`
  Floats keys = Floats::decimal;
  std::optional<std::int64_t> time;
  Noise noise = Noise::usual;
};

struct InspectOptions {
  std::string memory;
  std::uint64_t top = 10;
  Format format = Format::text;
};

struct ExplainOptions {
  std::string memory;
  SlotId slot = 0;
  Format format = Format::text;
};

struct UndoOptions {
  std::string memory;
  SlotId slot = 0;
  std::string member;               // its id, or its number
  std::optional<std::string> line;  // the member once more, where the memory keeps ids alone
  Format format = Format::text;
  std::optional<std::int64_t> time;
};

struct ReviewsOptions {
  struct Given {
    Judgement verdict = Judgement::unknown;
    SlotId slot = 0;
    SlotId other = 0;
  };
  std::string memory;
  std::vector<Given> answers;
  Format format = Format::text;
  std::optional<std::int64_t> time;
};

struct VerifyOptions {
  std::vector<std::string> memories;
};

// Text to print and end with, for --help and --version.
struct Print {
  std::string text;
};

using Command =
    std::variant<DistinctOptions, QueryCommandOptions, TrainOptions, AdviseOptions, ImportOptions,
                 ExportOptions, InspectOptions, VerifyOptions, ExplainOptions, UndoOptions,
                 ReviewsOptions, server::ServeOptions, Print>;

// Throws Failure(usage) with one line that says what is wrong and where help is.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_OPTIONS_H_
