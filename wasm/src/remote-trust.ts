// A cache on a server whose merges can be uncertain, guarded, listed and undone: the calls of
// dpcache/trust, as promises.
import { toInteger, toOptions } from './arguments.js';
import { DpcacheError } from './errors.js';
import { verdicts, type Verdict } from './judge.js';
import {
  Cache,
  checkTime,
  json,
  type ObserveOptions,
  type RemoteCallOptions,
  type RemoteCreateOptions,
  type RemoteOptions,
} from './remote-cache.js';
import {
  decisionOf,
  itemJson,
  itemsBody,
  keyOf,
  matchOf,
  payloadOf,
  serversClock,
  wellFormed,
  type Body,
  type SentDecision,
  type Shape,
} from './remote-json.js';
import {
  emptyTrusted,
  prepareLookup,
  prepareTrusted,
  type AsyncTrust,
  type Config,
  type Decision,
  type Guard,
  type Item,
  type Lookup,
  type LookupOptions,
  type Member,
  type Review,
  type Trusted,
} from './trust-items.js';
import type { Config as PlainConfig, Json, Match, Query } from './types.js';

const prepare = (item: Item): Trusted => prepareTrusted(item, serversClock);

function sent({ item, id, text, scope }: Trusted): object {
  return {
    ...itemJson(item),
    ...(id !== '' && { id: wellFormed(id) }),
    // A text is for the guards too.
    ...(text !== '' && typeof item.key !== 'string' && { guard_text: wellFormed(text) }),
    ...(scope !== '' && { scope: wellFormed(scope) }),
  };
}

function trustedBody(items: readonly Trusted[], shape: Shape): Body {
  const isPlain = ({ id, text, scope }: Trusted): boolean => id + text + scope === '';
  if (items.every(isPlain)) return itemsBody(items.map(({ item }) => item), shape);
  return JSON.stringify({ items: items.map(sent) });
}

function trustedOf(decision: SentDecision): Decision {
  const { uncertain = false, verdict = null, guarded = [] } = decision;
  return { ...decisionOf(decision), uncertain, verdict, guarded };
}

interface SentLookup {
  found: Lookup['found'];
  slot: Match | null;
  other: Match | null;
  novelty: number;
  tau_merge: number;
  threshold: number;
  guarded: Guard[];
  reasons: string[];
}

function lookupOf(found: SentLookup): Lookup {
  return {
    found: found.found,
    slot: found.slot && matchOf(found.slot),
    other: found.other && matchOf(found.other),
    novelty: Math.fround(found.novelty),
    tauMerge: Math.fround(found.tau_merge),
    threshold: Math.fround(found.threshold),
    guarded: found.guarded,
    reasons: found.reasons.map((reason) =>
      reason === 'exact_key' ? 'exactKey' : reason,
    ) as Lookup['reasons'],
  };
}

interface SentMember {
  member: number;
  id: string | null;
  time: number;
  opened: boolean;
  similarity: number;
  threshold: number;
  gate: number;
  guarded: Guard[];
  payload?: Json;
  text?: string;
  exact_key?: string;
  scope?: string;
}

function memberOf(member: SentMember): Member {
  return {
    member: member.member,
    id: member.id,
    time: member.time,
    opened: member.opened,
    similarity: Math.fround(member.similarity),
    threshold: Math.fround(member.threshold),
    gate: Math.fround(member.gate),
    guarded: member.guarded,
    kept: 'payload' in member,
    key: null, // the server does not tell them
    value: null,
    payload: payloadOf(member.payload ?? null),
    exactKey: member.exact_key ?? null,
    text: member.text ?? '',
    scope: member.scope ?? '',
  };
}

interface SentPairs {
  reviews: Review[];
  must_not_merge: { slot: number; other: number }[];
}

type Changed = { time?: number } & RemoteCallOptions;

/** A cache that a server keeps, with more to say of its merges, and with a way to undo them. */
export class TrustCache extends Cache implements AsyncTrust {
  static override async create(
    config: Config,
    options: RemoteCreateOptions,
  ): Promise<TrustCache> {
    return (await super.create(config as PlainConfig, options)) as TrustCache;
  }

  static override async open(options: RemoteOptions): Promise<TrustCache> {
    return (await super.open(options)) as TrustCache;
  }

  static override async openOrCreate(
    config: Config,
    options: RemoteCreateOptions,
  ): Promise<TrustCache> {
    return (await super.openOrCreate(config as PlainConfig, options)) as TrustCache;
  }

