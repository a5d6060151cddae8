// What train writes: a gate, or a tau, as the settings of a cache in JSON.
#ifndef DPCACHE_CLI_GATE_FILE_H_
#define DPCACHE_CLI_GATE_FILE_H_

#include <string>

#include "dpcache/config.h"

namespace dpcache::cli {

// {"dimension": 256, "gate": {"a": 9.5, "b": 0.2}, "encoder": "..."}: what a server's PUT and the
// npm module take as it is. Only these settings of `config` are written.
std::string gate_text(const Config& config);
// Such settings; others may stand beside them. Throws Failure(input).
Config read_gate_file(const std::string& path);
// Settings of a cache, as inspect and a server show them. Throws Failure(input).
Config read_settings_file(const std::string& path);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_GATE_FILE_H_
