// Linked to a test, it has every memory file checked in a thread of its own, however small.
#include "snapshot.h"

namespace {

const bool kAlways = [] {
  dpcache::snapshot::checked_apart_from = 0;
  return true;
}();

}  // namespace
