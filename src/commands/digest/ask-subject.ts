import { z } from 'zod';
import { type AskEntry, entriesOf, entryId } from '../../jobs/digest/ask/entries.ts';
import { askButton } from '../../jobs/digest/buttons.ts';
import { type EditionRun, editionKind } from '../../jobs/digest/edition/record.ts';
import { parseJson } from '../../runtime/json.ts';
import { cut, singleLine } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../intake.ts';

/** The subject of the modals of [Ask the agent]: the button's line, then one of its entries, or a typed page. */
const askAbout = askButton.extend({ entry: z.string().optional(), path: z.string().optional() });
export type AskAbout = z.infer<typeof askAbout>;

export const readAbout = (about: string | undefined): AskAbout | undefined =>
  askAbout.safeParse(parseJson(about)).data;

/** Returns a digest, if it exists and this person may see it. */
export async function loadDigest(
  digest: string,
  caller: Caller,
  { intake }: Pick<CommandTools, 'intake'>,
): Promise<EditionRun | undefined> {
  const found = await intake.loadVisible(digest, editionKind, caller);
  return found.kind === 'found' ? found.run : undefined;
}

/** Returns the chosen or typed entry; undefined if the digest does not have it. */
export function findEntry(run: EditionRun, { about, entry, path }: AskAbout): AskEntry | undefined {
  const entries = entriesOf(run, about);
  if (path === undefined) return entries.find((one) => entryId(one) === entry);
  const listed = entries.find((one) => one.kind === 'page' && one.page.path === path);
  return listed ?? { kind: 'named', path };
}

/** Short enough for a modal's metadata, in any encoding. */
const MAX_PATH = 300;

/** Returns the path of a typed page or pasted address. */
export function readPage(
  typed: string,
): { kind: 'page'; path: string } | { kind: 'unclear'; problem: string } {
  const text = singleLine(typed.slice(0, 20 * MAX_PATH).toWellFormed());
  const path = /^https?:\/\//i.test(text) ? URL.parse(text)?.pathname : text;
  if (!path?.startsWith('/'))
    return { kind: 'unclear', problem: 'Type the path of a page, such as /guides/sso.' };
  if (path.length > MAX_PATH)
    return {
      kind: 'unclear',
      problem: `A path may have ${MAX_PATH} characters. "${cut(path, 40)}" has more.`,
    };
  return { kind: 'page', path };
}
