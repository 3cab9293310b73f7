import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { createStandInGitHost } from '../../demo/git-host/git-host.ts';
import { daysText } from '../../src/jobs/digest/weeks.ts';
import { agentsOn, type Followed } from '../support/flows/agent-stage.ts';
import { dayAfter, digestsOn, SUNDAY_MS } from '../support/flows/digest-stage.ts';
import { type Stage, type StageOptions, stage } from '../support/flows/stage.ts';
import { temporaryFolder } from '../support/flows/world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A Monday, 09:30 in Berlin. */
const MONDAY = Date.parse('2027-03-01T08:30:00Z');

interface HostOptions {
  host?: 'github' | 'gitlab';
  repository?: string;
  fineGrained?: boolean;
  settings?: string;
  stage?: StageOptions;
  /** The file with the token. */
  file?: string;
}

/** A Docket that reads pull requests from a Git host. */
async function hostStage(options: HostOptions = {}) {
  const {
    host: kind = 'github',
    repository = 'acme/docs',
    fineGrained = false,
    settings = '',
    file,
  } = options;
  let scene: Stage;
  const host = createStandInGitHost({
    nowMs: () => scene.world.now(),
    repositories: [repository],
    fineGrained,
  });
  const { url, close } = await host.listen();
  if (file) writeFileSync(file, host.token);
  const api = kind === 'github' ? '/api/v3' : '/api/v4';
  scene = stage({
    startMs: MONDAY,
    ...options.stage,
    bot: ({ platform }) => ({
      config: `
projects:
  acme:
    projectId: ${platform.projectId}
    domains: [docs.acme.com]
    pullRequests:
      ${kind}: { token: { ${file ? `file: ${file}` : 'env: GIT_TOKEN'} }, apiUrl: ${url}${api} }
${settings}`,
      env: { GIT_TOKEN: host.token },
    }),
  });
  afterEach(() => host.forget());
  afterAll(close);
  const agents = agentsOn(scene);
  const link = kind === 'github' ? `${url}/${repository}` : `${url}/${repository}/-/merge_requests/131`;

  const dueOf = () => scene.world.redis.client.zrange('{docket}:runs:active', 0, '-1', 'WITHSCORES');
  const isIdle = () =>
    vi.waitUntil(
      async () => (await dueOf()).every((score, at) => at % 2 === 0 || Number(score) > Date.now()),
      { timeout: 20_000 },
    );

  return {
    ...{ scene, host, agents, url },
    /** Follows a job whose agent opens a pull request; returns its thread, and it. */
    async opens({ who = 'ana' as 'ana' | 'ben', repository: at = link } = {}) {
      const known = host.pulls.length;
      const followed = await agents.follows({ who, seed: { repository: at, prLink: null } });
      await agents.replies(followed.card, 'Also add error handling', { who });
      await agents.untilBelow(followed.card, 'Pull request · ');
      const pull = await scene.slack.until(() => host.pulls[known]);
      return { ...followed, pull, name: `${repository}#${pull.number}` };
    },
    /** Goes on to a later time, once all that is due now is done, and waits for what is due then. */
    async passes(ms: number) {
      await isIdle();
      await scene.world.jumpTo(scene.world.now() + ms);
      await isIdle();
    },
    /** Waits until the card and the result say this state. */
    async says({ card, name }: Followed & { name: string }, state: string) {
      await agents.untilBelow(card, `${name} · ${state}`);
      await scene.slack.until(() => agents.read(card).includes(`${name} · ${state}`), 20_000, state);
    },
  };
}

