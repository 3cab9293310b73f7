import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStandInSlack } from '../slack/slack.ts';
import { type OpenDemo, openDemo, type Page, raw } from '../test-support/browser.ts';
import type { ExportJob, Message, Switch } from './protocol.ts';

let demo: OpenDemo;
let ana: Page;
beforeAll(async () => {
  demo = await openDemo();
  ana = await demo.open('ana');
}, 60_000);
afterAll(() => demo?.close());

const types = (page: Page, text: string, rest = {}) =>
  page.does({ do: 'write', channel: page.channel('#docs'), text, ...rest });

/** A control of these blocks by what it says, or what its field is called. */
function control(blocks: Message['blocks'], label: string): { blockId: string; actionId: string } {
  for (const block of blocks) {
    const elements = [block.elements, block.accessory, block.element].flat() as Record<string, unknown>[];
    for (const element of elements) {
      const named = [element?.text, block.label].some((text) => (text as { text?: string })?.text === label);
      if (named) return { blockId: String(block.block_id), actionId: String(element?.action_id) };
    }
  }
  throw new Error(`There is no ${label} in ${JSON.stringify(blocks)}`);
}

const reads = ({ text, blocks }: Message) => `${text} ${JSON.stringify(blocks)}`;
const message = (page: Page, pattern: RegExp, of: Partial<Message> = {}) =>
  page.until(() =>
    page
      .all('message')
      .findLast(
        (one) =>
          pattern.test(reads(one)) &&
          Object.entries(of).every(([name, value]) => one[name as keyof Message] === value),
      ),
  );
/** What Docket answers when ana asks for the list of digests. */
async function listsDigests(): Promise<string> {
  await types(ana, '/docs-digest list');
  const answers = ana.all('message').filter(({ ephemeral }) => ephemeral);
  return answers.map(reads).at(-1) ?? '';
}
const newExport = (before: ExportJob[]) =>
  ana.until(() => ana.all('export').find(({ id }) => !before.some((one) => one.id === id)));

test('the bot listens on this machine alone, and signs with a secret of its own', async () => {
  const { slack } = demo.world;
  const url = new URL('/healthz', slack.botUrl);
  expect((await fetch(url)).status).toBe(200);
  url.hostname = '127.0.0.2';
  await expect(fetch(url)).rejects.toThrow();
  expect(createStandInSlack().tokens.signingSecret).not.toBe(slack.tokens.signingSecret);
});

/** Has Ana export, and answers the job. */
async function exported(): Promise<ExportJob> {
  const before = ana.all('export');
  expect(await types(ana, '/docs-export docs.acme.com')).toEqual({ ok: true });
  return newExport(before);
}
const ends = (job: ExportJob, status: ExportJob['status']) =>
  ana.until(() => ana.all('export').find(({ id, status: now }) => id === job.id && now === status));
/** The platform is done at once, and Docket has said so. */
async function finishes(job: ExportJob) {
  demo.world.platform.finish(job.id);
  await ends(job, 'completed');
  await message(ana, new RegExp(`finished[\\s\\S]*${job.id}`));
}
const turns = async (name: Switch, on: boolean) => {
  expect(await demo.trouble({ do: 'switch', name, on })).toEqual({ ok: true });
  await ana.until(() => name in (ana.one('switches')?.on ?? {}) === on);
};

test('an export runs, is told live, and its link works until links are ended', async () => {
  expect(ana.one('bot')).toMatchObject({ state: 'up', restarts: 0 });
  expect(ana.one('redis')).toEqual({ kind: 'redis', up: true });
  const job = await exported();
  const entry = await ana.until(() =>
    ana.all('request').find(({ name, outcome }) => name === 'POST /v1/static-export/jobs' && outcome),
  );
  expect(entry).toMatchObject({
    way: 'docket → platform',
    outcome: '202',
    caused: [`export ${job.id} of docs.acme.com started`],
  });
  expect(ana.all('request').find(({ name }) => name === '/docs-export')).toMatchObject({
    way: 'slack → docket',
    outcome: '200',
  });
  await ana.until(() => ana.all('request').some(({ caused }) => caused.includes('message in #docs')));
  await finishes(job);
  const ending = await message(ana, /Download bundle/);
  const url = /"url":"([^"]*\/bundles\/[^"]*)"/.exec(reads(ending))?.[1] ?? '';
  expect((await fetch(url)).status).toBe(200);
  await demo.trouble({ do: 'end-links' });
  expect((await fetch(url)).status).toBe(403);
  await ana.until(() =>
    ana.all('request').some(({ way, name }) => way === 'visitor' && name === 'end links'),
  );
  // A new one works.
  const place = { channel: ending.channel, ts: ending.ts };
  const menu = ending.blocks.flatMap((block) =>
    ((block.elements as Record<string, unknown>[] | undefined) ?? []).flatMap((element) =>
      element.type === 'overflow'
        ? [{ blockId: String(block.block_id), actionId: String(element.action_id) }]
        : [],
    ),
  )[0];
  if (!menu) throw new Error('There is no menu');
  expect(await ana.does({ do: 'use', target: place, ...menu, chosen: 'New link' })).toEqual({ ok: true });
  const renewed = await ana.until(
    () =>
      ana.all('message').flatMap((one) => {
        const found = /"url":"([^"]*\/bundles\/[^"]*)"/.exec(reads(one))?.[1];
        return found !== undefined && found !== url ? [found] : [];
      })[0],
  );
  expect((await fetch(renewed)).status).toBe(200);
});

