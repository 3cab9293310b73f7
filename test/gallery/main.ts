import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fetchBrowser } from '../../scripts/browser.mjs';
import { escapeHtml, launch, openPage, PHONE } from './page.ts';
import { problemsOf } from './rules.ts';
import { blocksOf, type GalleryState } from './state.ts';
import { states } from './states.ts';
import { spokenText } from './words.ts';

/** Draws every state as a desktop and a phone show it, light and dark, into one page of pictures. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const browserParts = await fetchBrowser(root);
if (browserParts === undefined) {
  console.error(
    'The gallery needs Chromium, and fonts from apt-get so that lines break alike everywhere: run it on Debian, where both are fetched.',
  );
  process.exit(1);
}

const LOOKS = [
  { width: 700, theme: 'light' },
  { width: PHONE, theme: 'light' },
  { width: PHONE, theme: 'dark' },
  { width: 700, theme: 'dark' },
] as const;

const folder = new URL('../../gallery/', import.meta.url);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const browser = await launch(browserParts);

/** What is wrong with a state, and what is read aloud of it. */
function caption(state: GalleryState): string {
  const { name, shown } = state;
  const text = shown.kind === 'message' ? `<p>🔊 ${escapeHtml(spokenText(shown.message.text))}</p>` : '';
  const asked = blocksOf(shown).flatMap(confirmsIn);
  const first = asked.map((confirm) => `<p>Asks first: ${escapeHtml(confirm)}</p>`).join('');
  const marks = problemsOf(state)
    .map((problem) => `<p class="problem">✗ ${escapeHtml(problem)}</p>`)
    .join('');
  return `<div class="caption"><b>${escapeHtml(name)}</b>${text}${first}${marks}</div>`;
}

/** What buttons ask first, which the library does not draw. */
function confirmsIn(node: unknown): string[] {
  if (node === null || typeof node !== 'object') return [];
  if (!('confirm' in node) || !('action_id' in node)) return Object.values(node).flatMap(confirmsIn);
  const { title, text, confirm, deny } = node.confirm as Record<string, { text: string } | undefined>;
  return [`${title?.text} ${text?.text} [${confirm?.text}] [${deny?.text}]`];
}

const style = `.caption { font-size: 12px; background: #8883; padding: 4px 16px; margin-top: 12px; overflow-wrap: anywhere; }
.caption p { margin: 2px 0; white-space: pre-line; } .problem { color: #e01e5a; }`;

const groups = Map.groupBy(states, ({ name }) => name.split('/').slice(0, -1).join('/'));
const rows: string[] = [];
for (const [group, grouped] of groups) {
  const pictures: string[] = [];
  for (const { width, theme } of LOOKS) {
    const page = await openPage(browser, grouped, { width, theme, caption });
    await page.addStyleTag({ content: style });
    const file = `${group.replaceAll('/', '-').replaceAll(' ', '-')}-${width}-${theme}.png`;
    writeFileSync(new URL(file, folder), await page.screenshot({ fullPage: true }));
    await page.close();
    pictures.push(
      `<img src="${file}" width="${width}" alt="${escapeHtml(`${group}, ${width} pixels, ${theme}`)}">`,
    );
  }
  rows.push(`<h2>${escapeHtml(group)}</h2><div class="row">${pictures.join('')}</div>`);
}
await browser.close();

const index = new URL('index.html', folder);
writeFileSync(
  index,
  `<!doctype html><meta charset="utf-8"><title>Gallery</title>
<style>body { font-family: sans-serif; background: #ccc; } .row { display: flex; align-items: start; gap: 8px; }</style>
<h1>${states.length} states</h1>${rows.join('\n')}\n`,
);
console.log(`${states.length} states: ${fileURLToPath(index)}`);
