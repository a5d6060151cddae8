// The kinds of line in a stream; fetched, with its WebAssembly, when they are asked for.
import { Templates } from 'dpcache/templates';
import type { TemplatesInfo } from './protocol';

const batch = 2000; // lines between two looks at what else is wanted, some milliseconds
const most = 1000; // that are told

/** `pause` lets others have a turn. */
export async function templatesOf(
  lines: readonly string[],
  codes: 'vary' | 'fixed',
  pause: () => Promise<void>,
): Promise<TemplatesInfo> {
  const templates = await Templates.create({ codes });
  try {
    for (let from = 0; from < lines.length; from += batch) {
      templates.learnAll(lines.slice(from, from + batch));
      await pause();
    }
    const { size } = templates;
    return { lines: templates.lines, size, templates: templates.list({ top: most }) };
  } finally {
    templates.dispose();
  }
}
