// Embind's name for a type that nobody has bound, in the message of its error: its number will do.
// Embind's own way asks the module, which would hold all of printf for it.
addToLibrary({
  $getTypeName: (type) => `type ${type}`,
});