describe('GitHub', async () => {
  const { scene, host, agents, opens, passes, says } = await hostStage({ settings: '      remind: S0DOCS' });
  const { untilBelow, below, read } = agents;
  const inThread = (part: string) =>
    scene.slack.until(
      () => scene.slack.messages.findLast((one) => !one.deleted && read(one).includes(part)),
      20_000,
      part,
    );

  test('a pull request says its state, and its merge is one quiet reply', async () => {
    const opened = await opens();
    const { card, pull, name } = opened;
    await says(opened, 'open\n');
    expect(scene.notified('ana')).toBe(1);
    const changes: [string, () => void][] = [
      ['draft', () => host.change(pull, { isDraft: true })],
      ['open', () => host.change(pull, { isDraft: false })],
      ['changes requested', () => host.review(pull, 'sue', 'CHANGES_REQUESTED')],
      ['approved', () => host.review(pull, 'sue', 'APPROVED')],
      ['approved', () => host.review(pull, 'sue', 'COMMENTED')],
    ];
    for (const [state, change] of changes) {
      change();
      await passes(5 * MINUTE_MS);
      await says(opened, `${state}\n`);
    }
    host.merge(pull, 'ben');
    await passes(5 * MINUTE_MS);
    await says(opened, 'merged by ben ');
    await untilBelow(card, `✅ Merged · ${name}`);
    expect(below(card).filter((text) => text.includes(name))).toHaveLength(2);
    expect(scene.notified('ana')).toBe(1);
    await passes(2 * HOUR_MS);
    // Nothing is read any more.
    const { length } = host.wire.calls;
    await passes(2 * HOUR_MS);
    await passes(2 * HOUR_MS);
    expect(host.wire.calls).toHaveLength(length);
  });

  test('a closed one, too; after the first hour within one hour', async () => {
    const opened = await opens();
    const { card, pull, name } = opened;
    await says(opened, 'open\n');
    await passes(2 * HOUR_MS);
    host.close(pull);
    await passes(HOUR_MS);
    await says(opened, 'closed\n');
    await untilBelow(card, `➖ Closed · ${name}`);
    expect(scene.notified('ana')).toBe(1);
  });

  test('failed checks are posted once for each commit, with one mention a day and a form', async () => {
    const opened = await opens();
    const { card, pull, name } = opened;
    host.check(pull, { build: 'failed', 'a "b" <!here> *c*': 'running' });
    await passes(11 * MINUTE_MS);
    await says(opened, 'open\n');
    expect(below(card).join('\n')).not.toContain('Checks failed');
    host.check(pull, { 'a "b" <!here> *c*': 'failed' });
    await passes(5 * MINUTE_MS);
    await says(opened, 'checks failed\n');
    const failed = `❌ @ana Checks failed · ${name}\nbuild, a "b" <!here> *c*\nRequested by ana\n`;
    await untilBelow(card, failed);
    expect(scene.notified('ana')).toBe(2);
    agents.plan(opened.jobId, { outcome: 'same_pr', durationMs: 10 });
    await scene.person('ana').clicks(await inThread('Checks failed · '), 'Ask the agent to fix it');
    const form = scene.person('ana').modal();
    expect(JSON.stringify(form)).toContain(
      String.raw`Fix the failed checks of ${name}: \"build\", \"a 'b' <!here> *c*\".`,
    );
    await scene.person('ana').submits();
    const sent = await agents.sent(2);
    expect(sent[1]).toContain(`Fix the failed checks of ${name}: "build", `);
    await untilBelow(card, `Pull request updated · ${name} · checks failed`);
    host.push(pull);
    host.check(pull, { build: 'failed' });
    await passes(5 * MINUTE_MS);
    await untilBelow(card, `❌ Checks failed · ${name}\nbuild\n`);
    host.push(pull);
    host.check(pull, { build: 'passed' });
    await passes(HOUR_MS);
    await says(opened, 'open\n');
    expect(below(card).filter((one) => one.includes('Checks failed'))).toHaveLength(2);
    await scene.person('ana').clicks(await inThread('Checks failed · '), 'Ask the agent to fix it');
    await agents.note('ana', 'Its checks no longer fail, so nothing was sent.');
  });

  test('one reminder mentions the group after three working days, and none a draft or after a review', async () => {
    const opened = await opens();
    const { card, pull, name } = opened;
    await says(opened, 'open\n');
    const draft = await opens();
    host.change(draft.pull, { isDraft: true });
    const reviewed = await opens();
    host.review(reviewed.pull, 'sue', 'COMMENTED');
    await passes(5 * MINUTE_MS);
    await scene.slack.until(() => read(draft.card).includes(' · draft\n'));
    // Thursday, 08:55 in Berlin.
    await passes(Date.parse('2027-03-04T07:55:00Z') - scene.world.now());
    expect(below(card).join()).not.toContain('Waiting for a review');
    await passes(6 * MINUTE_MS);
    await untilBelow(
      card,
      `⚠️ @docs-admins Waiting for a review · ${name}\nNobody has reviewed it for 3 working days.\nRequested by ana\n`,
    );
    for (let day = 0; day < 5; day += 1) await passes(24 * HOUR_MS);
    const all = [card, draft.card, reviewed.card].flatMap((one) => below(one));
    expect(all.filter((text) => text.includes('Waiting for a review'))).toHaveLength(1);
    host.merge(pull);
  });

  test('lists have the oldest first, for those who may see them', async () => {
    const first = await opens();
    await says(first, 'open\n');
    await passes(2 * HOUR_MS);
    const second = await opens({ who: 'ben' });
    await scene.slack.until(() => read(second.card).includes(' · open\n'));
    const lines = (answer: string | undefined) =>
      answer
        ?.split('\n')
        .filter((line) => /opened /.test(line))
        .map((line) => line.replace(/ opened .*,/, ','));
    const both = [
      `🕒 Open · ${first.name} ·, requested by ana · Open thread`,
      `🕒 Open · ${second.name} ·, requested by you · Open thread`,
    ];
    const asked = async (text: string) =>
      lines(scene.told(await scene.asks(text, { where: '#elsewhere', who: 'ben' })));
    expect(await asked('/docs-agent reviews')).toEqual(both);
    expect(await asked('/docs-agent list')).toEqual(both);
    expect(await asked('/docs-agent reviews --project acme')).toEqual(both);
    await scene.person('ben').opensHome();
    await scene.slack.until(() => JSON.stringify(scene.person('ben').home() ?? '').includes(second.name));
    host.review(first.pull, 'sue', 'APPROVED');
    await passes(HOUR_MS);
    await says(first, 'approved\n');
    expect(await asked('/docs-agent reviews')).toEqual(both.slice(1));
  });

  test('one that nobody closes is no longer read after 90 days', async () => {
    const opened = await opens();
    await says(opened, 'open\n');
    await passes(91 * 24 * HOUR_MS);
    // The step that was due first may have read the list.
    await passes(2 * HOUR_MS);
    const { length } = host.wire.calls;
    await passes(24 * HOUR_MS);
    expect(host.wire.calls).toHaveLength(length);
    expect(read(opened.card)).toContain(' · open\n');
  });
});

