// The library's types as JSON answers.
#ifndef DPCACHE_SERVER_API_ANSWER_JSON_H_
#define DPCACHE_SERVER_API_ANSWER_JSON_H_

#include <string>

#include "api/json_writer.h"
#include "dpcache/cache.h"

namespace dpcache::server {

void write(JsonWriter& json, const Decision& decision);
void write(JsonWriter& json, const Match& match);
void write(JsonWriter& json, const Slot& slot, bool keys);
void write(JsonWriter& json, const Stats& stats);
void write(JsonWriter& json, const Lookup& lookup, const Cache& cache);
void write(JsonWriter& json, const Member& member);
void write(JsonWriter& json, const Event& event);
// What names a pair that waits for a review: "12-7", the newer slot first.
std::string review_id(SlotId slot, SlotId other);
// A payload as the JSON that it is; of other bytes a string; of none null.
void write_payload(JsonWriter& json, std::string_view payload);
// What a query is told beside its slots: what the cache would do with such an item.
void write_verdict(JsonWriter& json, float threshold, bool empty, float similarity);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_ANSWER_JSON_H_
