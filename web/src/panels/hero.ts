// The counter on top, and the latest decision in words and on a scale.
import { counted, find, fraction, prefersStillness, setText, whole } from '../dom';
import { guardsAt, labelOf, type PageState, type Panel } from './panel';

const pace = 450; // milliseconds that a decision stays before the next one takes its place

export class Hero implements Panel {
  readonly area: null = null;
  readonly #items = find('counter-items', HTMLElement);
  readonly #slots = find('counter-slots', HTMLElement);
  readonly #item = find('decision-item', HTMLElement);
  readonly #gauge = find('gauge', HTMLElement);
  readonly #tauWord = find('gauge-tau-word', HTMLElement);
  readonly #words = find('decision-words', HTMLElement);
  #shownAt = 0;
  #shown = '';

  draw(state: PageState, now: number): boolean {
    const { moment } = state;
    setText(this.#items, counted(moment.at, 'item'));
    // Room for the number that is to come, so that the arrow stands still.
    const { count } = moment.results;
    const final = counted(count, 'item');
    if (count > 0 && this.#items.dataset['final'] !== final) this.#items.dataset['final'] = final;
    setText(this.#slots, counted(moment.live, 'slot'));
    // Fast streams: one decision in a while, and rather a slot that opens than one that is joined.
    const wanted = `${state.replay}:${moment.at}`;
    if (wanted === this.#shown) return false;
    const isHurried = state.isPlaying && !prefersStillness();
    if (isHurried && now - this.#shownAt < pace) return true;
    this.#shown = wanted;
    this.#shownAt = now;
    this.#showDecision(state, moment.at - 1);
    return false;
  }

  #showDecision(state: PageState, item: number): void {
    const { results } = state.moment;
    const { tau, gate } = results.begin.config;
    const threshold = item >= 0 ? (results.threshold[item] as number) : (tau ?? gate?.b ?? 0);
    this.#gauge.style.setProperty('--tau', String(Math.min(1, threshold)));
    setText(this.#tauWord, `τ = ${fraction(threshold)}`);
    if (item < 0) {
      setText(this.#item, 'Press play: the first item is always new.');
      setText(this.#words, '\u00a0');
      this.#gauge.style.setProperty('--novelty', '0');
      this.#gauge.classList.remove('opens');
      return;
    }
    const novelty = results.novelty[item] as number;
    const opens = results.opened[item] === 1;
    const slot = results.slot[item] as number;
    this.#gauge.style.setProperty('--novelty', String(Math.min(1, novelty)));
    this.#gauge.classList.toggle('opens', opens);
    this.#words.classList.toggle('opens', opens);
    setText(this.#item, `${whole(item + 1)}: ${labelOf(state, item)}`);
    const end = opens ? `it opens slot ${slot}.` : `it joins slot ${slot}.`;
    const guarded = guardsAt(results, item);
    let why = `is${novelty > threshold ? '' : ' not'} above ${fraction(threshold)}`;
    if (guarded) why += `, guarded: ${guarded}`;
    else if (results.uncertain[item] === 1) why += ', but not sure';
    setText(this.#words, `Novelty ${fraction(novelty)} ${why}: ${end}`);
  }
}
