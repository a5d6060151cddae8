// Templates as a few calls for JavaScript, in the form of bindings.cc: arguments stand in the
// request, the answer in the reply (wire.h), and every reply begins with its number of errors.
#include <emscripten/bind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/templates.h"
#include "wire.h"

namespace dpcache::wasm {
namespace {

Request request;
Reply reply;

using Address = double;  // an integer above 2 GiB would arrive in JavaScript as a negative one

Address address(const void* pointer) {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer));
}

std::vector<std::unique_ptr<Templates>> all;  // by handle

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

void write(std::span<const TemplateId> ids) {
  reply.count(ids.size());
  for (const TemplateId id : ids) reply.count(id);
}

void write(const Learned& learned) {
  reply.count(learned.id);
  reply.count(learned.lines);
  reply.number(learned.similarity);
  reply.number(learned.opened ? 1.0 : 0.0);
  write(learned.folded);
  write(learned.evicted);
}

void write(const Template& one) {
  reply.count(one.id);
  reply.count(one.count);
  reply.bytes(one.text);
  reply.count(one.parameters.size());
  for (const Parameter& parameter : one.parameters) {
    reply.bytes(parameter.name);
    reply.bytes(parameter.kind);
    reply.count(parameter.values.size());
    for (const Parameter::Value& value : parameter.values) {
      reply.bytes(value.text);
      reply.count(value.count);
    }
    reply.count(parameter.others);
  }
  reply.count(one.examples.size());
  for (const std::string& example : one.examples) reply.bytes(example);
  reply.bytes(one.origin);
}

Address add(Templates templates) {
  accept();
  auto kept = std::make_unique<Templates>(std::move(templates));
  std::size_t handle = 0;
  while (handle < all.size() && all[handle]) ++handle;
  if (handle == all.size()) all.emplace_back();
  all[handle] = std::move(kept);
  reply.count(handle);
  return answer();
}

// A whole number that fits, or one that the library refuses.
std::uint32_t read_whole() {
  return static_cast<std::uint32_t>(request.whole(UINT32_MAX - 1));
}

// --- Calls

Address create(std::uint32_t /*handle*/) {
  begin();
  TemplateConfig config;
  config.tau = static_cast<float>(request.number());
  config.structure = request.number() != 0.0 ? Structure::plain : Structure::known;
  config.codes = request.number() != 0.0 ? Codes::fixed : Codes::vary;
  config.max_templates = read_whole();
  config.max_line = read_whole();
  config.examples = read_whole();
  config.values = read_whole();
  Result<Masks> masks = Masks::parse(request.bytes());
  if (!masks) return refuse(masks.status);
  config.masks = std::move(*masks);
  Result<Templates> templates = Templates::create(std::move(config));
  if (!templates) return refuse(templates.status);
  return add(std::move(*templates));
}

Address load(std::uint32_t /*handle*/) {
  begin();
  const std::string_view bytes = request.bytes();
  Result<Templates> templates = Templates::load(std::as_bytes(std::span(bytes)));
  if (!templates) return refuse(templates.status);
  return add(std::move(*templates));
}

Address save(std::uint32_t handle) {
  begin();
  const std::vector<std::byte> bytes = all[handle]->save();
  accept();
  reply.bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return answer();
}

// Lines with one origin.
Address learn(std::uint32_t handle) {
  begin();
  accept();
  const auto count = static_cast<std::size_t>(request.number());
  const std::string_view origin = request.bytes();
  for (std::size_t i = 0; i < count; ++i) {
    // Without own masks no line is refused.
    write(all[handle]->learn(request.bytes(), origin).value);
  }
  return answer();
}

Address match(std::uint32_t handle) {
  begin();
  const std::optional<TemplateMatch> found = all[handle]->match(request.bytes());
  accept();
  reply.number(found ? 1.0 : 0.0);
  if (!found) return answer();
  reply.count(found->id);
  reply.number(found->similarity);
  reply.count(found->values.size());
  for (const TemplateMatch::Value& value : found->values) {
    reply.bytes(value.name);
    reply.bytes(value.text);
  }
  return answer();
}

Address get(std::uint32_t handle) {
  begin();
  const std::optional<Template> one = all[handle]->get(request.whole(UINT64_MAX >> 11U));
  accept();
  reply.number(one ? 1.0 : 0.0);
  if (one) write(*one);
  return answer();
}

// Ids with counts, by id.
Address list(std::uint32_t handle) {
  begin();
  accept();
  const Templates& templates = *all[handle];
  const std::vector<TemplateId> ids = templates.ids();
  reply.count(templates.lines());
  reply.count(ids.size());
  for (const TemplateId id : ids) {
    reply.count(id);
    reply.count(templates.count(id));
  }
  return answer();
}

void free_templates(std::uint32_t handle) {
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

EMSCRIPTEN_BINDINGS(dpcache_templates) {
  using emscripten::function;
  function("reserve", &reserve);
  function("trim", &trim);
  function("create", &create);
  function("load", &load);
  function("save", &save);
  function("learn", &learn);
  function("match", &match);
  function("get", &get);
  function("list", &list);
  function("freeTemplates", &free_templates);
}

}  // namespace
}  // namespace dpcache::wasm
