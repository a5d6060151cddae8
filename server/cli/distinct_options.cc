// The options of `dpcache distinct`.
#include "cli/distinct_options.h"

#include <unistd.h>

#include "cli/failure.h"
#include "cli/gate_file.h"
#include "cli/option_kinds.h"
#include "cli/terminal.h"
#include "dpcache/text.h"

namespace dpcache::cli {
namespace {

void add_output_options(OptionAdder& add, DistinctOptions& to) {
  add.group("Output");
  add.choice("--order", to.order,
             {{"count", Order::count},
              {"first", Order::first},
              {"last", Order::last},
              {"novelty", Order::novelty}},
             "by count (default), by first or last line, or\nby how new it was when it came");
  add.number("--top", "N", to.top, "only the first N in that order");
  add.flag("--json", to.format, Format::json, "JSON Lines instead of text");
  add.flag("--assign", to.stream, Stream::assign,
           "print each input line behind its slot id and\na tab, as it is read");
  add.flag(
      "--follow", to.at_end, AtEnd::follow,
      "print each distinct item the moment it appears,\nand wait for more at the end of a file");
  add.flag("-q,--quiet", to.noise, Noise::quiet, "no progress, summary or warnings");
}

void add_memory_options(OptionAdder& add, DistinctOptions& to) {
  add.group("Memory");
  add.text("--memory", "FILE", to.memory,
           "go on from FILE, if there is one, and save\nto it at the end");
  add.flag("--new-only", to.which, Which::fresh, "only items that no earlier run has seen");
  add.flag("--seen-only", to.which, Which::seen, "only items that this run has seen");
  add.duration("--ttl", to.cache.ttl_ms,
               "forget an item so long after its first line:\n90s, 36h, 7d");
  add.time("--time", to.time,
           "the time of all lines, in milliseconds since\n1970, instead of the clock");
}

void add_sameness_options(OptionAdder& add, DistinctOptions& to) {
  add.group("What counts as the same");
  add.number(
      "--tau", "T", to.cache.tau,
      "an item is new if its novelty, 1 - cosine, is\nabove T: 0 (only exact repeats merge) to 2;\n"
      "default " +
          shortest(kTextTau) + " for text, " + shortest(kDefaultTau) +
          " for vectors; a\nsimilarity of 0.9 is a novelty of 0.1");
  add.add("--gate", "A,B|FILE",
          "a learned gate instead: new if novelty > B;\nor what train has written",
          [&to](const auto& text) {
            const auto config = parse_gate(text, "--gate");
            to.cache.gate = config.gate;
            if (config.tau) to.cache.tau = config.tau;
            to.cache.gate_encoder = config.encoder;
          });
  add.number(
      "--tau-merge", "T", to.cache.tau_merge,
      "merge up to this novelty only; from here to\n--tau an item opens a slot and is listed "
      "by\ndpcache reviews");
  add.add(
      "--guard", "NAMES",
      "never merge texts that differ in: number,\nnegation,antonym,identifier,entity,replaced,\n"
      "order; all or none (default)",
      [&to](const auto& text) {
        const auto guards = GuardSet::parse(text);
        if (!guards) throw Failure(Exit::usage, "--guard: " + guards.status.detail);
        to.cache.guards = *guards;
      });
  add.choice("--audit", to.cache.audit,
             {{"none", Audit::none}, {"ids", Audit::ids}, {"full", Audit::full}},
             "keep what each slot has absorbed, for dpcache\nexplain: nothing (default), where it "
             "stood, or\nall of it, so that undo can undo it");
  add.number("--correction-rate", "R", to.cache.correction_rate,
             "with --gate: each undo and each review moves B\nby at most R, above 0 to 1; .02 is a "
             "good one");
  add.text("--mask", "NAMES", to.encoder.masks,
           "what may vary: number,hex,ip,uuid,time,path;\nall (default) or none");
  add.repeated("--pattern", "NAME=REGEX", "an own mask (RE2 syntax); may be repeated",
               [&to](const auto& text) { to.encoder.own.push_back(parse_own_mask(text)); });
  add.choice("--key-update", to.cache.key_update,
             {{"frozen", KeyUpdate::frozen}, {"centroid", KeyUpdate::centroid}},
             "what a slot's key is: its first item (default)\nor the mean of its items");
  add.number("--dimension", "D", to.encoder.dimension, "length of the vectors made from text");
  add.number("--seed", "N", to.encoder.seed, "another seed, other vectors");
}

void add_budget_options(OptionAdder& add, DistinctOptions& to) {
  add.group("Budget");
  add.choice(
      "--budget", to.cache.budget,
      {{"none", BudgetKind::none},
       {"fixed", BudgetKind::fixed},
       {"adaptive", BudgetKind::adaptive},
       {"ghost", BudgetKind::ghost}},
      "how many slots to keep: all (default), M0,\nM0 + beta x novelty rate, or more than M0\n"
      "while forgotten items come back");
  add.number("--m0", "M0", to.cache.m0, "1 or more; default 1024");
  add.number("--beta", "BETA", to.cache.beta, "default 1024 (adaptive)");
  add.number("--eta", "ETA", to.cache.eta, "rate of the novelty rate; default 0.05 (adaptive)");
  add.number("--max-slots", "N", to.cache.max_slots, "never more slots than this");
  add.choice("--shrink", to.cache.shrink, {{"evict", Shrink::evict}, {"merge", Shrink::merge}},
             "drop the least used slot (default) or fold\nit into its nearest");
  add.number(
      "--usage-decay", "G", to.cache.usage_decay,
      "factor on all usages per item, above 0 to 1;\ndefault 1: least used = least frequent");
}

void add_template_options(OptionAdder& add, DistinctOptions& to) {
  add.group("Templates (kinds of line, with the parts that vary named)");
  add.flag("--templates", to.keep, Keep::templates,
           "print templates instead of first lines; --tau,\nthe share of words in which a line may "
           "differ,\nis 0 to 0.5, default " +
               shortest(kTemplateTau));
  add.flag("--codes", to.codes, Codes::fixed,
           "status 200 and status 500, exit code 0 and 1,\nare two templates");
  add.flag("--plain", to.structure, Structure::plain, "do not look for key=value, JSON and cells");
}

void add_vector_options(OptionAdder& add, DistinctOptions& to) {
  add.group("Vectors (FILE is .npy: rows of float32, float16 or int8)");
  add.repeated("--text", "FILE", "a line of text for each row; one FILE for each\n.npy file",
               [&to](const auto& text) { to.labels.push_back(text); });
  add.text("--scale", "X", to.scale,
           "int8 times X, a number or a .npy file with one\nnumber a row");
  add.text("--encoder", "NAME", to.made_by,
           "what made the vectors; a memory refuses those\nof another");
}

}  // namespace

Config parse_gate(const std::string& text, const char* option) {
  const auto comma = text.find(',');
  const auto first = text.find_first_not_of("0123456789.-+eE,");
  if (comma == std::string::npos || first != std::string::npos) {
    if (access(text.c_str(), F_OK) != 0) {
      throw Failure(Exit::usage,
                    std::string(option) + ": '" + text + "' is neither two numbers A,B nor a file");
    }
    return read_gate_file(text);
  }
  Config config;
  config.gate.emplace();
  config.gate->a = parse_number<float>(std::string_view(text).substr(0, comma), option);
  config.gate->b = parse_number<float>(std::string_view(text).substr(comma + 1), option);
  return config;
}

OwnMask parse_own_mask(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Failure(Exit::usage, "--pattern: '" + text + "' is not NAME=REGEX");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_distinct_options(CLI::App& app, DistinctOptions& options) {
  OptionAdder add(app);
  add_output_options(add, options);
  add_memory_options(add, options);
  add_sameness_options(add, options);
  add_template_options(add, options);
  add_budget_options(add, options);
  add_vector_options(add, options);
}

namespace {

// Templates are no vectors, and forget nothing by time.
void check_template_options(const DistinctOptions& options) {
  const auto refuse = [](const std::string& option) {
    throw Failure(Exit::usage, option + " does not go with --templates");
  };
  const auto& cache = options.cache;
  if (options.order == Order::last) refuse("--order last");
  if (options.order == Order::novelty) refuse("--order novelty");
  if (cache.ttl_ms) refuse("--ttl");
  if (options.time) refuse("--time");
  if (cache.gate) refuse("--gate");
  if (cache.tau_merge) refuse("--tau-merge");
  if (cache.guards) refuse("--guard");
  if (cache.audit) refuse("--audit");
  if (cache.correction_rate) refuse("--correction-rate");
  if (cache.key_update) refuse("--key-update");
  if (options.encoder.dimension) refuse("--dimension");
  if (options.encoder.seed) refuse("--seed");
  if (cache.budget) refuse("--budget");
  if (cache.m0) refuse("--m0");
  if (cache.beta) refuse("--beta");
  if (cache.eta) refuse("--eta");
  if (cache.shrink) refuse("--shrink");
  if (cache.usage_decay) refuse("--usage-decay");
  if (!options.labels.empty()) refuse("--text");
  if (options.scale) refuse("--scale");
  if (options.made_by) refuse("--encoder");
}

}  // namespace

void check_options(const DistinctOptions& options) {
  const auto refuse = [](const char* why) { throw Failure(Exit::usage, why); };
  if (options.keep == Keep::templates) {
    check_template_options(options);
  } else if (options.codes || options.structure) {
    refuse("--codes and --plain need --templates");
  }
  const bool streams = options.stream == Stream::assign || options.at_end == AtEnd::follow;
  if (streams && options.top)
    refuse("--top needs the whole input; it does not go with --assign or --follow");
  if (streams && options.order != Order::count) {
    refuse("--order needs the whole input; it does not go with --assign or --follow");
  }
  if (options.cache.tau && options.cache.gate) {
    refuse("--tau and --gate both say what is new; give one of them");
  }
  if (options.which != Which::all && !options.memory) {
    refuse(options.which == Which::fresh
               ? "--new-only needs --memory FILE: it compares with earlier runs"
               : "--seen-only needs --memory FILE: without one, all items are from this run");
  }
  if (options.at_end == AtEnd::follow && !options.labels.empty()) {
    refuse("--follow reads text; it does not go with --text and vectors");
  }
}

}  // namespace dpcache::cli
