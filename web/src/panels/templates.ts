// The tab of templates: the kinds of line in the stream, with what varies in them by name.
import type { Template } from 'dpcache/templates';
import type { StreamInfo, TemplatesInfo } from '../engine/protocol';
import { counted, find, make, setText, whole } from '../dom';
import type { Shown } from '../tabs';
import '../style/templates.css';

const most = 200; // that are listed: whoever has more searches

export interface TemplatesHost {
  stream(): StreamInfo;
  find(codes: 'vary' | 'fixed'): Promise<TemplatesInfo | null>;
}

export class TemplatesPanel implements Shown {
  readonly #host: TemplatesHost;
  readonly #words = find('templates-words', HTMLElement);
  readonly #search = find('template-search', HTMLInputElement);
  readonly #order = find('template-order', HTMLSelectElement);
  readonly #codes = find('template-codes', HTMLInputElement);
  readonly #list = find('template-list', HTMLElement);
  readonly #none = find('templates-none', HTMLElement);
  /** That the list is of, or will be. */
  #stream: StreamInfo | null = null;
  #info: TemplatesInfo | null = null;
  #run = 0; // grows when what is under way is no longer wanted

  constructor(host: TemplatesHost) {
    this.#host = host;
    for (const control of [this.#search, this.#order]) {
      control.addEventListener('input', () => this.#fill());
    }
    this.#codes.addEventListener('change', () => void this.#ask());
  }

  show(): void {
    if (this.#stream !== this.#host.stream()) void this.#ask();
  }

  hide(): void {
    // Nothing here goes on by itself.
  }

  async #ask(): Promise<void> {
    const run = ++this.#run;
    const stream = this.#host.stream();
    this.#stream = stream;
    setText(this.#words, 'Looking …');
    this.#words.classList.remove('bad');
    try {
      const info = await this.#host.find(this.#codes.checked ? 'fixed' : 'vary');
      if (run !== this.#run) return;
      this.#info = info;
      setText(
        this.#words,
        info
          ? `${counted(info.size, 'template')} of ${counted(info.lines, 'line')} of ${stream.name}`
          : `${stream.name}: vectors have no templates`,
      );
    } catch (error) {
      if (run !== this.#run) return;
      this.#stream = null; // the next time it is tried again
      this.#info = null;
      setText(this.#words, error instanceof Error ? error.message : String(error));
      this.#words.classList.add('bad');
    }
    this.#fill();
  }

  #fill(): void {
    const { templates = [], size = 0, lines = 0 } = this.#info ?? {};
    const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = ({ text, examples }: Template): boolean => {
      const all = [text, ...examples].join(' ').toLowerCase();
      return words.every((word) => all.includes(word));
    };
    const found = templates.filter(isWanted);
    if (this.#order.value === 'first') found.sort((a, b) => a.id - b.id);
    if (this.#order.value === 'rare') found.reverse();
    this.#list.replaceChildren(...found.slice(0, most).map((one) => rowOf(one, lines)));
    const more = found.length - most;
    const untold = size - templates.length;
    setText(
      this.#none,
      more > 0
        ? `${whole(more)} more: search for them.`
        : untold > 0
          ? `${whole(untold)} rarer ones are not listed: the command line has them all.`
          : found.length === 0 && templates.length > 0
            ? 'No template is like that.'
            : '',
    );
  }
}

function rowOf(template: Template, lines: number): HTMLElement {
  const { count, parameters, examples } = template;
  const row = make('li');
  const share = lines > 0 ? count / lines : 0;
  const number = make('span', 'template-count', whole(count));
  number.title = `${(100 * share).toFixed(1)} % of the lines`;
  const bar = make('span', 'weight');
  bar.style.setProperty('--weight', String(share));
  number.prepend(bar);
  const body = make('div', 'template-body');
  body.append(textOf(template));
  const example = make('p', 'template-example');
  example.append(make('span', 'sr', 'for example: '), examples[0] ?? '');
  body.append(example);
  if (parameters.length > 0 || examples.length > 1) body.append(detailsOf(template));
  row.append(number, body);
  return row;
}

/** The template with its parameters marked. */
function textOf({ text, parameters }: Template): HTMLElement {
  const line = make('p', 'template-text');
  const names = new Set(parameters.map(({ name }) => `<${name}>`));
  for (const part of text.split(/(<[^<>]*>)/)) {
    line.append(names.has(part) ? make('var', '', part) : part);
  }
  return line;
}

function detailsOf({ parameters, examples }: Template): HTMLElement {
  const details = make('details');
  details.append(make('summary', '', counted(parameters.length, 'parameter')));
  if (parameters.length > 0) {
    const table = make('table', 'template-parameters');
    const head = make('tr');
    for (const name of ['name', 'kind', 'values']) {
      const cell = make('th', '', name);
      cell.scope = 'col';
      head.append(cell);
    }
    table.append(head);
    for (const { name, kind, values, others } of parameters) {
      const row = make('tr');
      const told = values.map(({ text, count }) => (count > 1 ? `${text} × ${whole(count)}` : text));
      if (others > 0) told.push(`${counted(others, 'other')}`);
      row.append(make('td', '', name), make('td', '', kind), make('td', '', told.join(', ')));
      table.append(row);
    }
    details.append(table);
  }
  for (const example of examples.slice(1)) details.append(make('p', 'template-example', example));
  return details;
}
