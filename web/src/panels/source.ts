// Where the stream comes from: samples, files chosen or dropped, memories opened and saved.
import { find, make, whole } from '../dom';
import { sampleNames, type SampleName } from '../samples/names';
import { sizes } from '../settings';
import type { MemoryInfo } from '../engine/protocol';

export interface SourceHost {
  sample(sample: SampleName, size: number): void;
  file(file: File): void;
  save(): void;
  closeMemory(): void;
}

export class SourcePanel {
  readonly #sample = find('sample', HTMLSelectElement);
  readonly #size = find('size', HTMLSelectElement);
  readonly #close = find('close-memory', HTMLButtonElement);
  readonly #ownFile = this.#sample.querySelector<HTMLOptionElement>('option[value="file"]');

  constructor(host: SourceHost) {
    this.#size.replaceChildren(
      ...sizes.map((size) => {
        const option = make('option', '', whole(size));
        option.value = String(size);
        return option;
      }),
    );
    const choose = (): void => {
      const sample = sampleNames.find((name) => name === this.#sample.value);
      if (sample) host.sample(sample, Number(this.#size.value));
    };
    this.#sample.addEventListener('change', choose);
    this.#size.addEventListener('change', choose);
    const input = find('file', HTMLInputElement);
    input.addEventListener('change', () => {
      const [file] = input.files ?? [];
      if (file) host.file(file);
      input.value = ''; // so that the same file can be chosen again
    });
    find('save', HTMLButtonElement).addEventListener('click', () => host.save());
    this.#close.addEventListener('click', () => host.closeMemory());
    this.#listenToDrops(host);
  }

  #listenToDrops(host: SourceHost): void {
    const overlay = find('drop', HTMLElement);
    const hasFile = (event: DragEvent): boolean =>
      event.dataTransfer?.types.includes('Files') ?? false;
    let depth = 0; // enter and leave come for every element on the way
    addEventListener('dragenter', (event) => {
      if (!hasFile(event)) return;
      ++depth;
      overlay.hidden = false;
    });
    addEventListener('dragleave', () => {
      depth = Math.max(0, depth - 1);
      overlay.hidden = depth === 0;
    });
    addEventListener('dragover', (event) => {
      if (hasFile(event)) event.preventDefault();
    });
    addEventListener('drop', (event) => {
      depth = 0;
      overlay.hidden = true;
      const [file] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      host.file(file);
    });
  }

  /** `fileName`: the stream is a file of one's own. */
  show(sample: SampleName, size: number, fileName: string | null, memory: MemoryInfo | null): void {
    if (this.#ownFile) {
      this.#ownFile.hidden = fileName === null;
      this.#ownFile.textContent = fileName ?? 'Your file';
    }
    this.#sample.value = fileName === null ? sample : 'file';
    this.#size.value = String(size);
    this.#size.disabled = fileName !== null;
    this.#close.hidden = memory === null;
  }
}

/** Hands bytes to the browser as a file to keep. */
export function download(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = make('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
