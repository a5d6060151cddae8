// A gate from the task's loss alone: which keeps make the answers right, at a price for each.
#include <algorithm>
#include <cmath>
#include <utility>

#include "aligned.h"
#include "dpcache/train.h"
#include "kernels.h"
#include "train/check.h"
#include "train/numbers.h"
#include "validate.h"

namespace dpcache {

namespace {

// Rows at unit length, padded.
Status normalise_rows(std::span<const float> x, std::size_t dimension, const char* pointer,
                      AlignedFloats& rows) {
  for (std::size_t i = 0; i * dimension < x.size(); ++i) {
    const std::span<const float> row = x.subspan(i * dimension, dimension);
    if (Status status = check_vector(row, dimension, pointer); !status) {
      status.index = i;
      return status;
    }
    kernels::normalise(row, {rows.data() + i * padded(dimension), padded(dimension)});
  }
  return {};
}

Status check_classes(std::span<const std::uint32_t> list, std::uint32_t classes,
                     const char* pointer) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] < classes) continue;
    return {Error::bad_request, i, pointer,
            "a class must be below the number of classes, " + std::to_string(classes)};
  }
  return {};
}

Status check_shape(const Episode& episode) {
  const auto bad = [](const char* pointer, const char* what) {
    return Status{Error::bad_shape, 0, pointer, what};
  };
  if (episode.dimension == 0 || episode.dimension > kMaxDimension) {
    return bad("/dimension", "dimension must be an integer from 1 to 65536");
  }
  if (episode.classes < 2) {
    return {Error::bad_request, 0, "/classes", "there must be at least 2 classes"};
  }
  if (episode.key_classes.empty()) return bad("/key_classes", "an episode needs items");
  if (episode.query_classes.empty()) return bad("/query_classes", "an episode needs queries");
  const std::size_t d = episode.dimension;
  if (episode.keys.size() != episode.key_classes.size() * d) {
    return bad("/keys", "there must be a key of the given dimension for each class of an item");
  }
  if (episode.queries.size() != episode.query_classes.size() * d) {
    return bad("/queries", "there must be a query of the given dimension for each answer");
  }
  constexpr std::size_t kMostCells = std::size_t{1} << 27U;  // 1.2 GB
  if (episode.key_classes.size() > kMostCells / episode.query_classes.size()) {
    return {Error::full, 0, "/keys",
            "items times queries must be at most 2^27: give a shorter episode"};
  }
  return {};
}

}  // namespace

Result<Lesson> Lesson::prepare(const Episode& episode, const LessonOptions& options) {
  if (!is_within(options.theta, 1e-4, 100.0)) return bad_option("theta", "from 0.0001 to 100");
  if (!is_within(options.null_similarity, -1.0, 1.0)) {
    return bad_option("null_similarity", "from -1 to 1");
  }
  if (Status status = check_shape(episode); !status) return status;
  const std::uint32_t classes = episode.classes;
  if (Status status = check_classes(episode.key_classes, classes, "/key_classes"); !status) {
    return status;
  }
  if (Status status = check_classes(episode.query_classes, classes, "/query_classes"); !status) {
    return status;
  }
  const std::size_t n = episode.key_classes.size();
  const std::size_t q = episode.query_classes.size();
  const std::size_t length = padded(episode.dimension);
  constexpr std::size_t kCell = sizeof(double) + 1;
  if (!room_for((n + q) * length * sizeof(float) + n * q * kCell + (std::size_t{1} << 16U))) {
    return Status{Error::full, 0, "/keys", "there is no memory for this episode"};
  }
  AlignedFloats keys(n * length);
  AlignedFloats queries(q * length);
  if (Status status = normalise_rows(episode.keys, episode.dimension, "/keys", keys); !status) {
    return status;
  }
  if (Status status = normalise_rows(episode.queries, episode.dimension, "/queries", queries);
      !status) {
    return status;
  }

  Lesson lesson;
  lesson.queries_ = q;
  lesson.uniform_ = 1.0 / static_cast<double>(classes);
  const float margin = snap_margin(length);
  std::vector<float> scores(n);
  lesson.novelties_.push_back(1.0F);
  for (std::size_t t = 1; t < n; ++t) {
    kernels::dots(keys.data() + t * length, keys.data(), length, t, scores.data());
    const auto end = scores.begin() + static_cast<std::ptrdiff_t>(t);
    lesson.novelties_.push_back(1.0F - snap(*std::max_element(scores.begin(), end), margin));
  }
  lesson.weights_.reserve(n * q);
  lesson.matches_.reserve(n * q);
  // Beyond e^50 one key outweighs all others anyway, and products of two must stay finite.
  constexpr double kLargest = 50.0;
  for (std::size_t i = 0; i < q; ++i) {
    kernels::dots(queries.data() + i * length, keys.data(), length, n, scores.data());
    for (std::size_t t = 0; t < n; ++t) {
      const auto similarity = static_cast<double>(snap(scores[t], margin));
      const double x = (similarity - options.null_similarity) / options.theta;
      lesson.weights_.push_back(exponential(x < kLargest ? x : kLargest));
      lesson.matches_.push_back(episode.key_classes[t] == episode.query_classes[i] ? 1 : 0);
    }
  }
  return lesson;
}

