import type { SentMessage } from '../../../demo/slack/workspace.ts';
import type { World } from './world.ts';

/** Ids, times and sizes differ from run to run; the words around them do not. */
export function plain(text: string): string {
  return text
    .replace(/se_\w{4}…\w{4}/g, 'se_…')
    .replace(/(?<=^(?:.+ · )?job )se_[0-9a-f]{32}(?=$| · )/gm, 'se_…')
    .replace(/aj_[0-9a-f]{4}…[0-9a-f]{4}|aj_[0-9a-f]{16,}/g, 'aj_…')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'TIME')
    .replace(/(took|after|by @?\w+) \d+ s\b/g, '$1 1 s')
    .replace(/\b(?:\d+ bytes|\d+\.\d kB)/, '1 byte')
    .replace(/ref \w+/, 'ref …');
}

type PersonName = Parameters<World['slack']['person']>[0];

/** What a person reads in a place. */
export function sees(world: World, where: string, who: PersonName = 'ana'): string[] {
  return world.slack.person(who).sees(where).map(plain);
}

/** Waits until a person reads each of these somewhere in the place, and answers all that is there then. */
export async function until(
  world: World,
  where: string,
  parts: string[],
  who: PersonName = 'ana',
): Promise<string[]> {
  const all = () => {
    const texts = sees(world, where, who);
    return parts.every((part) => texts.some((text) => text.includes(part))) && texts;
  };
  return world.slack.until(all, 20_000, parts.join(' and '));
}

/** The newest message of the bot that contains `part`. */
export function messageWith({ slack }: World, part: string): SentMessage {
  const found = slack.messages.findLast((message) => !message.deleted && slack.read(message).includes(part));
  if (!found) throw new Error(`No message contains ${part}`);
  return found;
}

/** How often the bot notified this person. */
export function notified({ slack }: World, who: PersonName): number {
  const { id } = slack.person(who);
  return slack.messages.filter(({ notifies }) => notifies.includes(id)).length;
}

/** Lines of the log at level error and above, by their words. */
export function errorsLogged({ bots }: World): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of bots.flatMap((bot) => bot.output().split('\n'))) {
    if (!/"level":(?:"(?:error|fatal)"|[56]0)/.test(line)) continue;
    const { msg = '', err, problem } = JSON.parse(line);
    // What a strike takes away is named until it is back.
    if (problem !== undefined) continue;
    const words = `${msg}: ${err?.message ?? ''}`.replaceAll(/\d{2,}/g, 'n').slice(0, 160);
    found.set(words, (found.get(words) ?? 0) + 1);
  }
  return found;
}
