// The tabs of the page: one of several parts is shown, and arrow keys go from tab to tab.
import { find } from './dom';

/** What is to know when it comes into sight and leaves it. */
export interface Shown {
  show(): void;
  hide(): void;
}

/** Makes tabs of the buttons with these ids; each controls the element that it names. */
export function makeTabs(ids: readonly string[], changed: (id: string) => void): void {
  const tabs = ids.map((id) => find(id, HTMLButtonElement));
  const select = (tab: HTMLButtonElement): void => {
    if (tab.ariaSelected === 'true') return;
    for (const one of tabs) {
      const isIt = one === tab;
      one.ariaSelected = String(isIt);
      one.tabIndex = isIt ? 0 : -1;
      find(one.getAttribute('aria-controls') ?? '', HTMLElement).hidden = !isIt;
    }
    changed(tab.id);
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => select(tab));
    tab.addEventListener('keydown', ({ key }) => {
      const last = tabs.length - 1;
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: last }[key];
      const next = to === undefined ? undefined : tabs[to > last ? 0 : to < 0 ? last : to];
      if (!next) return;
      next.focus();
      select(next);
    });
  });
}
