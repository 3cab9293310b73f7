import { expect } from 'vitest';
import type { Call, Phase } from '../../../demo/wire.ts';
import { plain, sees } from './reading.ts';
import { strikeAt } from './strike-at.ts';
import type { Bot, World } from './world.ts';

const START = 'POST /v1/static-export/jobs';

/** A moment of an export: an outside call, before it took effect or after, its answer still unsent. */
export interface Moment {
  /** What the call is for, as `labelOf` says. */
  label: string;
  phase: Phase;
}

/** What an outside call is for; the same call of two runs has the same label. */
export function labelOf(call: Call, finished: boolean): string {
  const text = String(call.detail.text ?? '');
  const state = /^(\w+) · [^\n]+\nRequested by \w+$/.exec(text)?.[1];
  if (state !== undefined) return `${call.name} card ${state}`;
  if (/^\w+ · .*\nRequested by /.test(text)) return `${call.name} ending`;
  if (/^[A-Z]/.test(text)) return `${call.name} ${text.split(' ')[0]}`;
  if (text !== '') return `${call.name} SITE${/^\S+?(:? \w+)/.exec(text)?.[1]}`;
  return call.name.startsWith('GET')
    ? `${call.name} ${finished ? 'at its end' : 'while it runs'}`
    : call.name;
}

export type PersonName = Parameters<World['slack']['person']>[0];

/** The messages of an export at its end. Where Slack refuses blocks, the text alone is what people read. */
const ROLE_TEXTS: [string, RegExp][] = [
  ['card', /^(?:✅ )?Exported · SITE · 12 pages\nRequested by /u],
  ['ending', /^(?:✅ @\w+ )?Exported · SITE · 12 pages, /u],
  [
    'progress',
    /^(?:[🕒⏳] )?(?:Exporting (?:· ▰|SITE)|Queued · requested|SITE: queued|Making the download link)/u,
  ],
  ['question', /^(?:❔ @\w+ )?Did the export of SITE start\?/u],
  ['unclear card', /^(?:❔ )?Needs an answer · SITE\nRequested by /u],
];
/** The ending replaces the progress. */
const ROLES = { done: ['card', 'ending'], question: ['question', 'unclear card'] };

/** Returns which of them a text is, and the text itself where it is none. */
function roleOf(text: string, domain: string): string {
  const shown = text.replaceAll(domain, 'SITE');
  return ROLE_TEXTS.find(([, pattern]) => pattern.test(shown))?.[0] ?? shown;
}

/** Who asks for which site, and where. */
export interface Place {
  domain: string;
  where: string;
  who: PersonName;
}

const inDocs: Place = { domain: 'docs.acme.com', where: '#docs', who: 'ana' };

export interface ExportStory {
  place: Place;
  ending: 'done' | 'question';
  /** Whether the trouble happened. */
  struck: boolean;
}

/** What befalls the story once, at a moment: `act` is awaited while the call stands still. */
export interface Strike {
  moment: Moment;
  act: (bot: Bot, call: Call) => Promise<void>;
  /** Called once the request has been accepted. */
  accepted?: () => void;
}

/**
 * Somebody asks for an export (ana in #docs unless told otherwise) and, as a person would, asks again when told that
 * it did not work. The export stands at 42% until people see that, then it completes. Ends with the ending or the
 * question.
 */
