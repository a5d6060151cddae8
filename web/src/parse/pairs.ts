// Labelled pairs out of a table, by the command line's rules: tabs, and a first line that names the
// columns.
import { FileError } from './limits';

export interface LabelledPair {
  textA: string;
  textB: string;
  same: boolean;
}

const columns = ['label', 'text_a', 'text_b'] as const;

/** Throws FileError, which names the line. */
export function parsePairs(table: string): LabelledPair[] {
  const pairs: LabelledPair[] = [];
  let places: number[] | undefined;
  let width = 0;
  for (const [i, raw] of table.replace(/^\uFEFF/, '').split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (line === '') continue;
    const fields = line.split('\t');
    const fail = (what: string): never => {
      throw new FileError(`Line ${i + 1} ${what}.`);
    };
    if (!places) {
      places = columns.map((name) => fields.indexOf(name));
      const missing = columns.find((_, at) => places?.[at] === -1);
      if (missing) fail(`has no column “${missing}”: it must name label, text_a and text_b, with tabs`);
      width = fields.length;
      continue;
    }
    if (fields.length !== width) fail(`has ${fields.length} fields, the first line has ${width}`);
    const [label, textA, textB] = places.map((at) => fields[at] ?? '');
    if (label !== '0' && label !== '1') fail(`has the label “${label}”: it must be 1 or 0`);
    pairs.push({ textA: textA ?? '', textB: textB ?? '', same: label === '1' });
  }
  if (pairs.length === 0) throw new FileError('There are no pairs.');
  return pairs;
}
