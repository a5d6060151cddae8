// The memory behind the page: holds a stream, replays it into a cache, answers and saves.
//
// The replay runs ahead to the end of the stream, a slice at a time, so that it can be overtaken by
// the next one. The page shows any moment of it. What is asked or saved at a moment before the end
// comes from a second cache that follows the page; same items, same times, so the same memory.
import { DpcacheError, type Cache } from 'dpcache';
import type { Item } from 'dpcache/trust';
import { openFile } from '../parse';
import { makeSample } from '../samples';
import type { SampleName } from '../samples/names';
import { defaultsFor, type Knobs } from '../settings';
import { ChunkWriter, type Decision } from './chunk';
import { Corrector } from './corrections';
import { Layout } from './layout';
import {
  isTextMemory,
  isTrustFile,
  labelLength,
  loadMemory,
  makeMemory,
  misfit,
  type Memory,
  type MemoryFile,
} from './memory';
import { neighbours, oldSlots, placedWell, watchExpiry } from './old_slots';
import { answer } from './answer';
import type { Correction, Done, Edit, MemoryInfo, Reply, Request, StreamInfo } from './protocol';
import { labelsOf, lengthOf, lineOf, vectorOf, type Stream } from './stream';

const keptBytes = 4096; // of a line, as the command line keeps it
const nameLength = 200; // of a file, in what an item is called
const sliceMilliseconds = 16;
const batch = 50;

/** A memory that has taken the first `at` items of the stream, and what was said of them. */
interface Follower extends Memory {
  at: number;
  /** How many corrections have been made, or refused. */
  corrected: number;
  /** null: of such a memory nothing can be corrected. */
  corrector: Corrector | null;
}

type Refused = Done['refused'][number];
type Post = (reply: Reply, transfer?: Transferable[]) => void;

export class Engine {
  #stream: Stream = { kind: 'text', name: 'nothing', texts: [] };
  #sample: SampleName | null = null;
  #file: MemoryFile | null = null;
  #knobs: Knobs = defaultsFor('log');
  #time = Date.now();
  #latestRun = 0;
  #since = 0; // the request that brought this stream or memory
  /** In the order of their moments. */
  #corrections: readonly Correction[] = [];
  #itemsById: Map<string, number> | null = null;
  #head: Follower | null = null;
  #follower: Follower | null = null;
  #queue: Promise<void> = Promise.resolve();
  readonly #post: Post;

  constructor(post: Post) {
    this.#post = post;
  }

  /** Requests are served one after the other; a newer replay ends the one that runs. */
  receive(request: Request): void {
    if (request.type === 'replay') this.#latestRun = request.id;
    const fail = (error: unknown): void =>
      this.#post({ type: 'failed', id: request.id, message: wordsFor(error) });
    if (request.type === 'templates') {
      this.#findTemplates(request).catch(fail); // of the stream alone: no replay is waited for
    } else if (request.type === 'advice') {
      this.#advise(request).catch(fail);
    } else {
      this.#queue = this.#queue.then(() => this.#serve(request)).catch(fail);
    }
  }

