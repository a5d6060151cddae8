// The page's side of the engine's worker: promises for questions, callbacks for a replay.
import type { Advice } from 'dpcache/trust';
import type { Knobs, Mask } from '../settings';
import type {
  Answer,
  Begin,
  Chunk,
  Correction,
  Done,
  Known,
  Opened,
  Question,
  Reply,
  Request,
  TemplatesInfo,
  TrustInfo,
} from './protocol';
import type { SampleName } from '../samples/names';

export interface ReplayListener {
  begin(begin: Begin): void;
  chunk(chunk: Chunk): void;
  done(done: Done): void;
  failed(message: string): void;
}

type Wanted<T extends Request['type']> = Omit<Extract<Request, { type: T }>, 'id' | 'type'>;

export class EngineClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve: (reply: Reply) => void; reject: (error: Error) => void }
  >();
  readonly #listener: ReplayListener;
  #nextId = 1;
  #run = 0;

  constructor(worker: Worker, listener: ReplayListener) {
    this.#worker = worker;
    this.#listener = listener;
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => this.#receive(data));
    worker.addEventListener('error', (event) => {
      listener.failed(`The memory could not be started: ${event.message || 'its worker failed'}.`);
    });
  }

  #receive(reply: Reply): void {
    switch (reply.type) {
      case 'begin':
        if (reply.begin.run === this.#run) this.#listener.begin(reply.begin);
        return;
      case 'chunk':
        if (reply.chunk.run === this.#run) this.#listener.chunk(reply.chunk);
        return;
      case 'done':
        if (reply.done.run === this.#run) this.#listener.done(reply.done);
        return;
      default: {
        const waiting = this.#waiting.get(reply.id);
        this.#waiting.delete(reply.id);
        if (reply.type !== 'failed') waiting?.resolve(reply);
        else if (waiting) waiting.reject(new Error(reply.message));
        else if (reply.id === this.#run) this.#listener.failed(reply.message);
      }
    }
  }

  #ask<T extends Exclude<Request['type'], 'replay'>>(type: T, wanted: Wanted<T>): Promise<Reply> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ type, id, ...wanted });
    });
  }

  /** Begins a replay; what an earlier one still sends is ignored. */
  replay(knobs: Knobs, corrections: readonly Correction[]): void {
    this.#run = this.#nextId++;
    const request: Request = { type: 'replay', id: this.#run, knobs, corrections };
    this.#worker.postMessage(request);
  }

  async sample(sample: SampleName, size: number): Promise<Opened> {
    return openedOf(await this.#ask('sample', { sample, size }));
  }

  async file(file: File): Promise<Opened> {
    return openedOf(await this.#ask('file', { file }));
  }

  async forget(): Promise<void> {
    await this.#ask('forget', {});
  }

  /** `run` and `at`: the replay and the moment that are shown. */
  async ask(run: number, at: number, question: Question): Promise<Answer> {
    const reply = await this.#ask('ask', { run, at, question });
    if (reply.type !== 'answer') throw new Error(`no answer but ${reply.type}`);
    return reply.answer;
  }

  /** What can be reviewed then, and the members of a slot (0: of none). */
  async trust(run: number, at: number, slot: number): Promise<TrustInfo> {
    const reply = await this.#ask('trust', { run, at, slot });
    if (reply.type !== 'trust') throw new Error(`no list but ${reply.type}`);
    return reply.trust;
  }

  /** The kinds of line in the stream; null: it is no text. */
  async templates(codes: 'vary' | 'fixed'): Promise<TemplatesInfo | null> {
    const reply = await this.#ask('templates', { codes });
    if (reply.type !== 'templates') throw new Error(`no templates but ${reply.type}`);
    return reply.templates;
  }

  /** What the stream says of tau. */
  async advice(known: Known, masks: readonly Mask[]): Promise<Advice> {
    const reply = await this.#ask('advice', { known, masks });
    if (reply.type !== 'advice') throw new Error(`no advice but ${reply.type}`);
    return reply.advice;
  }

  async save(run: number, at: number): Promise<Uint8Array<ArrayBuffer>> {
    const reply = await this.#ask('save', { run, at });
    if (reply.type !== 'saved') throw new Error(`no memory but ${reply.type}`);
    return reply.bytes;
  }
}

function openedOf(reply: Reply): Opened {
  if (reply.type !== 'opened') throw new Error(`nothing opened but ${reply.type}`);
  return reply.opened;
}
