// The knobs: what a cache is made with. A change replays the stream and goes into the address.
import { find, make } from '../dom';
import {
  audits,
  budgets,
  defaultsFor,
  guardNames,
  inRange,
  keyPolicies,
  maskNames,
  valuePolicies,
  type GuardName,
  type Knobs,
  type Mask,
  type NumberName,
} from '../settings';
import type { MemoryInfo } from '../engine/protocol';
import type { SampleName } from '../samples/names';

const patience = 100; // milliseconds that a slider may rest before the replay begins

export interface KnobsHost {
  changed(knobs: Partial<Knobs>): void;
  invalid(message: string): void;
  sample(): SampleName;
}

const numbers: readonly [NumberName, string][] = [
  ['tau', 'tau-number'],
  ['theta', 'theta-number'],
  ['m0', 'm0'],
  ['beta', 'beta'],
  ['decay', 'decay'],
];
const sliders = ['tau', 'theta'] as const;
const words: Record<NumberName, string> = {
  tau: 'The threshold τ is a number from 0 to 2.',
  theta: 'The temperature θ is a number from 0.0001 to 100.',
  m0: 'm0 is a number of slots, at least 1.',
  beta: 'β is a number from 0.',
  decay: 'The decay of usage is a factor above 0 and at most 1.',
  merge: 'τ merge is a number from 0 to 2, or nothing: as τ.',
};

export class KnobsPanel {
  readonly #host: KnobsHost;
  readonly #key = find('key', HTMLSelectElement);
  readonly #value = find('value', HTMLSelectElement);
  readonly #budget = find('budget', HTMLSelectElement);
  readonly #audit = find('audit', HTMLSelectElement);
  readonly #merge = find('merge', HTMLInputElement);
  readonly #masks: ReadonlyMap<Mask, HTMLInputElement>;
  readonly #guards: ReadonlyMap<GuardName, HTMLInputElement>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: KnobsHost) {
    this.#host = host;
    this.#masks = boxes('masks', maskNames, (masks) => host.changed({ masks }));
    this.#guards = boxes('guards', guardNames, (guards) => host.changed({ guards }));
    this.#merge.addEventListener('change', () => {
      // Half a number is no number, and not nothing.
      const isNone = this.#merge.value.trim() === '' && !this.#merge.validity.badInput;
      if (isNone) {
        this.#merge.removeAttribute('aria-invalid');
        host.changed({ merge: null });
      } else {
        this.#setNumber('merge', this.#merge);
      }
    });
    this.#audit.addEventListener('change', () => {
      const audit = audits.find((one) => one === this.#audit.value);
      if (audit) host.changed({ audit });
    });
    for (const [name, id] of numbers) {
      const input = find(id, HTMLInputElement);
      input.addEventListener('change', () => this.#setNumber(name, input));
    }
    for (const name of sliders) {
      const slider = find(name, HTMLInputElement);
      const number = find(`${name}-number`, HTMLInputElement);
      slider.addEventListener('input', () => {
        number.value = slider.value;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#setNumber(name, number), patience);
      });
    }
    this.#key.addEventListener('change', () => {
      const key = keyPolicies.find((one) => one === this.#key.value);
      if (key) host.changed({ key });
    });
    this.#value.addEventListener('change', () => {
      const value = valuePolicies.find((one) => one === this.#value.value);
      if (value) host.changed({ value });
    });
    this.#budget.addEventListener('change', () => {
      const budget = budgets.find((one) => one === this.#budget.value);
      if (budget) host.changed({ budget });
    });
    find('reset', HTMLButtonElement).addEventListener('click', () => {
      const { sample: _sample, size: _size, ...knobs } = defaultsFor(host.sample());
      host.changed(knobs);
    });
  }

  #setNumber(name: NumberName, input: HTMLInputElement): void {
    const x = input.value.trim() === '' ? NaN : Number(input.value);
    const isGood = inRange(name, x);
    input.setAttribute('aria-invalid', String(!isGood));
    if (isGood) this.#host.changed({ [name]: x });
    else this.#host.invalid(words[name]);
  }

  /** Shows the settings, and which of them a memory file has fixed. */
  show(knobs: Knobs, kind: 'text' | 'vectors', memory: MemoryInfo | null): void {
    for (const [name, id] of numbers) {
      const input = find(id, HTMLInputElement);
      input.value = String(knobs[name]);
      input.removeAttribute('aria-invalid');
    }
    for (const name of sliders) find(name, HTMLInputElement).value = String(knobs[name]);
    this.#key.value = knobs.key;
    this.#value.value = knobs.value;
    this.#budget.value = knobs.budget;
    for (const [name, box] of this.#masks) {
      box.checked = knobs.masks.includes(name);
      box.disabled = kind === 'vectors' || memory !== null;
    }
    for (const [name, box] of this.#guards) {
      box.checked = knobs.guards.includes(name);
      box.disabled = memory ? !memory.isText : kind === 'vectors';
    }
    this.#merge.value = knobs.merge === null ? '' : String(knobs.merge);
    this.#merge.removeAttribute('aria-invalid');
    this.#audit.value = knobs.audit;
    this.#key.disabled = memory !== null;
    this.#value.disabled = memory !== null;
    find('m0', HTMLInputElement).disabled = knobs.budget === 'none';
    find('beta', HTMLInputElement).disabled = knobs.budget !== 'adaptive';
    const hasGate = memory?.config.gate !== undefined;
    find('tau', HTMLInputElement).disabled = hasGate;
    find('tau-number', HTMLInputElement).disabled = hasGate;
  }
}

/** A box for each name; `changed` is told those that are ticked. */
function boxes<T extends string>(
  id: string,
  names: readonly T[],
  changed: (ticked: readonly T[]) => void,
): ReadonlyMap<T, HTMLInputElement> {
  const made = new Map<T, HTMLInputElement>();
  for (const name of names) {
    const label = make('label', 'check');
    const box = make('input');
    box.type = 'checkbox';
    label.append(box, name);
    find(id, HTMLElement).append(label);
    made.set(name, box);
    box.addEventListener('change', () => changed(names.filter((one) => made.get(one)?.checked)));
  }
  return made;
}
