// Symbol.asyncDispose, also where the engine does not know it yet.
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol.asyncDispose as typeof Symbol.asyncDispose | undefined) ??
  (Symbol.for('Symbol.asyncDispose') as unknown as typeof Symbol.asyncDispose);