Result<GateTrainer> GateTrainer::create(const TrainerOptions& options) {
  if (!is_within(options.a, -1000.0, 1000.0)) return bad_option("a", "from -1000 to 1000");
  if (!is_within(options.b, -2.0, 4.0)) return bad_option("b", "from -2 to 4");
  if (!is_within(options.lambda, 0.0, 1000.0)) return bad_option("lambda", "from 0 to 1000");
  if (!(options.rate > 0.0 && options.rate <= 1.0)) return bad_option("rate", "above 0, at most 1");
  GateTrainer trainer;
  trainer.slope_.value = options.a;
  trainer.offset_.value = -options.a * options.b;
  trainer.lambda_ = options.lambda;
  trainer.rate_ = options.rate;
  trainer.random_ = RandomBits::start(options.seed);
  return trainer;
}

double GateTrainer::step(const Lesson& lesson) {
  const std::size_t n = lesson.items();
  const std::size_t q = lesson.queries();
  if (n == 0) return 0.0;
  gates_.resize(n);
  keeps_.resize(n);
  gains_.assign(n, 0.0);
  RandomBits random(random_);
  double kept = 0.0;
  for (std::size_t t = 0; t < n; ++t) {
    const auto novelty = static_cast<double>(lesson.novelties_[t]);
    gates_[t] = logistic(slope_.value * novelty + offset_.value);
    keeps_[t] = random.uniform() < gates_[t] ? 1.0 : 0.0;
    kept += keeps_[t];
  }

  // The probability of the right class is N / Z. The null slot has weight 1 and answers evenly.
  double loss = 0.0;
  for (std::size_t i = 0; i < q; ++i) {
    const double* weights = lesson.weights_.data() + i * n;
    const std::uint8_t* matches = lesson.matches_.data() + i * n;
    double z = 1.0;
    double right = lesson.uniform_;
    for (std::size_t t = 0; t < n; ++t) {
      const double weight = keeps_[t] * weights[t];
      z += weight;
      if (matches[t] != 0) right += weight;
    }
    loss += logarithm(z / right);
    for (std::size_t t = 0; t < n; ++t) {
      // What keeping item t adds to the loss, given all other keeps. Sums without it may round
      // below what the null slot alone gives.
      const double own = keeps_[t] * weights[t];
      const double z_without = std::max(z - own, 1.0);
      double gain = logarithm_of_one_plus(weights[t] / z_without);
      if (matches[t] != 0) {
        const double right_without = std::max(right - own, lesson.uniform_);
        gain -= logarithm_of_one_plus(weights[t] / right_without);
      }
      gains_[t] += gain;
    }
  }

  const auto size = static_cast<double>(q);
  const double price = lambda_ / size;
  double slope = 0.0;
  double offset = 0.0;
  for (std::size_t t = 0; t < n; ++t) {
    const double g = gates_[t];
    const double pull = (gains_[t] / size + price) * (g * (1.0 - g));
    slope += pull * static_cast<double>(lesson.novelties_[t]);
    offset += pull;
  }
  ++steps_;
  mean_left_ *= 0.9;
  square_left_ *= 0.999;
  descend(slope_, slope);
  descend(offset_, offset);
  return loss / size + price * kept;
}

void GateTrainer::descend(Parameter& parameter, double gradient) const noexcept {
  parameter.mean = 0.9 * parameter.mean + 0.1 * gradient;
  parameter.square = 0.999 * parameter.square + 0.001 * (gradient * gradient);
  const double mean = parameter.mean / (1.0 - mean_left_);
  const double square = parameter.square / (1.0 - square_left_);
  parameter.value -= rate_ * (mean / (std::sqrt(square) + 1e-8));
}

std::optional<Gate> GateTrainer::gate() const noexcept {
  const double a = slope_.value;
  constexpr double kLeastSlope = 1e-6;
  if (!(a > kLeastSlope)) return std::nullopt;
  const double b = -offset_.value / a;
  if (!is_within(b, 0.0, 2.0)) return std::nullopt;
  return Gate{static_cast<float>(a), static_cast<float>(b)};
}

}  // namespace dpcache
