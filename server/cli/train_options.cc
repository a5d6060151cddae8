// The options of `dpcache train`.
#include "cli/train_options.h"

#include "cli/distinct_options.h"
#include "cli/failure.h"
#include "cli/option_kinds.h"

namespace dpcache::cli {

void add_train_options(CLI::App& app, TrainOptions& to) {
  OptionAdder add(app);
  add.group("Examples to learn from");
  add.repeated(
      "--pairs", "FILE",
      "a table with the columns label, text_a and\ntext_b: 1 the same, 0 different; may be "
      "repeated",
      [&to](const auto& text) { to.pairs.push_back(text); });
  add.text("--items", "FILE", to.items,
           "instead: a table with label and text, each\nitem to be run against the reference");
  add.text("--reference", "FILE", to.reference,
           "the slots that items are run against: a table\nwith label and text");
  add.group("Outcome");
  add.text("--out", "FILE", to.out, "write the gate there: settings of a cache, JSON");
  add.flag("--json", to.format, Format::json, "one JSON object, with every point of the curve");
  add.number("--max-false-merge", "ALPHA", to.max_false_merge,
             "choose tau so that at most this share merges\nwrongly, such as 0.01: of different "
             "pairs, or of\nitems; exit code 1 if the examples do not do");
  add.number("--confidence", "P", to.confidence, "how sure that is to be; default 0.9");
  add.number("--upcoming", "N", to.upcoming,
             "bound the share of the next N different pairs,\nor items, not the rate behind all");
  add.number("--false-merge-cost", "C", to.false_merge_cost,
             "a false merge is as bad as C missed ones;\ndefault 1");
  add.add("--start", "A,B|FILE", "a gate to go on from: each pair is a\ncorrection, and one step",
          [&to](const auto& text) { to.start = parse_gate(text, "--start"); });
  add.number("--rate", "R", to.rate, "how far a step moves B at most; default 0.02");
  add.flag("-q,--quiet", to.noise, Noise::quiet, "no progress");
  add.group("Text");
  add.text("--mask", "NAMES", to.encoder.masks,
           "what may vary: number,hex,ip,uuid,time,path;\nall (default) or none");
  add.repeated("--pattern", "NAME=REGEX", "an own mask (RE2 syntax); may be repeated",
               [&to](const auto& text) { to.encoder.own.push_back(parse_own_mask(text)); });
  add.number("--dimension", "D", to.encoder.dimension, "length of the vectors made from text");
  add.number("--seed", "N", to.encoder.seed, "another seed, other vectors");
  add.group("Vectors instead of text (.npy: rows of float32, float16 or int8)");
  add.text("--vectors-a", "FILE", to.vectors_a, "one vector of each pair");
  add.text("--vectors-b", "FILE", to.vectors_b, "the other one");
  add.text("--labels", "FILE", to.labels, "a table with the column label, a line a row");
  add.text("--encoder", "NAME", to.made_by, "what made the vectors");
}

void check_options(const TrainOptions& options) {
  const auto refuse = [](const char* why) { throw Failure(Exit::usage, why); };
  const bool vectors = options.vectors_a || options.vectors_b || options.labels;
  const int kinds = (options.pairs.empty() ? 0 : 1) + (options.items ? 1 : 0) + (vectors ? 1 : 0);
  if (kinds == 0) refuse("train needs examples: --pairs FILE, --items FILE or --vectors-a FILE");
  if (kinds > 1) refuse("--pairs, --items and --vectors-a are three kinds of example; give one");
  if (options.items.has_value() != options.reference.has_value()) {
    refuse("--items and --reference go together: items are run against the reference");
  }
  if (options.items && options.items == options.reference) {
    refuse("--items and --reference are one file: items must be others than the slots");
  }
  if (vectors && !(options.vectors_a && options.vectors_b && options.labels)) {
    refuse("--vectors-a, --vectors-b and --labels go together");
  }
  if (options.made_by && !vectors)
    refuse("--encoder names what made vectors; it needs --vectors-a");
  if (options.encoder.any() && vectors) {
    refuse("--mask, --pattern, --dimension and --seed are for text, not for vectors");
  }
  if (options.confidence && !options.max_false_merge) {
    refuse("--confidence needs --max-false-merge");
  }
  if (options.upcoming && !options.max_false_merge) {
    refuse("--upcoming needs --max-false-merge");
  }
  if (options.start && options.max_false_merge) {
    refuse("--start takes steps, --max-false-merge chooses; give one of them");
  }
  if (options.start && options.false_merge_cost) {
    refuse("--false-merge-cost is for learning from all pairs at once, not with --start");
  }
  if (options.rate && !options.start) refuse("--rate needs --start");
}

}  // namespace dpcache::cli