  async #findTemplates({ id, codes }: Extract<Request, { type: 'templates' }>): Promise<void> {
    const stream = this.#stream;
    let templates = null;
    if (stream.kind === 'text') {
      const part = await import('./templates');
      templates = await part.templatesOf(stream.texts, codes, nextTask);
    }
    this.#post({ type: 'templates', id, templates });
  }

  async #advise({ id, known, masks }: Extract<Request, { type: 'advice' }>): Promise<void> {
    const stream = this.#stream;
    const isLabelled = this.#sample === 'sensor';
    const part = await import('./advice');
    const advice = await part.adviceOn(stream, isLabelled, known, masks);
    this.#post({ type: 'advice', id, advice });
  }

  async #serve(request: Exclude<Request, { type: 'templates' | 'advice' }>): Promise<void> {
    const { id } = request;
    switch (request.type) {
      case 'sample':
        this.#take(makeSample(request.sample, request.size), request.sample);
        this.#since = id;
        this.#post({ type: 'opened', id, opened: { is: 'stream', stream: this.#streamInfo() } });
        break;
      case 'file': {
        const dropped = await openFile(request.file);
        if (dropped.is === 'stream') {
          this.#take(dropped.stream, null);
          this.#since = id;
          this.#post({ type: 'opened', id, opened: { is: 'stream', stream: this.#streamInfo() } });
        } else {
          const memory = await this.#openMemory(dropped);
          this.#since = id;
          this.#post({ type: 'opened', id, opened: { is: 'memory', memory } });
        }
        break;
      }
      case 'memory': {
        const memory = await this.#openMemory(request);
        this.#since = id;
        this.#post({ type: 'opened', id, opened: { is: 'memory', memory } });
        break;
      }
      case 'forget':
        this.#file = null;
        this.#since = id;
        this.#drop();
        this.#post({ type: 'forgotten', id });
        break;
      case 'replay':
        await this.#replay(id, request.knobs, request.corrections ?? []);
        break;
      case 'trust': {
        const { corrector } = await this.#memoryAt(request);
        const { slot } = request;
        const nothing = { slot, members: null, reviews: [], apart: [] };
        this.#post({ type: 'trust', id, trust: corrector?.info(slot) ?? nothing });
        break;
      }
      case 'ask': {
        const memory = await this.#memoryAt(request);
        const answered = answer(memory, request.question, this.#stream);
        this.#post({ type: 'answer', id, answer: answered });
        break;
      }
      case 'save': {
        const { cache } = await this.#memoryAt(request);
        const bytes = new Uint8Array(cache.save());
        this.#post({ type: 'saved', id, bytes }, [bytes.buffer]);
        break;
      }
    }
  }

  #take(stream: Stream, sample: SampleName | null): void {
    this.#stream = stream;
    this.#sample = sample;
    this.#time = Date.now();
    this.#itemsById = null;
    this.#drop();
  }

  #drop(): void {
    this.#head?.cache.dispose();
    this.#follower?.cache.dispose();
    this.#head = null;
    this.#follower = null;
  }

  #streamInfo(): StreamInfo {
    const stream = this.#stream;
    const labels = labelsOf(stream);
    return {
      sample: this.#sample,
      kind: stream.kind,
      name: stream.name,
      dimension: stream.kind === 'vectors' ? stream.dimension : null,
      labels: labels.map((label) => label.slice(0, labelLength)),
      note: stream.note ?? null,
    };
  }

  async #openMemory({ name, bytes }: MemoryFile): Promise<MemoryInfo> {
    const { cache } = await loadMemory(bytes, isTrustFile(bytes));
    this.#file = { name, bytes };
    this.#drop();
    const { slots, items } = cache.stats();
    const info = { name, config: cache.config, slots, items, isText: isTextMemory(cache) };
    cache.dispose();
    return info;
  }

  #item(i: number): Item {
    const stream = this.#stream;
    const file = this.#sample ? {} : { file: stream.name };
    const line = lineOf(stream, i);
    const time = this.#time;
    if (stream.kind === 'text') {
      const text = stream.texts[i] ?? '';
      const kept = startOf(text);
      const cut = kept.length < text.length ? { bytes: utf8.encode(text).length } : {};
      return { text, payload: { text: kept, ...file, line, ...cut }, time };
    }
    const text = stream.labels[i] ?? '';
    return { key: vectorOf(stream, i), payload: { text, ...file, line }, time };
  }

  /** The name of an item among the members of its slot, as the command line gives it. */
  #idOf(i: number): string {
    return `${this.#stream.name.slice(0, nameLength)}:${lineOf(this.#stream, i)}`;
  }

  #numberOf(id: string): number | undefined {
    if (!this.#itemsById) {
      this.#itemsById = new Map();
      const { length } = labelsOf(this.#stream);
      for (let i = 0; i < length; ++i) this.#itemsById.set(this.#idOf(i), i);
    }
    return this.#itemsById.get(id);
  }

  async #begin(): Promise<Follower> {
    const memory = await makeMemory(this.#knobs, this.#stream, this.#file, this.#time);
    const source = {
      item: (i: number) => this.#item(i),
      numberOf: (id: string) => this.#numberOf(id),
      label: (i: number) => labelsOf(this.#stream)[i] ?? '',
      time: this.#time,
    };
    const corrector = memory.trusted && new Corrector(memory.trusted, source);
    return { ...memory, at: 0, corrected: 0, corrector };
  }

  /** Where the next items must stop: at the moment of the next correction, or at `to`. */
  #stop({ corrected }: Follower, to: number): number {
    return Math.min(to, this.#corrections[corrected]?.at ?? to);
  }

  #observe({ cache, trusted, corrector }: Follower, from: number, to: number): Decision[] {
    const items: Item[] = [];
    for (let i = from; i < to; ++i) {
      items.push(trusted ? { ...this.#item(i), id: this.#idOf(i) } : this.#item(i));
    }
    const decisions: Decision[] = cache.observeBatch(items);
    if (corrector) for (const decision of decisions) corrector.note(decision);
    return decisions;
  }

  /** Makes the corrections of the moment that a memory has come to. */
  #correct(follower: Follower, told?: { layout: Layout; refused: Refused[] }): Edit[] {
    const edits: Edit[] = [];
    for (;;) {
      const next = this.#corrections[follower.corrected];
      if (!next || next.at > follower.at) return edits;
      const correction = follower.corrected++;
      try {
        const edit = follower.corrector?.make(next, told?.layout);
        if (edit) edits.push(edit);
      } catch (error) {
        const detail = error instanceof DpcacheError ? error.errors[0]?.detail : undefined;
        told?.refused.push({ correction, message: detail ? `${detail}.` : wordsFor(error) });
      }
    }
  }

  async #replay(run: number, knobs: Knobs, corrections: readonly Correction[]): Promise<void> {
    if (run !== this.#latestRun) return;
    const started = performance.now();
    this.#knobs = knobs;
    this.#corrections = corrections;
    this.#drop();
    const head = await this.#begin();
    const { cache } = head;
    this.#head = head;
    const refusal = misfit(cache, this.#stream);
    const count = refusal ? 0 : lengthOf(this.#stream);
    const layout = new Layout();
    const refused: Refused[] = [];
    this.#correct(head, { layout: new Layout(), refused }); // those slots are old ones for the page
    const { slots, places } = oldSlots(cache, layout);
    const begin = { run, count, refusal, config: cache.config, slots, places };
    this.#post({ type: 'begin', begin }, [places.buffer]);

    const expired = slots.some(({ expires }) => expires) ? watchExpiry(cache) : null;
    let size = cache.size;
    while (head.at < count) {
      const slice = performance.now() + sliceMilliseconds;
      const capacity = Math.min(count - head.at, 20 * batch);
      const writer = new ChunkWriter(run, head.at, capacity);
      while (writer.length < capacity && performance.now() < slice) {
        const room = Math.min(head.at + batch, head.at + capacity - writer.length);
        const to = this.#stop(head, room);
        const decisions = this.#observe(head, head.at, to);
        for (const [i, decision] of decisions.entries()) {
          const late = expired?.shift() ?? [];
          size -= late.length;
          writer.addExpired(late);
          if (decision.action === 'allocate') {
            ++size;
            const place = layout.place(decision.slot, this.#near(cache, decision, head.at + i));
            writer.addPlace(place.x, place.y);
          }
          const gone = [...decision.evicted, ...decision.folded.map(({ slot }) => slot)];
          for (const slot of [...late, ...gone]) layout.remove(slot);
          size -= gone.length;
          writer.add(decision, size);
        }
        head.at = to;
        for (const edit of this.#correct(head, { layout, refused })) {
          size += edit.kind === 'split' ? 1 : -1;
          writer.addEdit(edit, size);
        }
      }
      const { chunk, transfer } = writer.finish();
      this.#post({ type: 'chunk', chunk }, transfer);
      await nextTask();
      if (run !== this.#latestRun) return;
    }
    const milliseconds = performance.now() - started;
    const warning = cache.warning();
    const stats = cache.stats();
    this.#post({ type: 'done', done: { run, refused, stats, warning, milliseconds } });
  }

  /** The slots that a new slot is to be placed beside. */
  #near(cache: Cache, decision: Decision, item: number): { slot: number; similarity: number }[] {
    const nearest = decision.nearest ? [decision.nearest] : [];
    if (decision.slot > placedWell) return nearest;
    const { text, key } = this.#item(item);
    const query = text !== undefined ? { text } : { key: key ?? [] };
    const [matches] = cache.score([query], { k: neighbours, time: null });
    // The batch may have moved on: only slots that were there before count.
    const others = (matches ?? []).filter(
      ({ slot }) => slot < decision.slot && slot !== decision.nearest?.slot,
    );
    return [...nearest, ...others];
  }

  /** The memory as it is after `at` items of the replay that the page shows. */
  async #memoryAt({ run, at }: { run: number; at: number }): Promise<Follower> {
    // The page has not heard yet that another stream is here: these items are not those it means.
    if (run < this.#since) throw new Error('The stream has just changed: try once more.');
    if (this.#head?.at === at) return this.#head;
    let follower = this.#follower;
    if (!follower || follower.at > at) {
      follower?.cache.dispose();
      follower = await this.#begin();
      this.#follower = follower;
      this.#correct(follower);
    }
    while (follower.at < at) {
      const to = this.#stop(follower, Math.min(follower.at + batch, at));
      this.#observe(follower, follower.at, to);
      follower.at = to;
      this.#correct(follower);
    }
    return follower;
  }
}

const utf8 = new TextEncoder();
const buffer = new Uint8Array(keptBytes);

/** The first `keptBytes` of a text in UTF-8, without a character cut in two. */
function startOf(text: string): string {
  if (text.length <= keptBytes / 3) return text;
  return text.slice(0, utf8.encodeInto(text, buffer).read);
}

function wordsFor(error: unknown): string {
  if (error instanceof DpcacheError && error.code === 'unavailable') {
    return 'The WebAssembly could not be loaded: try again, or with a newer browser.';
  }
  return error instanceof Error ? error.message : String(error);
}

/** Lets messages in. A timer would wait 4 ms each time. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