describe('GitLab', async () => {
  const { scene, host, agents, opens, passes, says } = await hostStage({
    host: 'gitlab',
    repository: 'acme/web/docs',
  });

  test('a merge request says its state, and its merge is one quiet reply', async () => {
    const opened = await opens();
    const { card, pull, name } = opened;
    await says(opened, 'open\n');
    host.review(pull, 'sue', 'CHANGES_REQUESTED');
    await passes(5 * MINUTE_MS);
    await says(opened, 'changes requested\n');
    host.review(pull, 'sue', 'APPROVED');
    host.check(pull, { build: 'running', lint: 'failed' });
    await passes(5 * MINUTE_MS);
    await says(opened, 'approved\n');
    host.check(pull, { build: 'passed' });
    await passes(5 * MINUTE_MS);
    await agents.untilBelow(card, `❌ @ana Checks failed · ${name}\nlint\n`);
    host.merge(pull, 'ben');
    await passes(5 * MINUTE_MS);
    await says(opened, 'merged by ben ');
    await agents.untilBelow(card, `✅ Merged · ${name}`);
    expect(scene.notified('ana')).toBe(2);
  });
});

describe('without a Git host', () => {
  const scene = stage();

  test('Docket does not say that nothing waits', async () => {
    const answer = scene.told(await scene.asks('/docs-agent reviews'));
    expect(answer).toContain("I don't know which pull requests wait");
    expect(answer).toContain('Your Docket admins can set pullRequests.');
  });
});

