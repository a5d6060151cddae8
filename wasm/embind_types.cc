// The types that cross the border, and the few functions that embind's own runtime is made of.
// Embind registers some forty types and their names, strings and views of memory among them; a
// module that passes numbers alone, and should be small, has no use for those.
#include <emscripten/bind.h>

#include <cstdint>
#include <limits>

namespace {

using namespace emscripten::internal;

InitFunc* first_of_all = nullptr;

}  // namespace

extern "C" {

// Never called: see embind_library.js.
const char* __getTypeName(const void* /*type*/) {
  return nullptr;
}

void _embind_register_bindings(InitFunc* function) {
  function->next = first_of_all;
  first_of_all = function;
}

void _embind_initialize_bindings() {
  for (auto* function = first_of_all; function != nullptr; function = function->next) {
    function->init_func();
  }
}
}

EMSCRIPTEN_BINDINGS(types) {
  using Integer = std::uint32_t;
  using Limits = std::numeric_limits<Integer>;
  _embind_register_void(TypeID<void>::get(), "void");
  // By the word "unsigned" embind knows what it is.
  _embind_register_integer(TypeID<Integer>::get(), "unsigned int", sizeof(Integer), Limits::min(),
                           Limits::max());
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
}
