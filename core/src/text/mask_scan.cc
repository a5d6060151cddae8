// The one scanner for texts as they are.
#include "text/mask_scan.h"

namespace dpcache::text {

void scan(std::string_view text, unsigned masks, std::span<const std::string> own, TextSink& sink) {
  if (masks == 0 && own.empty()) {
    sink.literal(0, text.size());
    return;
  }
  const Bytes bytes(text);
  MaskScanner<Bytes>(bytes, masks, own, sink).run();
}

}  // namespace dpcache::text
