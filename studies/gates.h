// The study of gates that are learned from the task's loss alone: starts, learning, and what a
// cache with such a gate keeps.
#ifndef DPCACHE_STUDIES_GATES_H_
#define DPCACHE_STUDIES_GATES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "studies/studies.h"

namespace dpcache::studies {

inline constexpr std::array<std::pair<double, double>, 9> kGateStarts = {
    {{5, .5}, {1, .5}, {1, .1}, {1, .9}, {10, .9}, {10, .05}, {.1, .5}, {-2, .5}, {-5, .3}}};
inline constexpr int kGateSteps = 600;

// One trainer for each of the options, all on the same lessons.
inline std::vector<std::optional<Gate>> learned_gates(std::vector<TrainerOptions> options,
                                                      double noise, std::uint64_t seed) {
  PracticeOptions setting;
  setting.noise = noise;
  setting.seed = seed;
  Practice practice = *Practice::create(setting);
  std::vector<GateTrainer> trainers;
  trainers.reserve(options.size());
  for (TrainerOptions& one : options) {
    one.seed = seed;
    trainers.push_back(*GateTrainer::create(one));
  }
  for (int i = 0; i < kGateSteps; ++i) {
    const Lesson lesson = *Lesson::prepare(practice.next());
    for (GateTrainer& trainer : trainers) trainer.step(lesson);
  }
  std::vector<std::optional<Gate>> gates;
  gates.reserve(trainers.size());
  for (const GateTrainer& trainer : trainers) gates.push_back(trainer.gate());
  return gates;
}

// What a cache with this gate keeps and recalls of `count` items, four times each.
struct Kept {
  Spread slots;
  Spread recall;
  Spread kept;  // by the gate over past items, as in training
};

inline Kept kept_by(const Gate& gate, double noise, std::uint32_t count, std::uint64_t episodes) {
  PracticeOptions setting;
  setting.noise = noise;
  setting.least = setting.most = count;
  setting.repeats = 4;
  setting.seed = 99;
  Practice practice = *Practice::create(setting);
  Config config = settings(0.0);
  config.tau = {};
  config.gate = gate;
  Kept outcome;
  for (std::uint64_t i = 0; i < episodes; ++i) {
    const Episode episode = practice.next();
    const auto rows = [&](const std::vector<float>& all) {
      std::vector<Key> keys;
      for (std::size_t at = 0; at < all.size(); at += episode.dimension) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
        keys.emplace_back(begin, begin + episode.dimension);
      }
      return keys;
    };
    Stream stream;
    stream.keys = rows(episode.keys);
    stream.queries = rows(episode.queries);
    stream.classes.assign(episode.key_classes.begin(), episode.key_classes.end());
    stream.answers.assign(episode.query_classes.begin(), episode.query_classes.end());
    Memory memory(config);
    memory.observe(stream);
    outcome.slots.add(memory.slots());
    outcome.recall.add(memory.recall(stream));
    const Lesson lesson = *Lesson::prepare(episode);
    outcome.kept.add(
        static_cast<double>(std::count_if(lesson.novelties().begin(), lesson.novelties().end(),
                                          [&](float novelty) { return novelty > gate.b; })));
  }
  return outcome;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_GATES_H_
