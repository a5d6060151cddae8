// What clients have sent, as the library takes it.
#ifndef DPCACHE_SERVER_API_SENT_ITEMS_H_
#define DPCACHE_SERVER_API_SENT_ITEMS_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "api/body.h"
#include "service/hosted.h"

namespace dpcache::server {

// Brings texts to vectors. What is wrong is added to the errors, and has no key then.
template <class One>
void encode_texts(const Hosted& hosted, Sent<One>& sent) {
  for (std::size_t i = 0; i < sent.list.size(); ++i) {
    One& one = sent.list[i];
    if (!one.text) continue;
    const auto fail = [&](Status status) {
      status.index = i;
      sent.errors.push_back(std::move(status));
      one.key = {};
    };
    if (!hosted.encoder) {
      fail({Error::encoder_mismatch, i, "/text",
            "this cache takes vectors: it has no encoder that the server knows"});
      continue;
    }
    one.key = {sent.floats.size(), hosted.dimension};
    sent.floats.resize(sent.floats.size() + hosted.dimension);
    const auto out = std::span(sent.floats).subspan(one.key.begin, one.key.size);
    if (Status status = hosted.encoder->encode(*one.text, out); !status) fail(std::move(status));
  }
}

template <class One>
std::span<const float> part(const Sent<One>& sent, Slice slice) {
  return std::span<const float>(sent.floats).subspan(slice.begin, slice.size);
}

// They view what was sent. `now`: the time of items without one.
inline std::vector<Item> items_of(const Sent<SentItem>& sent, std::int64_t now) {
  std::vector<Item> items(sent.list.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const SentItem& from = sent.list[i];
    Item& item = items[i];
    item.key = part(sent, from.key);
    item.value = part(sent, from.value);
    item.payload = from.payload;
    if (from.exact_key) item.exact_key = *from.exact_key;
    item.time = from.time.value_or(now);
    item.ttl_ms = from.ttl_ms;
    item.encoder = from.encoder;
    item.id = from.id;
    item.text = from.text ? *from.text : from.guard_text;
    item.scope = from.scope;
  }
  return items;
}

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_SENT_ITEMS_H_
