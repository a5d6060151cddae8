// Numbers and tables in Markdown, and the two sums that figures need.

export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const number = (x, digits = 0) =>
  x.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const us = (x) => number(x, x < 10 ? 2 : x < 100 ? 1 : 0);
export const percent = (share) =>
  share === 1 ? '100 %' : `${number(Math.floor(share * 1e4) / 100, 2)} %`;
export const table = (head, rows) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '--:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

export const rate = (figures) => (figures.items * 1e3) / median(figures.ms);
