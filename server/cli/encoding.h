// From text to vectors: the user's own masks, the encoder of a run, and a store of recent vectors.
#ifndef DPCACHE_CLI_ENCODING_H_
#define DPCACHE_CLI_ENCODING_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/example_json.h"
#include "cli/options.h"
#include "dpcache/cache.h"
#include "dpcache/text.h"

namespace dpcache::cli {

// Patterns that search by RE2, in time linear in the text. Failure(usage): not a regular
// expression, or one that matches nothing at all, and so everywhere.
std::vector<Pattern> compile(const std::vector<OwnMask>& masks);

// The encoder of a run that begins a memory, or has none: all masks on, where not told otherwise.
Encoder new_encoder(const EncoderOptions& options);
// The encoder that made the vectors of `memory`. Its own masks are in the memory's metadata, unless
// another program made it; then `options` must bring them. Failure(memory): there is none (it holds
// vectors), or `options` ask for another encoder.
Encoder encoder_of(const Cache& memory, const EncoderOptions& options, const std::string& path);
// So that the next run need not be told its masks again.
void keep_masks(Cache& memory, const std::vector<OwnMask>& masks);

// The vectors of recent texts. Lines of a log repeat, once masked, and encoding is the dearer half
// of the work. Only what the vector depends on is looked up, never a decision. Memory: at most
// 4,096 entries of a vector and up to 1 KiB of text, and 8 MiB for the vectors.
class RecentVectors {
 public:
  explicit RecentVectors(const Encoder& encoder);

  // The unit vector of `text`; valid until the next call.
  std::span<const float> of(std::string_view text);

 private:
  struct Entry {
    std::string masked;
    bool used = false;
  };

  const Encoder& encoder_;
  std::size_t dimension_;
  std::vector<Entry> entries_;  // by hash; a newer text takes the place of an older one
  // (entries + 1, dimension); the last one is for long texts. Pages that are not used take no
  // memory.
  std::unique_ptr<float[]> vectors_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_ENCODING_H_
