// What the library answers, read in the order in which ../bindings.cc writes it.
import { camel } from './names.js';
import type {
  CacheEvent,
  Decision,
  Fold,
  FullConfig,
  Json,
  Match,
  Reading,
  Slot,
  Stats,
  Weighted,
} from './types.js';
import type { Reply } from './wire.js';

const kinds = [
  'observe',
  'erase',
  'expire',
  'consolidate',
  'config',
  'split',
  'must_not_merge',
  'must_merge',
  'review',
] as const;

/** The JSON value of a payload; of another program's payload its text. */
export function readPayload(reply: Reply): Json | undefined {
  const text = reply.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

export function readMatch(reply: Reply): Match | null {
  const slot = reply.maybe();
  const similarity = reply.number();
  return slot === null ? null : { slot, similarity };
}

export function readFolds(reply: Reply): Fold[] {
  return reply.list(() => ({ slot: reply.number(), into: reply.number() }));
}

export function readDecision(reply: Reply): Decision {
  const action = reply.number() === 0 ? 'allocate' : 'merge';
  const slot = reply.number();
  const novelty = reply.number();
  const threshold = reply.number();
  const gate = reply.number();
  const similarity = reply.number();
  const nearest = readMatch(reply);
  const surprise = reply.number();
  const budget = reply.maybe();
  const evicted = reply.list(() => reply.number());
  const folded = readFolds(reply);
  return {
    action,
    slot,
    novelty,
    threshold,
    gate,
    similarity,
    nearest,
    evicted,
    folded,
    surprise,
    budget,
  };
}

export function readMatches(reply: Reply): Match[] {
  return reply.list(() => ({ slot: reply.number(), similarity: reply.number() }));
}

export function readReading(reply: Reply): Reading {
  const empty = reply.number() !== 0;
  const value = reply.maybeFloats();
  const nullWeight = reply.number();
  const top = reply.list((): Weighted => {
    const slot = reply.number();
    const similarity = reply.number();
    const weight = reply.number();
    return { slot, similarity, weight, payload: readPayload(reply) };
  });
  return { empty, value, nullWeight, top };
}

export function readSlot(reply: Reply): Slot {
  const id = reply.number();
  const key = reply.floats();
  const value = reply.maybeFloats();
  const payload = readPayload(reply);
  const exactKeys = reply.list(() => reply.text());
  const usage = reply.number();
  const count = reply.number();
  const firstTime = reply.number();
  const lastTime = reply.number();
  const expires = reply.maybe();
  return { id, key, value, payload, exactKeys, usage, count, firstTime, lastTime, expires };
}

export function readStats(reply: Reply): Stats {
  return {
    slots: reply.number(),
    items: reply.number(),
    allocations: reply.number(),
    merges: reply.number(),
    evictions: reply.number(),
    folds: reply.number(),
    expirations: reply.number(),
    erasures: reply.number(),
    nextId: reply.number(),
    seq: reply.number(),
    stateHash: reply.text(),
    surprise: reply.number(),
    budget: reply.maybe(),
    bytes: reply.number(),
  };
}

export function parseConfig(json: string): FullConfig {
  const config: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(JSON.parse(json) as object)) {
    config[camel(name)] = value;
  }
  return config as unknown as FullConfig;
}

export function readEvent(reply: Reply): CacheEvent {
  const seq = reply.number();
  const kind = kinds[reply.number()] as CacheEvent['kind'];
  const time = reply.number();
  let item: CacheEvent['item'] = null;
  let decision: Decision | null = null;
  let removed: number[];
  let folded: Fold[];
  if (kind === 'observe') {
    const key = reply.floats();
    const value = reply.maybeFloats();
    const payload = readPayload(reply);
    const exactKey = reply.maybeText();
    item = { key, value, payload, exactKey, ttlMs: reply.maybe() };
    decision = readDecision(reply);
    removed = [...decision.evicted];
    folded = [...decision.folded];
  } else {
    removed = reply.list(() => reply.number());
    folded = readFolds(reply);
  }
  const config = reply.maybeText();
  return {
    seq,
    kind,
    time,
    item,
    decision,
    removed,
    folded,
    config: config === null ? null : parseConfig(config),
    bytes: reply.bytes(),
  };
}