test('the clock moves over a Monday, and the digest comes once', async () => {
  await types(ana, '/docs-digest create');
  const modal = await ana.until(() => ana.one('view'));
  const values = {
    [control(modal.blocks, 'Channel').blockId]: ana.channel('#docs'),
    [control(modal.blocks, 'Time zone').blockId]: 'Europe/Berlin',
  };
  expect(await ana.does({ do: 'submit', values })).toEqual({ ok: true });
  await ana.until(() => ana.one('view') === undefined);
  await expect.poll(listsDigests).toMatch(/next /);
  const now = Temporal.Instant.fromEpochMilliseconds(demo.world.clock.now()).toZonedDateTimeISO(
    'Europe/Berlin',
  );
  const thisWeeks = now
    .subtract({ days: now.dayOfWeek - 1 })
    .startOfDay()
    .add({ hours: 9, minutes: 1 });
  // One that is longer overdue than two days is left out.
  const isOver = Temporal.ZonedDateTime.compare(thisWeeks, now) <= 0;
  const monday = isOver ? thisWeeks.add({ days: 7 }) : thisWeeks;
  const byMs = monday.epochMilliseconds - demo.world.clock.now();
  expect(await demo.trouble({ do: 'move-clock', byMs })).toEqual({ ok: true });
  const digests = () =>
    ana
      .all('message')
      .filter(
        (one) =>
          one.user === 'U0DOCKET' && !one.ephemeral && !one.threadTs && /^Digest of docs/.test(one.text),
      );
  await ana.until(() => digests().length > 0);
  expect(ana.one('clock')?.aheadMs).toBe(byMs);
  const posted = digests()[0];
  expect(Number(posted?.ts) * 1000).toBeGreaterThan(monday.epochMilliseconds - 60_000);
  // Its file is had by those who are in its channel.
  const file = await ana.until(() =>
    ana
      .all('message')
      .flatMap(({ files }) => files)
      .find(({ url }) => url),
  );
  const answer = await raw(demo.url + file.url, {});
  expect(answer).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'x-content-type-options': 'nosniff',
    },
  });
  expect(digests()).toHaveLength(1);
});

describe('the switch', () => {
  test('fail-next-export: has the next one fail, and is off then', async () => {
    await turns('fail-next-export', true);
    const job = await exported();
    await ana.until(() => !('fail-next-export' in (ana.one('switches')?.on ?? {})));
    await demo.trouble({ do: 'move-clock', byMs: 30_000 });
    await ends(job, 'failed');
    await message(ana, /failed/i);
    const next = await exported();
    await finishes(next);
  });

  test.each([
    ['platform-500', '500', 'docket → platform'],
    ['slack-429', '429', 'docket → slack'],
  ] as const)('%s: has calls refused until it is off', async (name, outcome, way) => {
    const last = ana.all('request').at(-1)?.n ?? 0;
    const refused = ana.one('limits')?.slackRefused ?? 0;
    const job = await exported();
    await turns(name, true);
    expect(ana.one('switches')?.on[name]).toEqual(
      name === 'platform-500' ? {} : { untilMs: expect.any(Number) },
    );
    await ana.until(() =>
      ana.all('request').some((one) => one.n > last && one.way === way && one.outcome === outcome),
    );
    if (name === 'slack-429') await ana.until(() => (ana.one('limits')?.slackRefused ?? 0) > refused);
    await turns(name, false);
    await finishes(job);
  });

  test('lose-next-answer: loses one, and is off then', async () => {
    const last = ana.all('request').at(-1)?.n ?? 0;
    await turns('lose-next-answer', true);
    await exported();
    const lost = await ana.until(() =>
      ana.all('request').find(({ n, outcome }) => n > last && outcome === 'reset'),
    );
    expect(lost).toMatchObject({ name: 'POST /v1/static-export/jobs', way: 'docket → platform' });
    await ana.until(() => !('lose-next-answer' in (ana.one('switches')?.on ?? {})));
  });
});