  static override async load(bytes: Uint8Array, options: RemoteOptions): Promise<TrustCache> {
    return (await super.load(bytes, options)) as TrustCache;
  }

  override async observe(item: Item, options: ObserveOptions = {}): Promise<Decision> {
    const body = trustedBody([prepare(item)], this.shape);
    const [decision] = await this.sendItems(body, 1, options);
    return trustedOf(decision as SentDecision);
  }

  override async observeBatch(
    items: readonly Item[],
    options: ObserveOptions = {},
  ): Promise<Decision[]> {
    const all = await this.sendAll(items, prepare, emptyTrusted, trustedBody, options);
    return all.map(trustedOf);
  }

  async lookup(query: Query, options: LookupOptions & RemoteCallOptions = {}): Promise<Lookup> {
    const { key, time, encoder, exactKey, text, scope } = prepareLookup(
      query,
      options,
      serversClock,
    );
    const asked = {
      ...keyOf(key),
      ...(!Number.isNaN(time) && { time }),
      ...(encoder !== '' && { encoder: wellFormed(encoder) }),
      ...(exactKey !== undefined && { exact_key: exactKey }),
      ...(text !== '' && typeof key !== 'string' && { guard_text: wellFormed(text) }),
      ...(scope !== '' && { scope: wellFormed(scope) }),
    };
    const { results } = await this.ask(
      { method: 'POST', path: `${this.path}/lookup`, body: JSON.stringify({ queries: [asked] }) },
      options,
      json<{ results: SentLookup[] }>,
    );
    return lookupOf(results[0] as SentLookup);
  }

  /** Without keys and values, which the server does not tell. */
  async members(slot: number, options: RemoteCallOptions = {}): Promise<Member[]> {
    const path = `${this.path}/slots/${toInteger(slot, '/slot')}/members`;
    const { members } = await this.ask(
      { method: 'GET', path },
      options,
      json<{ members: SentMember[] }>,
    );
    return members.map(memberOf);
  }

  async split(
    slot: number,
    member: number,
    options: { time?: number; item?: Item } & RemoteCallOptions = {},
  ): Promise<number> {
    toInteger(slot, '/slot');
    toInteger(member, '/member');
    const { time, item } = toOptions(options);
    const brought = item === undefined ? undefined : sent(prepare(item));
    const { opened } = await this.alter(
      {
        method: 'POST',
        path: `${this.path}/split`,
        query: { time: checkTime(time) },
        body: JSON.stringify({ slot, member, item: brought }),
      },
      options,
      json<{ opened: number }>,
    );
    return opened;
  }

  async mustNotMerge(slot: number, other: number, options: Changed = {}): Promise<void> {
    return this.#judge('pairs', { slot, other, verdict: 'different' }, options);
  }

  async mustMerge(slot: number, other: number, options: Changed = {}): Promise<void> {
    return this.#judge('pairs', { slot, other, verdict: 'same', into: slot }, options);
  }

  async reviews(options: RemoteCallOptions = {}): Promise<Review[]> {
    const { reviews } = await this.#pairs(options);
    return reviews.map((one) => ({ ...one, similarity: Math.fround(one.similarity) }));
  }

  async apart(options: RemoteCallOptions = {}): Promise<{ slot: number; other: number }[]> {
    return (await this.#pairs(options)).must_not_merge;
  }

  async review(
    slot: number,
    other: number,
    verdict: Verdict,
    options: Changed = {},
  ): Promise<void> {
    if (!verdicts.includes(verdict)) {
      throw DpcacheError.at('/verdict', `must be one of ${verdicts.join(', ')}`);
    }
    toInteger(slot, '/slot');
    toInteger(other, '/other');
    const id = `${Math.max(slot, other)}-${Math.min(slot, other)}`;
    return this.#judge(`reviews/${id}`, { verdict }, options);
  }

  #pairs(options: RemoteCallOptions): Promise<SentPairs> {
    return this.ask({ method: 'GET', path: `${this.path}/pairs` }, options, json<SentPairs>);
  }

  async #judge(
    verb: string,
    body: { slot?: number; other?: number; verdict: Verdict; into?: number },
    options: Changed,
  ): Promise<void> {
    if (body.slot !== undefined) toInteger(body.slot, '/slot');
    if (body.other !== undefined) toInteger(body.other, '/other');
    const query = { time: checkTime(toOptions(options).time) };
    const message = { method: 'POST', path: `${this.path}/${verb}`, query } as const;
    return this.alter({ ...message, body: JSON.stringify(body) }, options, () => undefined);
  }
}
