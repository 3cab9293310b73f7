import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Document, visit } from 'yaml';
import type { GalleryState } from './state.ts';
import { states } from './states.ts';

/** Where the golden files are: every message, modal and Home as Slack gets it, a file for each family. */
const folder = new URL('../outside/golden/', import.meta.url);

/** A part of a view that is not longer than this, as JSON, stands in one line. */
const MAX_INLINE_LENGTH = 110;

/** Returns the text of every golden file, by its name, as the views make it now. */
export function goldenFiles(): Record<string, string> {
  const families = Map.groupBy(states, ({ name }) => `${name.split('/')[0]}.yaml`);
  return Object.fromEntries([...families].map(([file, family]) => [file, goldenText(family)]));
}

function goldenText(family: readonly GalleryState[]): string {
  return family.map(({ name, shown }) => stateText(name, shown)).join('\n');
}

function stateText(name: string, shown: GalleryState['shown']): string {
  const view = shown.kind === 'message' ? shown.message : shown.view;
  // What JSON leaves out never reaches Slack.
  const document = new Document(JSON.parse(JSON.stringify({ [name]: view })), {
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Collection(_, node) {
      const json = JSON.stringify(node.toJSON());
      if (json.length <= MAX_INLINE_LENGTH && !json.includes('\\n')) node.flow = true;
    },
  });
  return document.toString({
    lineWidth: 0,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: 1_000_000,
  });
}

/** Returns the text of every golden file, by its name, as it is kept. */
export const keptGoldenFiles = (): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]));

if (import.meta.main) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = Object.entries(goldenFiles());
  for (const [file, text] of files) writeFileSync(new URL(file, folder), text);
  console.log(
    `${states.length} states in ${files.length} files: see what git diff says of test/outside/golden.`,
  );
}
