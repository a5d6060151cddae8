// Advice as JSON, for the server's answers and the command line.
#ifndef DPCACHE_SERVER_API_ADVICE_JSON_H_
#define DPCACHE_SERVER_API_ADVICE_JSON_H_

#include "api/json_writer.h"
#include "dpcache/advise.h"

namespace dpcache::server {

// The fields of an object that the caller begins and ends: items, sampled, tau, evidence, reason,
// valleys, tried, histogram and the rest.
void write_fields(JsonWriter& json, const Advice& advice);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_ADVICE_JSON_H_
