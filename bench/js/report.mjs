// The whole page in Markdown, from all figures.
import { packageVersions } from './machine.mjs';
import { loadPeer, nativePeers } from './peers/index.mjs';
import {
  bundleSection,
  callSection,
  scanSection,
  slotsSection,
  streamSection,
} from './sections.mjs';
import { askedSection, lostSection } from './verdicts.mjs';

async function settingsSection(ids) {
  const versions = packageVersions();
  const lines = [];
  for (const id of ids) {
    const peer = await loadPeer(id);
    const version =
      peer.package && peer.package !== 'dpcache'
        ? ` (${peer.package} ${versions[peer.package]})`
        : '';
    const native = nativePeers.includes(id) ? ' Native: a yardstick, no page can run it.' : '';
    lines.push(
      `- ${peer.name}${version}: ${peer.settings}.${native}${peer.note ? ` ${peer.note}` : ''}`,
    );
  }
  return `## Settings\n\n${lines.join('\n')}\n`;
}

export async function report(results, about) {
  return `# The npm module beside others

Each package does each measurement in a process of its own under Node.js, and in a page of its own in Chromium, on
one thread. Vectors are random directions of unit length, 384 floats, the same for all.

${about}

${await askedSection(results)}
${await streamSection(results.streams)}
${await slotsSection(results)}
${scanSection(results.scans)}
${callSection(results.calls)}
${bundleSection(results.bundles)}
${await lostSection(results)}
${await settingsSection(results.ids)}`;
}
