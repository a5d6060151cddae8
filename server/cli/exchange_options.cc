// The options of `dpcache import` and `dpcache export`.
#include "cli/exchange_options.h"

#include "cli/distinct_options.h"
#include "cli/failure.h"
#include "cli/gate_file.h"
#include "cli/option_kinds.h"

namespace dpcache::cli {

void add_import_options(CLI::App& app, ImportOptions& to, std::optional<std::string>& memory) {
  OptionAdder add(app);
  add.group("Memory");
  add.text("--memory", "FILE", memory, "where the items go; it need not exist; required");
  add.add("--config", "FILE",
          "settings of a new memory, as 'inspect --json'\nand a server show them (JSON)",
          [&to](const auto& file) { to.settings = read_settings_file(file); });
  add.number("--tau", "T", to.cache.tau,
             "a row is new if its novelty, 1 - cosine, is\nabove T, 0 to 2");
  add.add("--gate", "A,B|FILE",
          "a learned gate instead: new if novelty > B;\nor what train has written",
          [&to](const auto& text) {
            const auto config = parse_gate(text, "--gate");
            to.cache.gate = config.gate;
            if (config.tau) to.cache.tau = config.tau;
            to.cache.gate_encoder = config.encoder;
          });
  add.flag("--apart", to.apart, Apart::yes,
           "each row a slot of its own, whatever tau says,\nbut for equal vectors and exact keys");
  add.number("--max-slots", "N", to.cache.max_slots, "never more slots than this");
  add.duration("--ttl", to.cache.ttl_ms, "how long an item lives that says nothing of it");
  add.time("--time", to.time,
           "the time of rows that bring none, in\nmilliseconds since 1970, instead of the clock");
  add.group("Run");
  add.flag("--skip-bad", to.bad_rows, BadRows::skip,
           "leave rows out that cannot be taken, and name\nthem; else nothing is imported then");
  add.flag("--from-start", to.begin, Begin::at_first_row,
           "begin at the first row, though an earlier run\nthat was stopped had got farther");
  add.duration("--save-every", to.save_ms,
               "save that often while it runs; default 30s.\nNot for standard input and pipes");
  add.flag("--json", to.format, Format::json, "the outcome as one JSON object");
  add.flag("-q,--quiet", to.noise, Noise::quiet, "no progress");
  add.group("Text (rows with text instead of key)");
  add.text("--mask", "NAMES", to.encoder.masks,
           "what may vary: number,hex,ip,uuid,time,path;\nall (default) or none");
  add.repeated("--pattern", "NAME=REGEX", "an own mask (RE2 syntax); may be repeated",
               [&to](const auto& text) { to.encoder.own.push_back(parse_own_mask(text)); });
  add.number("--dimension", "D", to.encoder.dimension, "length of the vectors made from text");
  add.number("--seed", "N", to.encoder.seed, "another seed, other vectors");
  add.group("Vectors (FILE is .npy, or safetensors)");
  add.text("--text", "FILE", to.labels, "a line of text for each row, for its payload");
  add.text("--scale", "X", to.scale,
           "int8 times X, a number or a .npy file with one\nnumber a row");
  add.text("--tensor", "NAME", to.tensor, "which tensor of a safetensors file; default keys");
  add.text("--encoder", "NAME", to.made_by, "what made the vectors");
}

void add_export_options(CLI::App& app, ExportOptions& to) {
  OptionAdder add(app);
  add.text("--out", "FILE", to.out,
           "write there, whole or not at all, instead of\nto standard output");
  add.text("--npy", "FILE", to.vectors,
           "the keys as rows of float32 there, and their\ntexts as lines instead of JSON");
  add.flag("--base64", to.keys, Floats::base64,
           "keys and values as base64 of float32, half as\nlong as decimals");
  add.flag("--no-keys", to.keys, Floats::none, "without keys");
  add.time("--time", to.time, "leave out what has expired by then, in\nmilliseconds since 1970");
  add.flag("-q,--quiet", to.noise, Noise::quiet, "no progress");
}

void check_options(const ImportOptions& options) {
  const auto refuse = [](const char* why) { throw Failure(Exit::usage, why); };
  if (options.cache.tau && options.cache.gate) {
    refuse("--tau and --gate both say what is new; give one of them");
  }
  if (options.apart == Apart::yes && (options.cache.tau || options.cache.gate)) {
    refuse("--apart asks no tau or gate; give one of them");
  }
  if (options.settings && options.encoder.any()) {
    refuse("--config names the encoder; leave --mask, --pattern, --dimension and --seed away");
  }
  if (options.save_ms && options.file == "-") refuse("--save-every is for files, not for pipes");
}

void check_options(const ExportOptions& options) {
  const auto refuse = [](const char* why) { throw Failure(Exit::usage, why); };
  if (options.vectors && options.keys != Floats::decimal) {
    refuse("--base64 and --no-keys are for JSON, not for --npy");
  }
  if (options.vectors && options.vectors == options.out) {
    refuse("--npy and --out are one file; give two");
  }
}

}  // namespace dpcache::cli
