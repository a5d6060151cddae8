// Embind's name for a type that nobody has bound, in the message of its error: its number will do.
// Embind's own way asks the module, which would hold all of printf for it.
addToLibrary({
  $getTypeName: (type) => `type ${type}`,
});

// How embind calls a function of the module: as it stands in the table. Embind's own way goes through
// a list of arguments, to make an address above 2 GiB positive; the addresses that we answer with are
// doubles. $GenericWireTypeSize is needed by the numbers that embind_types.cc registers, and embind
// brings it only with the types that are not there.
addToLibrary({
  $getDynCaller__deps: ['$getWasmTableEntry', '$GenericWireTypeSize'],
  $getDynCaller: (signature, pointer) => getWasmTableEntry(pointer),
});
