// Play, pause, step, position and speed: which moment of the stream is shown.
import { find, prefersStillness, whole } from '../dom';

const warmUp = 6; // items a second at the start; doubles until the chosen speed is reached
const doubling = 0.8; // seconds

export interface TransportHost {
  /** Items that can be shown by now, and items in all. */
  computed(): number;
  count(): number;
  changed(): void;
}

export class Transport {
  readonly #host: TransportHost;
  readonly #play = find('play', HTMLButtonElement);
  readonly #position = find('position', HTMLInputElement);
  readonly #speed = find('speed', HTMLSelectElement);
  /** Whole items are shown; the fraction is what play has saved up. */
  #cursor = 0;
  #isPlaying = false;
  #last = 0;
  #elapsed = 0;

  constructor(host: TransportHost) {
    this.#host = host;
    this.#play.addEventListener('click', () => (this.#isPlaying ? this.pause() : this.play()));
    find('step', HTMLButtonElement).addEventListener('click', () => this.#step());
    find('restart', HTMLButtonElement).addEventListener('click', () => this.moveTo(0));
    this.#position.addEventListener('input', () => {
      this.pause();
      this.moveTo(Number(this.#position.value));
    });
    this.#speed.addEventListener('change', () => (this.#elapsed = 1e3));
    this.#host.changed();
  }

  get cursor(): number {
    return Math.min(Math.floor(this.#cursor), this.#host.computed());
  }
  get isPlaying(): boolean {
    return this.#isPlaying;
  }
  get speed(): number {
    return Number(this.#speed.value);
  }

  play(): void {
    if (this.#host.count() === 0) return;
    if (this.#cursor >= this.#host.count()) this.#cursor = 0;
    if (this.#cursor === 0) this.#elapsed = 0;
    this.#last = performance.now();
    this.#set(true);
  }

  pause(): void {
    this.#cursor = Math.floor(this.#cursor);
    this.#set(false);
  }

  /** Where playing is held back for people who prefer stillness, the end is shown instead. */
  start(): void {
    this.#cursor = 0;
    if (prefersStillness()) {
      this.pause();
      this.moveTo(Infinity);
    } else {
      this.play();
    }
  }

  moveTo(item: number): void {
    this.#cursor = item === Infinity ? 1e9 : item;
    this.#host.changed();
  }

  #step(): void {
    this.pause();
    this.moveTo(Math.min(this.cursor + 1, this.#host.count()));
  }

  #set(isPlaying: boolean): void {
    this.#isPlaying = isPlaying;
    this.#play.classList.toggle('playing', isPlaying);
    this.#play.setAttribute('aria-label', isPlaying ? 'Pause' : 'Play');
    this.#play.title = isPlaying ? 'Pause' : 'Play';
    this.#host.changed();
  }

  /** Advances by the time that has passed; called once a frame. */
  tick(now: number): void {
    const count = this.#host.count();
    if (this.#isPlaying) {
      const seconds = Math.min(0.1, Math.max(0, (now - this.#last) / 1000));
      this.#last = now;
      this.#elapsed += seconds;
      const pace = Math.min(this.speed, warmUp * 2 ** (this.#elapsed / doubling));
      this.#cursor = Math.min(this.#cursor + pace * seconds, this.#host.computed());
      if (this.#cursor >= count && count > 0) this.pause();
    }
    const at = this.cursor;
    if (this.#position.max !== String(count)) this.#position.max = String(count);
    if (this.#position.value !== String(at)) {
      this.#position.value = String(at);
      this.#position.setAttribute('aria-valuetext', `${whole(at)} of ${whole(count)} items`);
    }
  }
}