describe('a digest', async () => {
  const { scene, agents, host, url, opens, passes, says } = await hostStage({
    settings: 'limits: { analyticsPerHour: 10000 }',
    stage: { startMs: SUNDAY_MS, platform: { pages: 0, analyticsPerHour: 100_000 } },
  });
  const { toSunday, quiet, searched, creates, toBerlin, digest, below, asksAgent, settled } =
    digestsOn(scene);
  afterEach(settled);

  test('counts what waits for a review, in its channel', async () => {
    const week = await toSunday();
    quiet(dayAfter(week, -7), week);
    await creates();
    const opened = await opens();
    await says(opened, 'open\n');
    await passes(5 * MINUTE_MS);
    await toBerlin(1, '09:00');
    const root = await digest('2026');
    await scene.slack.until(
      () => below(root).some((text) => text.includes('1 pull request of the agent waits for a review')),
      20_000,
      'the line',
    );
    expect(agents.read(opened.card)).toContain(' · open\n');
  });

  test('says two whole weeks after a merge what readers do since', async () => {
    const week = await toSunday();
    /** Searches without a click in the weeks before, in that of the merge, and in those after it. */
    const daysOf = (place: number) =>
      daysText({ from: dayAfter(week, 7 * place), to: dayAfter(week, 7 * place + 7) });
    // The digest chose it by its fifth week, so that one proves nothing.
    const hitsOf = [41, 40, 42, 41, 66, 30, 8, 4];
    const weeks = hitsOf.map((hits, n) => ({ from: dayAfter(week, 7 * (n - 4)), hits }));
    for (const { from, hits } of weeks) {
      quiet(from);
      const api = { searchQuery: 'api key', hits: 400, clicks: 300, topClickedPage: '/api' };
      searched(from, [{ searchQuery: 'sso okta', hits }, api]);
    }
    await creates();
    const seed = { repository: `${url}/acme/docs`, prLink: null };
    const { card, jobId } = await agents.follows({ seed });
    await toBerlin(1, '09:00');
    const root = await digest(daysOf(0), { has: ['sso okta'] });
    await asksAgent('ana', root, 'searches');
    await scene.person('ana').submits({ Job: 'acme/docs @ agent/quickstart · Ready' });
    await agents.sent(1);
    agents.finish(jobId, 'new_pr');
    await agents.untilBelow(root, 'Pull request · ');
    const pull = await scene.slack.until(() => host.pulls[0]);
    const name = `acme/docs#${pull.number}`;
    await agents.untilBelow(card, 'Pull request · ');
    host.merge(pull);
    await passes(5 * MINUTE_MS);
    await agents.untilBelow(card, `✅ Merged · ${name}`);
    const merged = `${Number(dayAfter(week, 7).slice(8))} `;
    const line = `"sso okta" without a click 41 → 6 a week`;
    for (const place of [1, 2, 3]) {
      await toBerlin(1, '09:00');
      await digest(daysOf(place), {});
      // Its row lets the digest's own requests go first.
      await passes(11 * MINUTE_MS);
      const later = await digest(daysOf(place), { has: [place === 3 ? line : '.csv'] });
      await settled();
      const since = below(later).filter((text) => text.startsWith(`Since ${name} (merged ${merged}`));
      expect(since).toHaveLength(place === 3 ? 1 : 0);
      expect(below(later).join('\n')).not.toMatch(/because|helped/);
    }
  });
});

