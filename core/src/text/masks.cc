// The list of masks: its names, parsed and printed.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "dpcache/text.h"
#include "text/mask_scan.h"

namespace dpcache {

Masks Masks::all() {
  Masks masks;
  masks.number = masks.hex = masks.ip = masks.uuid = masks.time = masks.path = true;
  return masks;
}

namespace {

constexpr bool Masks::*kMembers[text::kBuiltinMasks] = {&Masks::number, &Masks::hex,  &Masks::ip,
                                                        &Masks::uuid,   &Masks::time, &Masks::path};

}  // namespace

Result<Masks> Masks::parse(std::string_view names) {
  if (names == "all") return all();
  Masks masks;
  if (names == "none") return masks;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    bool known = false;
    for (std::size_t kind = 0; kind < text::kBuiltinMasks; ++kind) {
      if (name != text::kMaskNames[kind]) continue;
      masks.*kMembers[kind] = true;
      known = true;
    }
    if (!known) {
      std::string detail = "there is no mask '";
      detail.append(name).append("'; there are");
      for (const std::string_view mask : text::kMaskNames)
        detail.append(" ").append(mask).append(",");
      detail += " all and none";
      return Status{Error::bad_config, 0, "/masks", std::move(detail)};
    }
    begin = end + 1;
  }
  return masks;
}

std::string Masks::names() const {
  std::string out;
  for (std::size_t kind = 0; kind < text::kBuiltinMasks; ++kind) {
    if (!(this->*kMembers[kind])) continue;
    if (!out.empty()) out += ',';
    out += text::kMaskNames[kind];
  }
  return out.empty() ? "none" : out;
}

}  // namespace dpcache
