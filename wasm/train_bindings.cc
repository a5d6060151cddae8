// Training as a few calls for JavaScript, in the form of bindings.cc: arguments stand in the
// request, the answer in the reply (wire.h), and every reply begins with its number of errors.
#include <emscripten/bind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/train.h"
#include "wire.h"

namespace dpcache::wasm {
namespace {

Request request;
Reply reply;

using Address = double;  // an integer above 2 GiB would arrive in JavaScript as a negative one

Address address(const void* pointer) {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer));
}

// What learns step by step, by handle.
struct Learner {
  std::optional<OnlineGate> online;
  std::optional<GateTrainer> trainer;
  std::optional<Practice> practice;
  LessonOptions lesson;
};
std::vector<std::unique_ptr<Learner>> learners;

// --- Replies

void begin() {
  request.rewind();
  reply.clear();
}

void write(const Status& status) {
  reply.count(status.index);
  reply.bytes(to_string(status.code));
  reply.bytes(status.pointer);
  reply.bytes(status.detail);
}

Address refuse(std::span<const Status> errors) {
  reply.count(errors.size());
  for (const Status& error : errors) write(error);
  return address(reply.data());
}

Address refuse(const Status& error) {
  return refuse(std::span(&error, 1));
}

// The start of an answer that is none of the errors.
void accept() {
  reply.number(0.0);
}

Address answer() {
  return address(reply.data());
}

void write(const std::optional<Gate>& gate) {
  reply.number(gate ? gate->a : kNone);
  reply.number(gate ? gate->b : kNone);
}

void write(const CurvePoint& point) {
  reply.number(point.tau);
  reply.count(point.false_merges);
  reply.count(point.missed_merges);
  reply.number(point.false_merge_bound);
}

void write(const Calibration& calibration) {
  reply.count(calibration.at_risk);
  reply.count(calibration.mergeable);
  reply.bytes(calibration.reason);
  reply.maybe(calibration.needed);
  reply.count(calibration.chosen ? 1 : 0);
  if (calibration.chosen) write(*calibration.chosen);
  reply.count(calibration.curve.size());
  for (const CurvePoint& point : calibration.curve) write(point);
}

// --- Requests

// A whole number that fits, or one that the library refuses.
std::uint32_t read_whole() {
  return static_cast<std::uint32_t>(request.whole(UINT32_MAX - 1));
}

// A pair: whether it is the same, and its novelty (0), or its two vectors (1).
Result<Judged> read_judged() {
  Judged judged;
  judged.verdict = request.number() != 0.0 ? Verdict::same : Verdict::different;
  if (request.number() == 0.0) {
    judged.novelty = static_cast<float>(request.number());
    return judged;
  }
  const std::span<const float> a = request.floats();
  const std::span<const float> b = request.floats();
  const Result<float> novelty = novelty_between(a, b);
  if (!novelty) return novelty.status;
  judged.novelty = *novelty;
  return judged;
}

// Every pair, or every bad one.
std::vector<Judged> read_pairs(std::vector<Status>& errors) {
  const auto count = static_cast<std::size_t>(request.number());
  std::vector<Judged> pairs;
  pairs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Result<Judged> one = read_judged();
    if (one) {
      pairs.push_back(*one);
      continue;
    }
    one.status.index = i;
    errors.push_back(std::move(one.status));
  }
  return pairs;
}

LabelledItems read_items() {
  LabelledItems items;
  const auto count = static_cast<std::size_t>(request.number());
  items.dimension = read_whole();
  items.labels.reserve(count);
  items.keys.reserve(count * items.dimension);
  for (std::size_t i = 0; i < count; ++i) {
    items.labels.push_back(request.whole(kMaxInteger));
    const std::span<const float> key = request.floats();
    items.keys.insert(items.keys.end(), key.begin(), key.end());
  }
  return items;
}

CalibrationOptions read_bound(Per per) {
  CalibrationOptions options;
  options.max_false_merge = request.number();
  options.confidence = request.number();
  options.upcoming = request.whole(kMaxInteger);
  options.per = per;
  return options;
}

Address calibrate_trials(std::span<const Trial> trials, const CalibrationOptions& options) {
  const Result<Calibration> calibration = calibrate(trials, options);
  if (!calibration) return refuse(calibration.status);
  accept();
  write(*calibration);
  return answer();
}

// --- Calls

Address learn_pairs(std::uint32_t /*handle*/) {
  begin();
  std::vector<Status> errors;
  const std::vector<Judged> pairs = read_pairs(errors);
  if (!errors.empty()) return refuse(errors);
  PairOptions options;
  options.false_merge_cost = request.number();
  const Result<LearnedGate> learned = gate_from_pairs(pairs, options);
  if (!learned) return refuse(learned.status);
  accept();
  write(learned->gate);
  reply.bytes(learned->reason);
  reply.count(learned->same);
  reply.count(learned->different);
  reply.number(learned->separation);
  reply.number(learned->loss);
  return answer();
}

Address calibrate_pairs(std::uint32_t /*handle*/) {
  begin();
  std::vector<Status> errors;
  std::vector<Trial> trials;
  for (const Judged& pair : read_pairs(errors)) trials.push_back(trial_of(pair));
  if (!errors.empty()) return refuse(errors);
  return calibrate_trials(trials, read_bound(Per::pair));
}

