// Advice for people: sentences, a picture of the novelties with tau in it, and what each tau does.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "cli/advise_report.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kNames = 14;      // columns
constexpr std::size_t kBar = 44;        // columns
constexpr std::size_t kMostRows = 36;   // of the picture
constexpr std::size_t kShownText = 60;  // columns of an opposite
constexpr std::size_t kShownOpposites = 10;

std::string fixed(double x, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, x);
  return text.data();
}

std::string right(std::string text, std::size_t columns) {
  if (text.size() < columns) text.insert(0, columns - text.size(), ' ');
  return text;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

class Text {
 public:
  Text(const AdviceReport& report, Output& output)
      : report_(report), advice_(report.advice), output_(output) {}

  void print() {
    figures();
    if (advice_.sampled > 1) picture();
    if (advice_.sampled > 0) table();
    opposites();
    for (const auto& warning : advice_.warnings) put("\nWarning: " + warning + ".\n");
  }

 private:
  void put(const std::string& text) { output_.add(text); }
  void line(std::string name, const std::string& value) {
    name.resize(std::max(kNames, name.size()), ' ');
    put(name + value + '\n');
  }

  void figures() {
    std::string items = grouped(advice_.sampled);
    if (advice_.sampled < advice_.seen) items += " of " + grouped(advice_.seen) + ", drawn";
    if (advice_.repeats > 0) items += "; " + grouped(advice_.repeats) + " are exact repeats";
    line("items", items);
    if (advice_.labelled > 0) line("labelled", grouped(advice_.labelled));
    if (advice_.same + advice_.different > 0) {
      line("pairs",
           grouped(advice_.same) + " the same, " + grouped(advice_.different) + " different");
    }
    if (report_.config.encoder) line("encoder", printable(*report_.config.encoder));
    for (const auto& valley : advice_.valleys) describe(valley);
    if (advice_.valleys.empty()) line("valley", "none");
    suggestion();
  }

  void describe(const Valley& valley) {
    line("valley", "at " + shortest(valley.tau) + " (" + shortest(valley.low) + " to " +
                       shortest(valley.high) + "), " + in_percent(valley.depth) +
                       " deep, between humps at " + shortest(valley.nearer) + " and " +
                       shortest(valley.farther));
    line("", in_percent(valley.again) +
                 " of the resamples have it again; one hump alone looks so in " +
                 (valley.chance < 0.003 ? "less than 1 of 400 draws"
                                        : in_percent(valley.chance) + " of the draws"));
  }

  void suggestion() {
    if (!advice_.tau) {
      line("tau", "none to suggest: " + advice_.reason);
      return;
    }
    line("tau", shortest(*advice_.tau) + ": " + advice_.reason);
    if (!advice_.wrong_share) return;
    const std::string share = in_percent(*advice_.wrong_share);
    if (advice_.bounded) {
      const char* what = advice_.evidence == Evidence::items ? "items" : "pairs that are different";
      line("wrong merges", "at most " + share + " of all " + what + ", with confidence " +
                               in_percent(report_.confidence));
      line("", advice_.evidence == Evidence::items
                   ? "(in a memory that begins empty and sees as many items)"
                   : "(an item meets the nearest slot, not a random one: --labels tells more)");
    } else {
      line("wrong merges",
           "about " + share + " of all items: an estimate from the humps' shape, not a bound");
    }
  }

  // The histogram, a bar a row.
  void picture() {
    const auto& all = advice_.histogram;
    std::size_t last = 0;
    std::size_t first = kNoveltyBins;
    for (std::size_t bin = 0; bin < kNoveltyBins; ++bin) {
      if (all[bin] == 0) continue;
      last = bin;
      first = std::min(first, bin);
    }
    if (advice_.tau) last = std::max(last, novelty_bin(*advice_.tau));
    if (advice_.tau) first = std::min(first, novelty_bin(*advice_.tau));
    std::size_t step = 2;
    for (const std::size_t wider : {4U, 10U, 20U}) {
      if ((last - first) / step >= kMostRows) step = wider;
    }
    const std::size_t begin = first / step;
    std::vector<std::uint64_t> rows(last / step - begin + 1);
    for (std::size_t bin = begin * step; bin <= last; ++bin) rows[bin / step - begin] += all[bin];
    if (begin == 0) rows[0] -= advice_.repeats;  // they have a row of their own
    const std::uint64_t highest =
        std::max<std::uint64_t>(1, *std::max_element(rows.begin(), rows.end()));
    put("\nNOVELTY  SIMILARITY     ITEMS\n");
    if (advice_.repeats > 0) row("repeat", "1", advice_.repeats, highest);
    bool is_drawn = !advice_.tau;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double start = static_cast<double>((begin + i) * step) / 200.0;
      if (!is_drawn &&
          start + static_cast<double>(step) / 400.0 > static_cast<double>(*advice_.tau)) {
        mark();
        is_drawn = true;
      }
      row(fixed(start, 2), fixed(1.0 - start, 2), rows[i], highest);
    }
    if (!is_drawn) mark();
  }

  void mark() {
    put("------- tau " + shortest(*advice_.tau) + ": above, items merge; below, they are new " +
        std::string(14, '-') + '\n');
  }

  void row(const std::string& novelty, const std::string& similarity, std::uint64_t count,
           std::uint64_t highest) {
    std::string bar;
    if (count > highest) {  // repeats can be far more than all the rest
      bar = std::string(kBar - 2, '#') + "//";
    } else if (count > 0) {
      const auto size = std::lround(share_of(count, highest) * static_cast<double>(kBar));
      bar = size == 0 ? "." : std::string(static_cast<std::size_t>(size), '#');
    }
    put(right(novelty, 7) + right(similarity, 12) + right(grouped(count), 10) +
        (bar.empty() ? "" : "  " + bar) + '\n');
  }

  void table() {
    const bool labels = advice_.labelled > 0;
    const bool pairs = advice_.per_pair.has_value();
    const bool guards = advice_.with_facts > 0;
    put(std::string("\n    TAU     SLOTS    MERGED") + (guards ? "   GUARDED" : "") +
        "  LARGEST SLOT" + (labels ? "  WRONG MERGES          " : "") +
        (pairs ? "  DIFFERENT MERGED" : "") + (pairs && guards ? "  GUARDED" : "") +
        (pairs ? "  SAME APART" : "") + (pairs && guards ? "  GUARDED" : "") + '\n');
    for (const auto& tried : advice_.tried) {
      std::string text = advice_.tau && tried.tau == *advice_.tau ? "*" : " ";
      text += right(shortest(tried.tau), 6) + right(grouped(tried.slots), 10) +
              right(grouped(tried.merged), 10);
      if (guards) text += right(grouped(tried.guarded), 10);
      text += right(in_percent(share_of(tried.largest, advice_.sampled)), 14);
      if (labels) {
        text += right(grouped(tried.wrong), 8) + right("<= " + in_percent(tried.wrong_bound), 14) +
                "  ";
      }
      if (pairs) {
        text += right(grouped(tried.different_merged), 18);
        if (guards) text += right(grouped(tried.different_guarded), 9);
        text += right(grouped(tried.same_apart), 12);
        if (guards) text += right(grouped(tried.same_guarded), 9);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      put(text + '\n');
    }
    if (guards)
      put("GUARDED: merges that guards for text would stop (another number, name, not, ...)\n");
  }

  void opposites() {
    if (report_.opposites.empty()) return;
    put("\nKnown to be different, and merged at tau " +
        shortest(advice_.tau.value_or(kDefaultTau)) + ":\n");
    const bool guards = advice_.with_facts > 0;
    for (std::size_t i = 0; i < std::min(report_.opposites.size(), kShownOpposites); ++i) {
      const auto& pair = report_.opposites[i];
      put(right(fixed(static_cast<double>(pair.novelty), 3), 7) + "  " +
          printable(pair.a, kShownText) + "\n         " + printable(pair.b, kShownText) + '\n');
      if (guards) put("         guards: " + pair.guards.names() + '\n');
    }
  }

  const AdviceReport& report_;
  const Advice& advice_;
  Output& output_;
};

}  // namespace

void print_text(const AdviceReport& report, Output& output) {
  Text(report, output).print();
}

}  // namespace dpcache::cli
