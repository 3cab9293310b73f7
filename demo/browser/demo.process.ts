import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStandInSlack } from '../slack/slack.ts';
import { type OpenDemo, openDemo, type Page } from '../test-support/browser.ts';
import { LABELS, SAYS } from '../words.ts';
import type { ExportJob, Message, PullRequestChange, Switch } from './protocol.ts';

let demo: OpenDemo;
let ana: Page;
beforeAll(async () => {
  demo = await openDemo();
  ana = await demo.open('ana');
}, 60_000);
afterAll(() => demo?.close());

const types = (page: Page, text: string, rest = {}) =>
  page.does({ do: 'write', channel: page.channel('#docs'), text, ...rest });

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

test('Ana deploys to production, and the panel shows which version it has', async () => {
  const { deployment } = demo.world;
  expect(ana.one('deployment')).toEqual({ kind: 'deployment', url: deployment?.url });
  const job = await exported('--version v7');
  await finishes(job);
  await clicks(LABELS.deploy);
  await message(ana, SAYS.live);
  const site = await ana.until(() => ana.all('deployment').find(({ serves }) => serves));
  expect(site.serves).toEqual({ jobId: job.id, version: 'v7' });
  expect(ana.all('request')).toContainEqual(
    expect.objectContaining({ way: 'docket → deployment', name: 'POST /docket', outcome: '202' }),
  );
});

test('the panel changes the pull request of the agent, and Docket says so within seconds', async () => {
  const change = (name: PullRequestChange) => demo.trouble({ do: 'pull-request', change: name });
  expect(await change('merge')).toEqual({ ok: false, problem: 'No pull request is open.' });
  expect(await types(ana, '/docs-agent new Add a chapter')).toEqual({ ok: true });
  const open = await ana.until(() => ana.one('git-host')?.open);
  const { prLink } = await ana.until(() => ana.all('agent-job').find((one) => one.prLink));
  expect(await change('request-changes')).toEqual({ ok: true });
  await message(ana, /changes requested/);
  expect(await change('fail-checks')).toEqual({ ok: true });
  await message(ana, SAYS.checksFailed);
  // As old as it may be.
  await demo.trouble({ do: 'move-clock', byMs: 25 * 3_600_000 });
  expect(await change('merge')).toEqual({ ok: true });
  const { threadTs } = await message(ana, SAYS.merged);
  await message(ana, SAYS.mergedBy, { ts: threadTs ?? '' });
  await ana.until(() => ana.one('git-host')?.open === undefined);
  expect(await (await fetch(prLink ?? '')).text()).toBe(`${open} · merged`);
  const read = { way: 'docket → git host', name: 'GitHub pulls', outcome: '200' };
  expect(ana.all('request')).toContainEqual(expect.objectContaining(read));
});

test('what leaves Slack while the clock moves is not refused as too old', async () => {
  const { slack } = demo.world;
  const statuses = new Set<number | undefined>();
  let isMoving = true;
  const sends = async () => {
    while (isMoving) statuses.add((await slack.sendEvent({ type: 'emoji_changed' })).attempts[0]);
  };
  const sending = [sends(), sends(), sends()];
  for (let moves = 0; moves < 10; moves += 1) await demo.trouble({ do: 'move-clock', byMs: 6 * 60_000 });
  isMoving = false;
  await Promise.all(sending);
  expect([...statuses]).toEqual([200]);
});

/** Ana clicks the button in the newest message that has it. */
async function clicks(label: string) {
  const { channel, ts, blocks } = await message(ana, new RegExp(`"text":"${label}"`));
  const elements = blocks.flatMap(({ block_id: blockId = '', elements = [] }) =>
    (elements as Record<string, unknown>[]).map((element) => ({ blockId, element })),
  );
  const { blockId, element } =
    elements.find((one) => JSON.stringify(one.element).includes(`"text":"${label}"`)) ?? {};
  const use = { blockId: blockId ?? '', actionId: String(element?.action_id) };
  expect(await ana.does({ do: 'use', target: { channel, ts }, ...use })).toEqual({ ok: true });
}

test('Ana is an admin, who may read the audit log; Ben is not', async () => {
  const ben = await demo.open('ben');
  for (const page of [ana, ben]) await types(page, '/docs-status audit');
  await message(ana, /· accepted/, { ephemeral: true });
  await ben.until(() =>
    ben.all('message').find((one) => one.ephemeral && /can't|not allowed/.test(reads(one))),
  );
});

/** Has Ana export, and answers the job. */
async function exported(more = ''): Promise<ExportJob> {
  const before = ana.all('export');
  expect(await types(ana, `/docs-export docs.acme.com ${more}`)).toEqual({ ok: true });
  return newExport(before);
}
const ends = (job: ExportJob, status: ExportJob['status']) =>
  ana.until(() => ana.all('export').find(({ id, status: now }) => id === job.id && now === status));
/** The platform is done at once, and Docket has said so. */
async function finishes(job: ExportJob) {
  demo.world.platform.finish(job.id);
  await ends(job, 'completed');
  await message(ana, new RegExp(`took [\\s\\S]*${job.id}`));
}
const turns = async (name: Switch, on: boolean) => {
  expect(await demo.trouble({ do: 'switch', name, on })).toEqual({ ok: true });
  await ana.until(() => name in (ana.one('switches')?.on ?? {}) === on);
};

describe('the switch', () => {
  test('fail-next-export: has the next one fail, and is off then', async () => {
    await turns('fail-next-export', true);
    const job = await exported();
    await ana.until(() => !('fail-next-export' in (ana.one('switches')?.on ?? {})));
    await demo.trouble({ do: 'move-clock', byMs: 30_000 });
    await ends(job, 'failed');
    await message(ana, /Export failed/);
    const next = await exported();
    await finishes(next);
  });

  test('fail-next-deployment: has the site reject the next export, and is off then', async () => {
    const job = await exported();
    await finishes(job);
    await turns('fail-next-deployment', true);
    await clicks(LABELS.deploy);
    await message(ana, SAYS.deployFailed);
    await ana.until(() => !('fail-next-deployment' in (ana.one('switches')?.on ?? {})));
    expect(ana.one('deployment')?.serves?.jobId).not.toBe(job.id);
  });

  test('fail-next-agent, fail-next-preview: each fails once', async () => {
    await turns('fail-next-agent', true);
    expect(await types(ana, '/docs-agent new Add a page')).toEqual({ ok: true });
    await message(ana, SAYS.agentFailed);
    await ana.until(() => !('fail-next-agent' in (ana.one('switches')?.on ?? {})));
    expect(await types(ana, '/docs-agent new Add another page')).toEqual({ ok: true });
    await message(ana, SAYS.pullRequest);
    await turns('fail-next-preview', true);
    await clicks(LABELS.buildPreview);
    await message(ana, SAYS.previewFailed);
    await ana.until(() => !('fail-next-preview' in (ana.one('switches')?.on ?? {})));
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
