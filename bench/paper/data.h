// Real streams, log lines, pairs and embeddings, as read from the folder of shared data.
#ifndef DPCACHE_BENCH_PAPER_DATA_H_
#define DPCACHE_BENCH_PAPER_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "studies/studies.h"

namespace dpcache::paper {

// The data is not on this machine. The program then ends with exit code 77.
class Missing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Event {
  std::size_t text;  // index of what was seen
  std::size_t item;  // index of what it is, for the score alone
};

// A stream in its own order. For the streams of ids each item has one text.
struct RealStream {
  std::string name;
  std::vector<Event> events;
  std::vector<std::string> texts;     // different ones, in the order in which they came
  std::vector<std::size_t> classes;   // of each item: what is asked for; < kClasses
  std::vector<std::size_t> original;  // logs: a second label of each event

  // The share of items in the largest class: what a guess recalls.
  double largest_class() const;
};

// 541,909 purchases. An item is a stock code; its class one of eight price bands of equal size, by
// the item's median price.
RealStream retail();
// The same by description, as far as there is one with an embedding: items of one description are
// one.
RealStream retail_by_description();
// 21,141 events of patients. An item is a kind and a code; its class the kind.
RealStream clinical();
// 5,228 lines of claims. An item is a type and a procedure; its class the type.
RealStream claims();
// Twelve logs of 2,000 messages, masked. An item is a corrected label, `original` the original one;
// its class is drawn at random by `seed`.
std::vector<RealStream> logs(std::uint64_t seed);
// The logs' messages as they are, in the same order.
std::vector<std::vector<std::string>> log_messages();

// Sentence embeddings of 128 dimensions, ready made.
class SentenceVectors {
 public:
  SentenceVectors();
  // Nothing if the text has none. Runs of blanks count as one.
  std::optional<studies::Key> of(std::string_view text) const;

 private:
  std::unordered_map<std::string, studies::Key> keys_;
};

// Sentences as weighted means of word vectors (Arora et al., ICLR 2017), 100 dimensions.
class WordVectors {
 public:
  WordVectors();
  // Nothing if no word is known.
  std::optional<studies::Key> of(std::string_view text) const;

 private:
  std::unordered_map<std::string, std::size_t> ranks_;
  std::vector<std::vector<double>> vectors_;
  std::vector<double> common_;  // direction that is taken out
};

struct TextPair {
  bool same;         // may share a slot
  std::string kind;  // of the hand-written probes
  std::string a;
  std::string b;
};
// Word order turned round; negations and antonyms; hand-written probes.
std::vector<TextPair> paws();
std::vector<TextPair> negations();
std::vector<TextPair> probes();

struct Utterance {
  std::string intent;
  std::string text;
};
// The test split of questions to a bank (77 intents); of orders to an assistant (150).
std::vector<Utterance> banking();
std::vector<Utterance> assistant();

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_DATA_H_
