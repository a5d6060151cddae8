// Symbol.dispose, also where the engine does not know it yet.
export const dispose: typeof Symbol.dispose =
  (Symbol.dispose as typeof Symbol.dispose | undefined) ??
  (Symbol.for('Symbol.dispose') as unknown as typeof Symbol.dispose);
