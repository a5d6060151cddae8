// The options of `dpcache advise`.
#include "cli/advise_options.h"

#include "cli/distinct_options.h"
#include "cli/failure.h"
#include "cli/option_kinds.h"

namespace dpcache::cli {

void add_advise_options(CLI::App& app, AdviseOptions& to) {
  OptionAdder add(app);
  add.group("What you know");
  add.text("--pairs", "FILE", to.pairs,
           "pairs that are the same or different, a table:\nsee below");
  add.text(
      "--labels", "FILE", to.labels,
      "a line for each item of FILE: items of one\nlabel are the same; an empty line: not known");
  add.number("--max-false-merge", "ALPHA", to.max_false_merge,
             "with pairs or labels: suggest a tau that merges\nat most this share wrongly; default "
             "0.01");
  add.number("--confidence", "P", to.confidence, "how sure that is to be; default 0.9");
  add.group("Look");
  add.repeated("--tau", "T", "try this tau too; may be repeated",
               [&to](const auto& text) { to.taus.push_back(parse_number<float>(text, "--tau")); });
  add.number("--sample", "N", to.sample, "look at N items, drawn from all; default 20000");
  add.group("Output");
  add.text("--out", "FILE", to.out, "write the tau there: settings of a cache, JSON");
  add.flag("--json", to.format, Format::json, "one JSON object, with all that was found");
  add.flag("-q,--quiet", to.noise, Noise::quiet, "no progress");
  add.group("Text");
  add.text("--mask", "NAMES", to.encoder.masks,
           "what may vary: number,hex,ip,uuid,time,path;\nall (default) or none");
  add.repeated("--pattern", "NAME=REGEX", "an own mask (RE2 syntax); may be repeated",
               [&to](const auto& text) { to.encoder.own.push_back(parse_own_mask(text)); });
  add.number("--dimension", "D", to.encoder.dimension, "length of the vectors made from text");
  add.number("--seed", "N", to.encoder.seed, "another seed, other vectors");
  add.group("Vectors (FILE is .npy: rows of float32, float16 or int8)");
  add.text("--scale", "X", to.scale,
           "int8 times X, a number or a .npy file with one\nnumber a row");
  add.text("--encoder", "NAME", to.made_by, "what made the vectors");
}

void check_options(const AdviseOptions& options) {
  const auto refuse = [](const char* why) { throw Failure(Exit::usage, why); };
  const bool known = options.pairs || options.labels;
  if (options.max_false_merge && !known) refuse("--max-false-merge needs --pairs or --labels");
  if (options.confidence && !known) refuse("--confidence needs --pairs or --labels");
  if (options.labels && options.files.size() > 1) refuse("--labels goes with one FILE only");
}

}  // namespace dpcache::cli