describe('a Git host with trouble', async () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  const file = join(folder.path, 'token');
  const { scene, host, agents, opens, passes, says } = await hostStage({
    repository: 'acme/old',
    fineGrained: true,
    file,
  });
  const problems = async () => {
    const answer = await fetch(`http://127.0.0.1:${scene.world.bots.at(-1)?.port}/readyz`);
    const { problems: all = [] } = (await answer.json()) as { problems?: { name: string; text: string }[] };
    return all.map(({ name, text }) => `${name}: ${text}`).join('\n');
  };
  const isProblem = (part: string) =>
    vi.waitUntil(async () => (await problems()).includes(part), { timeout: 20_000, interval: 100 });

  test('a fine-grained token reads workflow runs, in a repository that is renamed', async () => {
    const opened = await opens();
    host.check(opened.pull, { build: 'failed' });
    await passes(11 * MINUTE_MS);
    await says(opened, 'checks failed\n');
    const names = new Set(host.wire.calls.map(({ name }) => name));
    expect(names).toContain('GitHub actions/runs');
    host.rename('acme/old', 'acme/new');
    host.merge(opened.pull);
    await passes(5 * MINUTE_MS);
    await says(opened, 'merged by ben ');
    // The new address is remembered: one list is asked for twice.
    const lists = host.wire.calls.filter(({ name, outcome }) => name === 'GitHub pulls' && outcome === '301');
    expect(lists).toHaveLength(1);
    host.rename('acme/new', 'acme/old');
  });

  test('a secondary limit waits at least a minute', async () => {
    const opened = await opens();
    await says(opened, 'open\n');
    host.limit(6 * MINUTE_MS);
    host.merge(opened.pull);
    await passes(5 * MINUTE_MS);
    const limited = () => host.wire.calls.filter(({ outcome }) => outcome === '403' || outcome === '429');
    expect(limited().filter(({ name }) => name === 'GitHub pulls')).toHaveLength(1);
    await passes(2 * MINUTE_MS);
    await says(opened, 'merged by ben ');
    expect(await problems()).not.toContain('git_host');
  });

  test('a token that ends is a problem of the operator, until the file has a new one', async () => {
    const opened = await opens();
    await says(opened, 'open\n');
    host.renewToken();
    scene.world.hidden.add(host.token);
    host.merge(opened.pull, 'sue');
    await passes(5 * MINUTE_MS);
    await isProblem(
      `git_host_refused: The Git host of project acme refuses Docket's requests (status 401). Put a new token into ${file}.`,
    );
    writeFileSync(file, host.token);
    await passes(6 * MINUTE_MS);
    await says(opened, 'merged by sue ');
    await vi.waitUntil(async () => !(await problems()).includes('git_host'), { timeout: 20_000 });
  });

  test.each([
    [403, 'Give its token Pull requests: read, Actions: read and Commit statuses: read, for acme/old.'],
    [404, 'Check apiUrl, and that acme/old is there; give its token Pull requests: read'],
  ])('%i says what the token lacks', async (status, fix) => {
    const opened = await opens();
    await says(opened, 'open\n');
    const order = host.wire.order('GitHub pulls', { kind: 'answer', status }, Infinity);
    await passes(5 * MINUTE_MS);
    await isProblem(`(status ${status}). ${fix}`);
    expect(agents.read(opened.card)).toContain(' · open\n');
    order.takeBack();
    await passes(6 * MINUTE_MS);
    await vi.waitUntil(async () => !(await problems()).includes('git_host'), { timeout: 20_000 });
  });
});

test('a link to another host, or without a host in the settings, stays as it is', async () => {
  const { createGitHosts } = await import('../../src/git-hosts/git-host.ts');
  const token = { secret: 's', name: 'N' };
  const on = { renewed: () => {}, ended: () => {} };
  const parse = (host: 'github' | 'gitlab', apiUrl: string, link: string) =>
    createGitHosts(
      [{ name: 'acme', pullRequests: { host, apiUrl, token, remindAfterDays: 3 } }],
      async () => expect.fail('nothing is sent'),
      on,
    )('acme')?.parse(link);
  const github = (link: string) => parse('github', 'https://api.github.com', link);
  const docs = { repository: 'acme/docs', number: 131 };
  expect(github('https://github.com/acme/docs/pull/131')).toEqual(docs);
  expect(github('https://github.com/acme/docs/pull/131/files')).toEqual(docs);
  for (const other of [
    'https://evil.example/acme/docs/pull/131',
    'https://github.com.evil.example/acme/docs/pull/131',
    'https://ana@github.com/acme/docs/pull/131',
    'http://github.com/acme/docs/pull/131',
    'https://github.com/acme/../pull/131',
    'https://github.com/acme/docs/pull/131x',
    'https://github.com/acme/docs/issues/131',
    'acme/docs#131',
  ])
    expect(github(other), other).toBeUndefined();
  expect(parse('github', 'https://git.acme.com/api/v3/', 'https://git.acme.com/acme/docs/pull/131')).toEqual(
    docs,
  );
  const gitlab = 'https://gitlab.com/acme/web/docs/-/merge_requests/7';
  expect(parse('gitlab', 'https://gitlab.com/api/v4', gitlab)).toEqual({
    repository: 'acme/web/docs',
    number: 7,
  });
});
