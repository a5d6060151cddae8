// What every mechanism of the paper's comparison is: a memory that is written item by item and
// read.
#ifndef DPCACHE_BENCH_PAPER_MECHANISM_H_
#define DPCACHE_BENCH_PAPER_MECHANISM_H_

#include <algorithm>
#include <cstddef>

#include "studies/attention.h"

namespace dpcache::paper {

using studies::add;
using studies::attend;
using studies::cosine;
using studies::cosines;
using studies::dot;
using studies::Entry;
using studies::kClasses;
using studies::Key;
using studies::kTheta;
using studies::largest;
using studies::one_hot;
using studies::softmax;
using studies::Value;

class Mechanism {
 public:
  Mechanism() = default;
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;
  Mechanism(Mechanism&&) = delete;
  Mechanism& operator=(Mechanism&&) = delete;
  virtual ~Mechanism() = default;

  // The next item of the stream: its key of unit length and its class.
  virtual void write(const Key& key, std::size_t item_class) = 0;
  // The stream has ended: for those that choose once, offline.
  virtual void finish() {}
  // The mixed value; its largest component is the answer.
  virtual Value read(const Key& query) const = 0;
  // Entries that a read may look at; for a state that is a matrix, its rows.
  virtual double slots() const = 0;
  // Floats that must be kept between items, fixed random projections not counted.
  virtual double floats() const = 0;

  std::size_t answer(const Key& query) const {
    const Value value = read(query);
    return static_cast<std::size_t>(std::max_element(value.begin(), value.end()) - value.begin());
  }
};

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_MECHANISM_H_
