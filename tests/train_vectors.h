// Runs the script of a training vector and writes down what is learned. tests/vectors/README.md
// describes the files.
#ifndef DPCACHE_TESTS_TRAIN_VECTORS_H_
#define DPCACHE_TESTS_TRAIN_VECTORS_H_

#include <string>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "hash.h"
#include "vector_runner.h"

namespace dpcache::vectors {

inline Json to_json(const std::optional<Gate>& gate) {
  return gate ? Json{{"a", number(gate->a)}, {"b", number(gate->b)}} : Json();
}

// Item t of the stream, and which of the distinct ones it repeats.
struct TrainStream {
  explicit TrainStream(const Json& json)
      : rule{json["seed"], json["dimension"], json["distinct"],
             static_cast<float>(json["noise"].get<double>())} {}
  LabelledItems items(std::uint64_t from, std::uint64_t to) const {
    LabelledItems list;
    list.dimension = rule.dimension;
    for (std::uint64_t t = from; t < to; ++t) {
      const std::vector<float> key = rule.key(t);
      list.keys.insert(list.keys.end(), key.begin(), key.end());
      list.labels.push_back(rule.source(t));
    }
    return list;
  }
  streams::Rule rule;
};

// Pairs (2 t, 2 t + 1) of a stream for t in [from, to): the same if they repeat the same vector.
// Refused pairs do not occur.
inline std::vector<Judged> judged_pairs(const Json& step, const TrainStream& stream) {
  std::vector<Judged> pairs;
  for (std::uint64_t t = step["from"]; t < step["to"].get<std::uint64_t>(); ++t) {
    const std::uint64_t one = 2 * t;
    const Verdict verdict =
        stream.rule.source(one) == stream.rule.source(one + 1) ? Verdict::same : Verdict::different;
    pairs.push_back({*novelty_between(stream.rule.key(one), stream.rule.key(one + 1)), verdict});
  }
  return pairs;
}

inline Json to_json(const Calibration& calibration, const Json& step) {
  const auto point = [](const CurvePoint& at) {
    return Json{number(at.tau), at.false_merges, at.missed_merges, at.false_merge_bound};
  };
  Json json;
  json["at_risk"] = calibration.at_risk;
  json["mergeable"] = calibration.mergeable;
  json["chosen"] = calibration.chosen ? point(*calibration.chosen) : Json();
  json["reason"] = calibration.reason;
  json["needed"] = calibration.needed ? Json(*calibration.needed) : Json();
  for (const Json& at : step["at"]) {
    json["curve"].push_back(point(calibration.curve[at.get<std::size_t>()]));
  }
  return json;
}

inline CalibrationOptions calibration_options(const Json& step) {
  CalibrationOptions options;
  options.max_false_merge = step["max_false_merge"];
  options.confidence = step["confidence"];
  options.upcoming = step.value("upcoming", options.upcoming);
  return options;
}

inline Json learn_from_task(const Json& step) {
  const Json& practice = step["practice"];
  PracticeOptions setting;
  setting.dimension = practice["dimension"];
  setting.classes = practice["classes"];
  setting.least = practice["least"];
  setting.most = practice["most"];
  setting.noise = practice["noise"];
  setting.repeats = practice["repeats"];
  setting.seed = practice["seed"];
  const Json& trainer = step["trainer"];
  TrainerOptions options;
  options.a = trainer["a"];
  options.b = trainer["b"];
  options.lambda = trainer["lambda"];
  options.rate = trainer["rate"];
  options.seed = trainer["seed"];
  Practice episodes = std::move(*Practice::create(setting));
  GateTrainer learner = std::move(*GateTrainer::create(options));
  double loss = 0.0;
  std::vector<float> all;  // every number of every episode
  for (int i = 0; i < step["steps"].get<int>(); ++i) {
    const Episode episode = episodes.next();
    all.insert(all.end(), episode.keys.begin(), episode.keys.end());
    all.insert(all.end(), episode.queries.begin(), episode.queries.end());
    loss = learner.step(*Lesson::prepare(episode));
  }
  Json json;
  json["loss"] = loss;
  json["gate"] = to_json(learner.gate());
  json["episodes_hash"] = hex(hash64(std::as_bytes(std::span(all)), 0));
  return json;
}

// One answer a step.
inline Json run_training(const Json& script) {
  Json answers = Json::array();
  for (const Json& step : script["steps"]) {
    const std::string op = step["op"];
    Json answer;
    if (op == "task") {
      answer = learn_from_task(step);
    } else if (op == "items") {
      const TrainStream stream(step["stream"]);
      const LabelledItems reference = stream.items(0, step["reference"]);
      const LabelledItems items = stream.items(step["from"], step["to"]);
      const std::vector<Trial> trials = *trials_against(reference, items);
      CalibrationOptions options = calibration_options(step);
      options.per = Per::item;
      answer = to_json(*calibrate(trials, options), step);
      for (const Trial& trial : trials) answer["novelties"].push_back(number(trial.novelty));
    } else {
      const std::vector<Judged> pairs = judged_pairs(step, TrainStream(step["stream"]));
      if (op == "novelties") {
        for (const Judged& pair : pairs) answer.push_back(number(pair.novelty));
      } else if (op == "pairs") {
        PairOptions options;
        options.false_merge_cost = step["false_merge_cost"];
        const LearnedGate learned = *gate_from_pairs(pairs, options);
        answer["gate"] = to_json(learned.gate);
        answer["reason"] = learned.reason;
        answer["same"] = learned.same;
        answer["different"] = learned.different;
        answer["separation"] = learned.separation;
        answer["loss"] = learned.loss;
      } else if (op == "online") {
        const Gate start{static_cast<float>(step["start"]["a"].get<double>()),
                         static_cast<float>(step["start"]["b"].get<double>())};
        OnlineGate gate = std::move(*OnlineGate::create(start, {step["rate"]}));
        for (const Judged& pair : pairs) gate.correct(pair);
        answer["gate"] = to_json(std::optional(gate.gate()));
        answer["steps"] = gate.steps();
      } else {  // calibrate
        std::vector<Trial> trials;
        for (const Judged& pair : pairs) trials.push_back(trial_of(pair));
        answer = to_json(*calibrate(trials, calibration_options(step)), step);
      }
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace dpcache::vectors

#endif  // DPCACHE_TESTS_TRAIN_VECTORS_H_