export async function tellStory(world: World, strike?: Strike, place = inDocs): Promise<ExportStory> {
  const { slack, platform } = world;
  const { domain, where, who } = place;
  let finished = false;
  const failures: unknown[] = [];
  const isMine = callsAt(world, place);
  const makerOf = (call: Call) => world.bots.find((bot) => bot.made(call));
  const struck =
    strike &&
    strikeAt(
      [slack, platform],
      {
        call: (call) =>
          isMine(call) && labelOf(call, finished) === strike.moment.label && makerOf(call) !== undefined,
        phase: strike.moment.phase,
      },
      (call) => strike.act(makerOf(call) as Bot, call).catch((error: unknown) => void failures.push(error)),
    );

  for (;;) {
    await slack.until(() => world.bots.some((bot) => bot.running()), 60_000, 'a bot that runs');
    const answer = await slack.person(who).types(where, `/docs-export ${domain}`);
    const told = answer.ephemeral === undefined ? '' : plain(slack.read(answer.ephemeral));
    if (answer.ok && told === '') break;
    if (answer.ok && told.startsWith(`${domain} is already being exported`)) break;
    if (answer.ok)
      expect(told).toMatch(
        /^(I can't (keep track of work|reach Slack's API) right now|My database (stopped answering|is read-only right now|doesn't let me save your request)|Slack took too long to say)/,
      );
  }
  strike?.accepted?.();

  const ending = await slack.until(
    () => {
      // A moment after the last call is still to come while that call is being answered.
      const answered = slack.wire.calls.every((call) => call.outcome !== undefined || !isMine(call));
      const texts = sees(world, where, who);
      if (!finished && texts.some((text) => /42(?:%| percent)/.test(text))) {
        finished = true;
        platform.finish(domain);
      }
      const roles = texts.map((text) => roleOf(text, domain));
      if (roles.includes('question') && roles[0] === 'unclear card') return 'question';
      // An answer for them alone may stand among the messages: that something did not work.
      const isReplaced = ROLES.done.every((role) => roles.includes(role)) && !roles.includes('progress');
      return answered && isReplaced && 'done';
    },
    120_000,
    'an ending',
  );
  struck?.stop();
  expect(failures).toEqual([]);
  return { place, ending, struck: struck?.isStruck() ?? false };
}

/** Which calls belong to the export of a place. Who somebody is, is asked once for all places. */
function callsAt({ slack, platform }: World, { domain, where, who }: Place) {
  const { id: channel } = slack.channel(where);
  const { id: user } = slack.person(who);
  return ({ detail }: Call) =>
    detail.channel === channel ||
    detail.user === user ||
    (detail.body as { domain?: string } | undefined)?.domain === domain ||
    platform.exports.get(String(detail.jobId))?.domain === domain;
}

/** What must hold whatever happened: one start at most, each message once, one mention, and nothing elsewhere. */
export function expectNothingTwice(world: World, ...stories: ExportStory[]) {
  const { slack, platform } = world;
  let expected = 0;
  for (const { ending, place } of stories) {
    const { domain, where, who } = place;
    const messages = slack.messages.filter(({ channel }) => channel === slack.channel(where).id);
    const rolesOf = (isDeleted: boolean) =>
      messages
        .filter(({ deleted = false }) => deleted === isDeleted)
        .map((message) => roleOf(slack.read(message), domain))
        .toSorted();
    expect(rolesOf(false)).toEqual(ROLES[ending]);
    expect(rolesOf(true)).toEqual(ending === 'done' ? ['progress'] : []);
    const starts = platform.starts.filter((start) => start.domain === domain);
    expect(starts.length).toBeLessThanOrEqual(1);
    if (ending === 'done') expect(starts).toHaveLength(1);
    const { id } = slack.person(who);
    expect(messages.flatMap(({ notifies }) => notifies).filter((user) => user === id)).toHaveLength(1);
    const isStart = ({ name, detail }: Call) =>
      name === START && (detail.body as { domain: string }).domain === domain;
    expect(platform.wire.calls.filter(isStart).length).toBeLessThanOrEqual(1);
    expected += messages.length;
  }
  expect(slack.messages).toHaveLength(expected);
}

/** Every outside call of an undisturbed export, each before and after. */
export async function momentsOfAnExport(world: World): Promise<Moment[]> {
  const labels = new Set<string>();
  const { slack, platform } = world;
  const known = () => platform.exports.values().some(({ status }) => status === 'completed');
  const onCall = (call: Call) => {
    if (call.name !== 'auth.test') labels.add(labelOf(call, known()));
  };
  slack.wire.onCall(onCall);
  platform.wire.onCall(onCall);
  const story = await tellStory(world);
  expectNothingTwice(world, story);
  return [...labels].flatMap((label) => [
    { label, phase: 'before' as const },
    { label, phase: 'after' as const },
  ]);
}