Address calibrate_items(std::uint32_t /*handle*/) {
  begin();
  const LabelledItems reference = read_items();
  const LabelledItems items = read_items();
  const Result<std::vector<Trial>> trials = trials_against(reference, items);
  if (!trials) return refuse(trials.status);
  return calibrate_trials(*trials, read_bound(Per::item));
}

Address novelties(std::uint32_t /*handle*/) {
  begin();
  std::vector<Status> errors;
  const std::vector<Judged> pairs = read_pairs(errors);
  if (!errors.empty()) return refuse(errors);
  accept();
  reply.count(pairs.size());
  for (const Judged& pair : pairs) reply.number(pair.novelty);
  return answer();
}

Address add(Learner learner) {
  accept();
  for (std::size_t i = 0; i < learners.size(); ++i) {
    if (learners[i]) continue;
    learners[i] = std::make_unique<Learner>(std::move(learner));
    reply.count(i);
    return answer();
  }
  learners.push_back(std::make_unique<Learner>(std::move(learner)));
  reply.count(learners.size() - 1);
  return answer();
}

Address create_online(std::uint32_t /*handle*/) {
  begin();
  const auto a = static_cast<float>(request.number());
  const auto b = static_cast<float>(request.number());
  Result<OnlineGate> gate = OnlineGate::create({a, b}, {request.number()});
  if (!gate) return refuse(gate.status);
  Learner learner;
  learner.online = *gate;
  return add(std::move(learner));
}

Address correct(std::uint32_t handle) {
  begin();
  Result<Judged> judged = read_judged();
  if (!judged) return refuse(judged.status);
  OnlineGate& gate = *learners[handle]->online;
  const Status status = gate.correct(*judged);
  if (!status) return refuse(status);
  accept();
  write(std::optional(gate.gate()));
  return answer();
}

Address create_trainer(std::uint32_t /*handle*/) {
  begin();
  TrainerOptions options;
  options.a = request.number();
  options.b = request.number();
  options.lambda = request.number();
  options.rate = request.number();
  options.seed = request.whole(kMaxInteger);
  Result<GateTrainer> trainer = GateTrainer::create(options);
  if (!trainer) return refuse(trainer.status);
  Learner learner;
  learner.trainer = std::move(*trainer);
  learner.lesson.theta = request.number();
  learner.lesson.null_similarity = request.number();
  if (request.number() != 0.0) {
    PracticeOptions setting;
    setting.dimension = read_whole();
    setting.classes = read_whole();
    setting.least = read_whole();
    setting.most = read_whole();
    setting.noise = request.number();
    setting.repeats = read_whole();
    setting.seed = request.whole(kMaxInteger);
    Result<Practice> practice = Practice::create(setting);
    if (!practice) {
      practice.status.pointer = "/practice" + practice.status.pointer;
      return refuse(practice.status);
    }
    learner.practice = std::move(*practice);
  }
  return add(std::move(learner));
}

Address take_step(Learner& learner, const Episode& episode) {
  const Result<Lesson> lesson = Lesson::prepare(episode, learner.lesson);
  if (!lesson) return refuse(lesson.status);
  const double loss = learner.trainer->step(*lesson);
  accept();
  reply.number(loss);
  write(learner.trainer->gate());
  return answer();
}

// A step on an episode of practice.
Address practise(std::uint32_t handle) {
  begin();
  Learner& learner = *learners[handle];
  return take_step(learner, learner.practice->next());
}

// A step on an episode of the caller's.
Address learn_episode(std::uint32_t handle) {
  begin();
  const auto copy = [](std::span<const float> x) { return std::vector<float>(x.begin(), x.end()); };
  const auto read_classes = [] {
    std::vector<std::uint32_t> classes(static_cast<std::size_t>(request.number()));
    for (std::uint32_t& one : classes) one = read_whole();
    return classes;
  };
  Episode episode;
  episode.dimension = read_whole();
  episode.classes = read_whole();
  episode.keys = copy(request.floats());
  episode.key_classes = read_classes();
  episode.queries = copy(request.floats());
  episode.query_classes = read_classes();
  return take_step(*learners[handle], episode);
}

void free_learner(std::uint32_t handle) {
  learners[handle].reset();
}

// --- The border itself

Address reserve(std::uint32_t cells) {
  return address(request.reserve(cells));
}

// Gives back what a large call left behind; the request has no cells then.
void trim() {
  request.free();
  reply.free();
}

EMSCRIPTEN_BINDINGS(dpcache_train) {
  using emscripten::function;
  function("reserve", &reserve);
  function("trim", &trim);
  function("novelties", &novelties);
  function("learnPairs", &learn_pairs);
  function("calibratePairs", &calibrate_pairs);
  function("calibrateItems", &calibrate_items);
  function("createOnline", &create_online);
  function("correct", &correct);
  function("createTrainer", &create_trainer);
  function("practise", &practise);
  function("learnEpisode", &learn_episode);
  function("freeLearner", &free_learner);
}

}  // namespace
}  // namespace dpcache::wasm
