// Guards as a few calls for JavaScript, in the form of bindings.cc: arguments stand in the request,
// the answer in the reply (wire.h), and every reply begins with its number of errors.
#include <emscripten/bind.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/guards.h"
#include "wire.h"

namespace dpcache::wasm {
namespace {

Request request;
Reply reply;

using Address = double;  // an integer above 2 GiB would arrive in JavaScript as a negative one

Address address(const void* pointer) {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer));
}

struct Guards {
  GuardSet on;
  GuardLanguage language;
};

std::vector<std::unique_ptr<Guards>> all;  // by handle

// --- Replies

void begin() {
  request.rewind();
  reply.clear();
}

Address refuse(const Status& error) {
  reply.count(1);
  reply.count(error.index);
  reply.bytes(to_string(error.code));
  reply.bytes(error.pointer);
  reply.bytes(error.detail);
  return address(reply.data());
}

// The start of an answer that is none of the errors.
void accept() {
  reply.number(0.0);
}

Address answer() {
  return address(reply.data());
}

// --- Calls

Address create(std::uint32_t /*handle*/) {
  begin();
  Guards guards;
  const Result<GuardSet> on = GuardSet::parse(request.bytes());
  if (!on) return refuse(on.status);
  guards.on = *on;
  if (const std::optional<std::string_view> table = request.maybe_bytes()) {
    Result<GuardLanguage> language = GuardLanguage::parse(*table);
    if (!language) return refuse(language.status);
    guards.language = std::move(*language);
  } else {
    guards.language = GuardLanguage::english();
  }
  std::size_t handle = 0;
  while (handle < all.size() && all[handle]) ++handle;
  if (handle == all.size()) all.emplace_back();
  all[handle] = std::make_unique<Guards>(std::move(guards));
  accept();
  reply.count(handle);
  return answer();
}

// A text, or facts that were kept.
Result<GuardFacts> read_facts(const Guards& guards, const char* pointer) {
  const bool kept = request.number() != 0.0;
  const std::string_view bytes = request.bytes();
  if (!kept) return guard_facts(bytes, guards.language);
  Status cut{Error::bad_snapshot, 0, pointer, "guard facts are cut"};
  if (bytes.size() % sizeof(std::uint64_t) != 0) return cut;
  std::vector<std::uint64_t> cells(bytes.size() / sizeof(std::uint64_t));
  if (!cells.empty()) std::memcpy(cells.data(), bytes.data(), bytes.size());
  Result<GuardFacts> facts = GuardFacts::from_cells(cells);
  facts.status.pointer = pointer;
  return facts;
}

Address between(std::uint32_t handle) {
  begin();
  const Guards& guards = *all[handle];
  const Result<GuardFacts> a = read_facts(guards, "/a");
  if (!a) return refuse(a.status);
  const Result<GuardFacts> b = read_facts(guards, "/b");
  if (!b) return refuse(b.status);
  accept();
  reply.count(guards_between(*a, *b, guards.on).bits());
  return answer();
}

Address facts(std::uint32_t handle) {
  begin();
  const GuardFacts found = guard_facts(request.bytes(), all[handle]->language);
  accept();
  const std::span<const std::uint64_t> cells = found.cells();
  reply.bytes({reinterpret_cast<const char*>(cells.data()), cells.size_bytes()});
  return answer();
}

Address explain(std::uint32_t handle) {
  begin();
  const Guards& guards = *all[handle];
  const std::string_view a = request.bytes();
  const std::string_view b = request.bytes();
  const std::vector<GuardFinding> findings = explain_guards(a, b, guards.on, guards.language);
  accept();
  reply.count(findings.size());
  for (const GuardFinding& finding : findings) {
    reply.bytes(to_string(finding.guard));
    reply.bytes(finding.a);
    reply.bytes(finding.b);
  }
  return answer();
}

Address table(std::uint32_t /*handle*/) {
  begin();
  accept();
  reply.bytes(GuardLanguage::english_table());
  return answer();
}

void free_guards(std::uint32_t handle) {
  all[handle].reset();
}

// --- The border itself

Address reserve(std::uint32_t cells) {
  return address(request.reserve(cells));
}

// Gives back what a large call left behind; the request has no cells then.
void trim() {
  request.free();
  reply.free();
}

EMSCRIPTEN_BINDINGS(dpcache_guards) {
  using emscripten::function;
  function("reserve", &reserve);
  function("trim", &trim);
  function("create", &create);
  function("between", &between);
  function("facts", &facts);
  function("explain", &explain);
  function("table", &table);
  function("freeGuards", &free_guards);
}

}  // namespace
}  // namespace dpcache::wasm
