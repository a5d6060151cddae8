// Writes tests/vectors/*.json: the scripts below, and what the reference (naive loops, float)
// answers to them. `make_vectors FOLDER` writes; `make_vectors --check FOLDER` compares and changes
// nothing.
//
// The hash of the memory file is the one thing that the reference cannot know: it is that of the
// cache, whose answers must first be those of the reference. What is learned (tests/vectors/train)
// is the library's own answer; tests/native/train_test.cc holds it to formulas with libm. So is
// what guards say (tests/vectors/guards).
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "guard_vectors.h"
#include "hash.h"
#include "train_vectors.h"
#include "vector_runner.h"

namespace {

using dpcache::vectors::Json;

Json stream(int seed, int dimension, int distinct, double noise) {
  return {{"seed", seed}, {"dimension", dimension}, {"distinct", distinct}, {"noise", noise}};
}

Json observe(int from, int to) {
  return {{"op", "observe"}, {"from", from}, {"to", to}};
}
Json ask(const char* op, int from, int to) {
  return {{"op", op}, {"from", from}, {"to", to}};
}
Json slots() {
  return {{"op", "slots"}};
}

Json with(Json step, const char* key, Json value) {
  step[key] = std::move(value);
  return step;
}

struct Script {
  std::string name;
  Json json;
};

// Every behaviour, each at dimensions around the 16 lanes of the canonical sum.
std::vector<Script> scripts() {
  std::vector<Script> all;
  const auto add = [&](const std::string& name, const char* about, Json config, Json rule,
                       Json steps) {
    Json script;
    script["about"] = about;
    script["config"] = std::move(config);
    if (!rule.is_null()) script["stream"] = std::move(rule);
    script["steps"] = std::move(steps);
    all.push_back({name, std::move(script)});
  };

  for (int dimension : {1, 2, 15, 16, 17, 64, 100, 384}) {
    add("tau_d" + std::to_string(dimension),
        "A plain tau on a noisy stream; queries of every kind.",
        {{"dimension", dimension}, {"tau", .4}}, stream(dimension, dimension, 12, .35),
        {observe(0, 60), ask("nearest", 60, 64), ask("score", 64, 68), ask("read", 68, 70),
         slots()});
  }
  add("exact_repeats", "An exact repeat has novelty 0, and merges at tau = 0 too.",
      {{"dimension", 48}, {"tau", 0}}, stream(21, 48, 9, 0), {observe(0, 40), slots()});
  add("tau_two", "tau = 2 merges opposite directions; only the first item opens a slot.",
      {{"dimension", 2}, {"tau", 2}}, nullptr,
      {with({{"op", "observe"}}, "key", {1, 0}), with({{"op", "observe"}}, "key", {-1, 0}),
       with({{"op", "observe"}}, "key", {0, 1}), slots()});
  add("square",
      "Eight directions of the plane: ties go to the oldest slot, the opposite has novelty 2.",
      {{"dimension", 2}, {"tau", .2}}, nullptr, [] {
        Json steps = Json::array();
        const std::vector<std::vector<int>> square = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                                      {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
        for (const auto& corner : square) steps.push_back(with({{"op", "observe"}}, "key", corner));
        for (const auto& corner : square)
          steps.push_back(with({{"op", "score"}, {"k", 8}}, "key", corner));
        steps.push_back(slots());
        return steps;
      }());
  add("extremes", "Keys of the smallest and the largest floats have a direction like any other.",
      {{"dimension", 3}, {"tau", .1}}, nullptr,
      {with({{"op", "observe"}}, "key", {1e-45, 0, 0}),
       with({{"op", "observe"}}, "key", {3e38, 3e38, 3e38}),
       with({{"op", "observe"}}, "key", {1e-30, 1e-30, 1e-30}),
       with({{"op", "observe"}}, "key", {1, 1e-40, -1e-45}), slots()});
  add("gate", "A learned gate: hard rule nov > b, and its probability.",
      {{"dimension", 24}, {"gate", {{"a", 12}, {"b", .37}}}}, stream(22, 24, 10, .4),
      {observe(0, 60), ask("read", 60, 62), slots()});
  for (const char* update : {"first", "last", "mean", "ema"}) {
    add(std::string("value_") + update, "A value policy, with payloads, and the mix that is read.",
        {{"dimension", 32},
         {"value_dimension", 5},
         {"tau", .4},
         {"value_update", update},
         {"ema", .3}},
        stream(23, 32, 6, .3),
        {with(observe(0, 30), "payload", "p"), ask("read", 30, 34), observe(34, 40), slots()});
  }
  add("centroid", "Keys are running means of their items.",
      {{"dimension", 40}, {"tau", .45}, {"key_update", "centroid"}}, stream(24, 40, 8, .5),
      {observe(0, 80), ask("score", 80, 84), slots()});
  add("usage_decay", "Usage decays; the least used slot goes when a fixed budget is full.",
      {{"dimension", 20}, {"tau", .3}, {"usage_decay", .95}, {"budget", "fixed"}, {"m0", 6}},
      stream(25, 20, 14, .3), {observe(0, 120), slots()});
  add("usage_decay_fast", "A factor of .01: weights grow by 100 an item, beyond any double.",
      {{"dimension", 20}, {"tau", .3}, {"usage_decay", .01}, {"budget", "fixed"}, {"m0", 4}},
      stream(26, 20, 9, .2), {observe(0, 200), slots()});
  add("budget_fixed_merge", "A full cache folds the least used slot into its nearest.",
      {{"dimension", 20},
       {"value_dimension", 3},
       {"value_update", "mean"},
       {"tau", .3},
       {"budget", "fixed"},
       {"m0", 6},
       {"shrink", "merge"}},
      stream(27, 20, 14, .3), {with(observe(0, 90), "payload", "p"), slots()});
  add("budget_fixed_merge_centroid", "Folding with centroid keys adds key sums.",
      {{"dimension", 20},
       {"value_dimension", 2},
       {"value_update", "ema"},
       {"tau", .3},
       {"budget", "fixed"},
       {"m0", 5},
       {"shrink", "merge"},
       {"key_update", "centroid"}},
      stream(28, 20, 12, .3), {observe(0, 90), slots()});
  add("budget_adaptive", "The budget heats with surprise and cools with repeats.",
      {{"dimension", 32},
       {"tau", .4},
       {"usage_decay", .95},
       {"budget", "adaptive"},
       {"m0", 3},
       {"beta", 20},
       {"eta", .05}},
      stream(29, 32, 24, .25), {observe(0, 160), slots()});
  add("budget_ghost", "A key that comes back after its eviction raises the budget.",
      {{"dimension", 64},
       {"tau", .4},
       {"usage_decay", .95},
       {"budget", "ghost"},
       {"m0", 4},
       {"max_slots", 9}},
      stream(30, 64, 16, .3), {observe(0, 200), slots()});
  add("budget_ghost_merge", "Folded keys become ghosts too.",
      {{"dimension", 64}, {"tau", .4}, {"budget", "ghost"}, {"m0", 4}, {"shrink", "merge"}},
      stream(31, 64, 12, .3), {observe(0, 120), slots()});
  add("max_slots", "A hard cap without a budget.",
      {{"dimension", 16}, {"tau", .2}, {"max_slots", 3}}, stream(32, 16, 9, .2),
      {observe(0, 50), slots()});
  add("exact_keys",
      "An exact key merges before any vector is compared, across eviction and erasure.",
      {{"dimension", 16}, {"tau", .2}, {"max_slots", 4}}, stream(33, 16, 9, .1),
      {with(observe(0, 1), "exact_key", "a"),
       with(observe(5, 7), "exact_key", "a"),
       with(observe(7, 8), "exact_key", ""),
       with(observe(9, 12), "exact_key", ""),
       observe(12, 30),
       {{"op", "erase"}, {"slot", 1}},
       with(observe(5, 6), "exact_key", "a"),
       slots()});
  add("exact_keys_folded", "Folding hands exact keys on.",
      {{"dimension", 16}, {"tau", .2}, {"max_slots", 2}, {"shrink", "merge"}},
      stream(34, 16, 9, .1),
      {with(observe(0, 1), "exact_key", "a"), with(observe(1, 3), "exact_key", "b"), observe(3, 12),
       with(observe(0, 1), "exact_key", "a"), with(observe(0, 1), "exact_key", "b"), slots()});
  add("ttl", "Slots live from their first item; reads skip what has expired, and writes remove it.",
      {{"dimension", 16}, {"tau", .3}, {"ttl_ms", 50}}, stream(35, 16, 6, .2),
      {with(observe(0, 20), "every", 10), with(with(observe(20, 22), "time", 205), "ttl_ms", 0),
       with(with(observe(22, 24), "time", 210), "ttl_ms", 1000),
       with(ask("read", 20, 24), "time", 230), with(ask("nearest", 20, 24), "time", 251),
       with(ask("score", 20, 24), "time", 1209), with(ask("nearest", 20, 24), "time", 5000),
       with(observe(30, 32), "time", 5000), slots()});
  add("null_slot", "A query unlike every slot gives its weight to the null slot.",
      {{"dimension", 16},
       {"value_dimension", 2},
       {"tau", .3},
       {"null_similarity", .6},
       {"theta", .1}},
      stream(36, 16, 5, .2),
      {ask("read", 0, 1), observe(0, 12), ask("read", 0, 4), ask("read", 200, 202), slots()});
  add("theta_small", "theta = 1e-4: all weight on the best slot, no overflow.",
      {{"dimension", 16}, {"value_dimension", 2}, {"theta", 1e-4}}, stream(37, 16, 5, .3),
      {observe(0, 20), ask("read", 20, 26)});
  add("consolidate",
      "Noise splits items over slots; consolidation folds them, the best pair first.",
      {{"dimension", 48},
       {"value_dimension", 2},
       {"tau", .3},
       {"keep_sums", true},
       {"usage_decay", .99}},
      stream(38, 48, 7, .8),
      {with(observe(0, 80), "payload", "p"),
       {{"op", "consolidate"}, {"similarity", .6}},
       slots(),
       observe(80, 100),
       {{"op", "consolidate"}, {"similarity", -1}},
       slots()});
  add("erase", "Ids are never used again.", {{"dimension", 16}, {"tau", .3}}, stream(39, 16, 8, .1),
      {observe(0, 20),
       {{"op", "erase"}, {"slot", 2}},
       {{"op", "erase"}, {"slot", 1}},
       observe(0, 20),
       ask("score", 0, 2),
       slots()});
  add("many_erased", "Rows move up when many are gone; nothing changes to the eye.",
      {{"dimension", 17}, {"value_dimension", 3}, {"tau", .1}}, stream(40, 17, 60, .05), [] {
        Json steps = Json::array();
        steps.push_back(observe(0, 150));
        for (int id = 1; id <= 40; id += (id % 3 == 0 ? 2 : 1))
          steps.push_back({{"op", "erase"}, {"slot", id}});
        steps.push_back(observe(150, 200));
        steps.push_back(ask("read", 0, 5));
        steps.push_back(slots());
        return steps;
      }());
  add("configure", "Settings change in mid-stream; what was decided stays.",
      {{"dimension", 32}, {"tau", .3}}, stream(41, 32, 16, .3),
      {observe(0, 40),
       {{"op", "configure"}, {"config", {{"tau", .6}, {"budget", "ghost"}, {"m0", 5}}}},
       observe(40, 80),
       {{"op", "configure"},
        {"config", {{"budget", "adaptive"}, {"beta", 8}, {"usage_decay", .9}}}},
       observe(80, 120),
       {{"op", "configure"},
        {"config", {{"budget", "none"}, {"tau", nullptr}, {"gate", {{"a", 5}, {"b", .2}}}}}},
       observe(120, 140),
       slots()});
  return all;
}

// Learning a gate and choosing tau.
std::vector<Script> training_scripts() {
  const auto task = [](Json practice, double a, double b, double lambda, int seed, int steps) {
    return Json{
        {"op", "task"},
        {"practice", std::move(practice)},
        {"trainer", {{"a", a}, {"b", b}, {"lambda", lambda}, {"rate", .05}, {"seed", seed}}},
        {"steps", steps}};
  };
  const auto practice = [](int dimension, int least, int most, double noise, int repeats,
                           int seed) {
    return Json{{"dimension", dimension}, {"classes", 16},      {"least", least}, {"most", most},
                {"noise", noise},         {"repeats", repeats}, {"seed", seed}};
  };
  const auto pairs = [](const char* op, Json rule, int to) {
    return Json{{"op", op}, {"stream", std::move(rule)}, {"from", 0}, {"to", to}};
  };
  const auto bound = [](Json step, double alpha, double confidence) {
    step["max_false_merge"] = alpha;
    step["confidence"] = confidence;
    step["at"] = {0, 20, 50, 80, 120, 200, 400};
    return step;
  };
  std::vector<Script> all;
  all.push_back({"task",
                 {{"about", "A gate from the task's loss alone, on episodes of the noise model."},
                  {"steps",
                   {task(practice(64, 16, 64, .3, 0, 1), 1, .5, .5, 1, 600),
                    task(practice(64, 16, 64, 0, 0, 2), -5, .3, .5, 2, 120),
                    task(practice(33, 4, 12, .5, 3, 3), 10, .05, 2, 3, 200),
                    task(practice(16, 4, 8, .2, 0, 4), 1, .5, 100, 4, 200)}}}});
  const Json noisy = stream(51, 24, 3, .7);
  all.push_back(
      {"pairs",
       {{"about", "A gate from labelled pairs of a stream, at once and one by one."},
        {"steps",
         {pairs("novelties", stream(50, 37, 3, .4), 20),
          with(pairs("pairs", noisy, 300), "false_merge_cost", 1),
          with(pairs("pairs", noisy, 300), "false_merge_cost", 25),
          with(pairs("pairs", stream(52, 48, 4, .1), 60), "false_merge_cost", 1),
          with(pairs("pairs", stream(53, 8, 1, .5), 30), "false_merge_cost", 1),
          with(with(pairs("online", noisy, 400), "start", {{"a", 10}, {"b", 1}}), "rate", .02),
          with(with(pairs("online", noisy, 400), "start", {{"a", 1}, {"b", 0}}), "rate", .5)}}}});
  Json items = {{"op", "items"},
                {"stream", stream(54, 16, 30, .6)},
                {"reference", 60},
                {"from", 60},
                {"to", 360}};
  all.push_back(
      {"calibrate",
       {{"about", "Choosing tau with a bound on false merges, per pair and per item; refusals."},
        {"steps",
         {bound(pairs("calibrate", noisy, 900), .05, .9),
          bound(pairs("calibrate", noisy, 900), .2, .5),
          bound(pairs("calibrate", noisy, 100), .01, .9),
          bound(pairs("calibrate", stream(55, 2, 40, .05), 900), .001, .99), bound(items, .1, .9),
          bound(items, .02, .8)}}}});
  const auto next = [&](Json step, double alpha, double confidence, std::uint64_t upcoming) {
    return with(bound(std::move(step), alpha, confidence), "upcoming", upcoming);
  };
  all.push_back(
      {"upcoming",
       {{"about",
         "Choosing tau with a bound on false merges among those that come next; refusals."},
        {"steps",
         {next(pairs("calibrate", noisy, 900), .05, .9, 1000),
          next(pairs("calibrate", noisy, 900), .05, .9, 60),
          next(pairs("calibrate", noisy, 900), .05, .9, dpcache::kMaxInteger),
          next(pairs("calibrate", noisy, 60), .3, .9, 1),
          next(pairs("calibrate", noisy, 60), .01, .95, 50),
          next(pairs("calibrate", stream(55, 1, 40, .05), 900), .6, .99, 1200),
          next(items, .1, .9, 300), next(items, .02, .8, 50)}}}});
  return all;
}

std::string text_of(const Json& vector) {
  // A line a step and a line an answer, so that differences are readable.
  std::string text = "{\n";
  for (const auto& [key, value] : vector.items()) {
    if (text.size() > 2) text += ",\n";
    text += "  " + Json(key).dump() + ": ";
    if (key != "steps" && key != "answers") {
      text += value.dump();
      continue;
    }
    text += "[";
    for (std::size_t i = 0; i < value.size(); ++i)
      text += (i == 0 ? "\n    " : ",\n    ") + value[i].dump();
    text += "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::cerr << "usage: make_vectors [--check] FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[argc - 1];
  int different = 0;
  // Writes or compares a file.
  const auto put = [&](const std::filesystem::path& path, const std::string& text) {
    if (!check) {
      std::ofstream(path, std::ios::binary) << text;
      return;
    }
    std::ifstream in(path, std::ios::binary);
    const std::string there(std::istreambuf_iterator<char>(in), {});
    if (there == text) return;
    std::cerr << path.filename().string()
              << " is not what make_vectors writes; run scripts/vectors\n";
    ++different;
  };
  for (const Script& script : training_scripts()) {
    Json vector = script.json;
    vector["answers"] = dpcache::vectors::run_training(script.json);
    put(folder / "train" / (script.name + ".json"), text_of(vector));
  }
  put(folder / "guards" / "pairs.json", dpcache::vectors::guard_vectors().dump(1) + "\n");
  for (Script& script : scripts()) {
    const dpcache::Config config = *dpcache::config_from_json(script.json["config"].dump());
    dpcache::vectors::ReferenceMachine reference(config);
    dpcache::vectors::CacheMachine machine(config);
    Json vector = script.json;
    vector["answers"] = dpcache::vectors::run(reference, script.json);
    const Json answers = dpcache::vectors::run(machine, script.json);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == vector["answers"][i]) continue;
      std::cerr << script.name << ": the cache's answer to step " << i
                << " is not the reference's\n";
      for (std::size_t j = 0; j < answers[i].size(); ++j) {
        if (!answers[i].is_array() || answers[i][j] == vector["answers"][i][j]) continue;
        std::cerr << "  item " << j << "\n  cache     " << answers[i][j] << "\n  reference "
                  << vector["answers"][i][j] << '\n';
        break;
      }
      return 1;
    }
    const std::vector<std::byte> file = machine.cache().save();
    vector["state_hash"] = dpcache::vectors::hex(machine.cache().stats().state_hash);
    vector["snapshot_hash"] = dpcache::vectors::hex(dpcache::hash64(file, 0));

    put(folder / (script.name + ".json"), text_of(vector));
  }
  return different == 0 ? 0 : 1;
}
