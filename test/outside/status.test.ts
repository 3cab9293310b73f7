import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { messageWith, plain, sees, until } from '../support/flows/reading.ts';
import { statusDetails } from '../support/flows/status.ts';
import { strikeAt } from '../support/flows/strike-at.ts';
import { type BotOptions, createWorld, temporaryFolder, type World } from '../support/flows/world.ts';
import { aSchedule } from '../support/jobs/digest/builders.ts';
import { anExportSchedule } from '../support/jobs/export-schedule/builders.ts';

/** Settings by which ana is an admin; they go with the test. */
function adminIsAna(): Record<string, string> {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = join(folder.path, 'docket.yml');
  writeFileSync(file, 'allow:\n  admin: [U0ANA]\n');
  return { DOCKET_CONFIG: file };
}

describe('/docs-status', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.close());

  type PersonName = Parameters<World['slack']['person']>[0];
  const asks = (text: string, who: PersonName = 'ana', where = '#docs') =>
    world.slack.person(who).types(where, text);
  const told = (answer: Awaited<ReturnType<typeof asks>>) =>
    (answer.ephemeral ? plain(world.slack.read(answer.ephemeral)) : '').split('\n');
  const status = async (who?: PersonName, where?: string) => told(await asks('/docs-status', who, where));

  async function startBot(env: Record<string, string> = {}, timing: BotOptions['timing'] = {}) {
    return world.startBot({ env, timing });
  }

  const details = (who?: PersonName) => statusDetails(world, who);

  test('counts hundreds of schedules without reading one', async () => {
    // Nobody works on them.
    await startBot({ DOCKET_ROLE: 'web' });
    const runs = createRunStore(world.redis.client);
    for (let n = 0; n < 300; n += 1)
      await runs.accept(
        anExportSchedule({ id: `s${n}`, claim: `s${n}`, state: n < 3 ? 'paused' : 'active' }),
      );
    const reads = async () =>
      (await world.redis.client.info('commandstats')).match(/cmdstat_hget:calls=(\d+)/);
    const before = Number((await reads())?.[1]);
    await status();
    expect(await details()).toContainEqual(
      expect.stringMatching(/^Scheduled exports — 300 scheduled exports, next TIME, 3 paused$/),
    );
    expect(Number((await reads())?.[1]) - before).toBeLessThan(100);
  });

  const NO_ADMINS = 'No admins are set, so nobody gets a message when something goes wrong.';
  const WELL = '✅ All good';

  test('says first that all is good, then what runs and how far it is; [Details] shows the rest in its place', async () => {
    await world.startBot({ config: 'limits: {}\n' });
    await asks('/docs-export docs.acme.com');
    await until(world, '#docs', ['42%', 'se_…']);
    const first = [
      WELL,
      'Exports you can see here — 1 running',
      '⏳ Exporting · docs.acme.com · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · requested by ana TIME · Open thread',
    ];
    expect(await status('ben')).toEqual([...first, '[Details]']);
    const lines = await details('ben');
    expect(lines.slice(0, 5)).toEqual([
      ...first,
      'Agent threads — none followed',
      'Schedules — Nothing is scheduled.',
    ]);
    expect(lines[5]).toBe('Limit — status checks of exports: up to 5 a second for each API key');
    expect(lines[6]).toMatch(
      /^Limit — edits in Slack: up to \d+ a minute, (?:\d+ free|all in use) right now, /,
    );
    expect(lines.slice(7, 11)).toEqual([
      'Limit — requests to the docs agent: 0 of 100 used in the past hour',
      'Limit — analytics requests: 0 of 100 used in the past hour',
      'Docs platform — answering, last seen TIME',
      'Slack — answering, last seen TIME',
    ]);
    expect(lines[11]).toMatch(/^My database \(Redis\) — answers in \d+ ms$/);
    expect(lines[12]).toMatch(/^Queue docs-export — \d waiting, \d active, \d for later, 0 failed$/);
    expect(lines.slice(13, 15)).toEqual([
      'Queue docs-agent — 0 waiting, 0 active, 0 for later, 0 failed',
      'Queue docs-analytics — 0 waiting, 0 active, 0 for later, 0 failed',
    ]);
    expect(lines[15]).toMatch(/^Queue slack-outbox — \d+ waiting, \d+ active, \d+ for later, 0 failed$/);
    expect(lines[16]).toMatch(/^This process — Docket \d+\.\d+\.\d+ · role all · up since TIME$/);
    expect(lines.slice(17)).toEqual([NO_ADMINS]);
    // Nobody else sees any of it.
    expect(world.slack.ephemerals.every(({ to }) => to === world.slack.person('ben').id)).toBe(true);
    expect((await status('ana'))[2]).toContain('requested by you TIME');
  });

  test('[Details] is for admins, and offers the audit log', async () => {
    await startBot(adminIsAna());
    expect((await status('ben')).at(-1)).not.toBe('[Details]');
    expect((await details()).at(-1)).toBe('[Audit log]');
    const shown = world.slack.ephemerals.findLast((one) =>
      plain(world.slack.read(one)).includes('[Audit log]'),
    );
    if (shown === undefined) throw new Error('no details');
    await world.slack.person('ana').clicks(shown, 'Audit log');
    await world.slack.until(() =>
      world.slack.ephemerals.some((one) => world.slack.read(one).includes('The audit log is empty.')),
    );
  });

  test('counts what runs beyond five, and shows nothing of what the person cannot open from here', async () => {
    await startBot();
    for (const n of [1, 2, 3, 4, 5, 6, 7]) await asks(`/docs-export docs.acme.com --version v${n}`);
    await asks('/docs-export docs.acme.com --version hidden', 'ana', '#private');
    const lines = await status('ben');
    expect(lines).toContain('Exports you can see here — 7 running');
    expect(lines).toContain('and 2 more');
    expect(lines.filter((line) => line.includes('requested by'))).toHaveLength(5);
    expect(lines.join()).not.toContain('hidden');
    expect(await status('ben', '#private')).toContain('Exports you can see here — 8 running');
  });

  test('work of other kinds hides no export, however much there is', async () => {
    await startBot();
    const runs = createRunStore(world.redis.client);
    const schedules = Array.from({ length: 201 }, (_, n) => aSchedule({ id: `s${n}`, nextAtMs: 9e12 }));
    await Promise.all(schedules.map((run) => runs.accept(run)));
    expect(await status()).toContain('Exports you can see here — none running');
    expect(told(await asks('/docs-export status')).join()).not.toContain('elsewhere');
    await asks('/docs-export docs.acme.com');
    await until(world, '#docs', ['42%', 'se_…']);
    expect(await status('ben')).toContain('Exports you can see here — 1 running');
  });

  test('a process that never asks the platform says what the workers saw', async () => {
    const worker = await startBot();
    await asks('/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    await startBot({ DOCKET_ROLE: 'web' });
    await expect.poll(async () => (await status())[0]).toBe(WELL);
    // The poll that it is cut off in says nothing of the platform.
    await strikeAt([world.platform], { call: () => true }, worker.end).done;
    expect((await status())[0]).toBe(WELL);
    expect((await details()).join()).toContain('role web');
  });

  test('a process that is only asked says what a worker alone knows, until it knows better', async () => {
    const expires = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const config = `projects:\n  acme: { apiKey: { env: DOCS_API_KEY, expires: ${expires} } }\n`;
    const start = (role: string) =>
      world.startBot({ config, timing: { problemCheckMs: 200 }, env: { DOCKET_ROLE: role } });
    await start('web');
    expect((await details()).join()).not.toContain('expires');
    const worker = await start('worker');
    const line = expect.stringContaining(`DOCS_API_KEY expires on ${expires}. Create a new one`);
    await expect.poll(() => details()).toContainEqual(line);
    await worker.end();
    await expect.poll(() => details()).not.toContainEqual(line);
  });

  test('a platform that does not answer is told as such, and again when it is back', async () => {
    await startBot();
    expect((await status())[0]).toBe('✅ All good, as far as I know');
    expect((await status()).join()).toContain('Not known right now: whether the docs platform answers');
    world.platform.wire.order(() => true, { kind: 'reset', when: 'before' }, 1000);
    await asks('/docs-export docs.acme.com');
    await expect
      .poll(async () => (await status()).slice(0, 2))
      .toEqual([
        '⚠️ Needs attention',
        "The docs platform isn't answering, last tried TIME: nothing new starts, and nobody sees the progress of running jobs.",
      ]);
    world.platform.wire.clear();
    await world.slack.person('ana').clicks(await questionOf(), 'Start anyway');
    await expect.poll(async () => (await status())[0]).toBe(WELL);
  });

  test('work that nobody does is told once it has been due for a minute', async () => {
    await startBot({ DOCKET_ROLE: 'web' });
    await asks('/docs-export docs.acme.com');
    expect((await status()).join()).not.toContain('is stuck');
    for (const member of await world.redis.client.zrange(keys.activeRuns(), '0', '-1'))
      await world.redis.client.zadd(keys.activeRuns(), 0, member);
    expect((await status()).slice(0, 2)).toEqual([
      '⚠️ Needs attention',
      'Work is stuck: 1 task is more than a minute overdue. New requests are saved, but run late.',
    ]);
  });

  async function questionOf() {
    await until(world, '#docs', ['[Start anyway]']);
    return messageWith(world, '[Start anyway]');
  }

  describe.each(['dead', 'frozen'] as const)('with Redis %s', (how) => {
    test('answers within 3 s what it still knows', async () => {
      // Whatever the limit of a single command of Redis': the answer has one of its own.
      await startBot(adminIsAna(), { intakeMs: 2900 });
      await asks('/docs-export docs.acme.com');
      await until(world, '#docs', ['42%']);
      if (how === 'dead') await world.redis.kill();
      else world.redis.freeze();
      const answer = await asks('/docs-status');
      expect(answer).toMatchObject({ ok: true });
      expect(answer.tookMs).toBeLessThan(2500);
      expect(told(answer)).toEqual([
        '⚠️ Needs attention',
        "My database isn't answering: nothing new starts, and running work is on hold.",
        "Exports you can see here — can't be read right now",
        '[Details]',
      ]);
      const lines = await details();
      expect(lines).toContain('Docs platform — answering, last seen TIME');
      expect(lines).toContain('My database (Redis) — not answering');
      expect(lines).toContain("Agent threads — can't be counted right now");
      expect(lines).toContain('Limit — requests to the docs agent: up to 100 an hour');
      expect(lines).toContain("Schedules — can't be read right now");

      const audit = await asks('/docs-status audit');
      expect(audit.tookMs).toBeLessThan(2500);
      expect(told(audit)).toEqual([
        "My database isn't answering, so I can't read the audit log. Try again in a minute.",
      ]);
      if (how === 'dead') await world.redis.start();
      else world.redis.thaw();
      await expect.poll(async () => (await status()).join()).toContain(WELL);
    });
  });

  test('a guest is refused', async () => {
    await startBot();
    expect(await status('gus')).toEqual(["You can't see this. Ask a full member of this workspace."]);
    expect(sees(world, '#docs', 'ben')).toEqual([]);
  });

  test('where the settings say whom to ask, refusals say so', async () => {
    await world.startBot({ config: 'contact: "@docs-admins <!here>"\n' });
    expect(await status('gus')).toEqual(["You can't see this. Ask @docs-admins <!here>."]);
    expect(told(await asks('/docs-export docs.acme.com', 'gus'))).toEqual([
      "You can't start exports here, so nothing was started. Ask @docs-admins <!here>.",
    ]);
    await world.slack.person('gus').says('#docs', '@Docket mend the links');
    await world.slack.until(() =>
      world.slack.ephemerals.some((one) =>
        world.slack.read(one).includes('so nothing was sent. Ask @docs-admins <!here>.'),
      ),
    );
    expect(world.slack.messages.flatMap(({ notifies, from }) => (from === 'docket' ? notifies : []))).toEqual(
      [],
    );
  });

  describe('the audit log', () => {
    test('tells an admin who did what, where, and what came of it, newest first, and who may not apart', async () => {
      await startBot(adminIsAna());
      await asks('/docs-export docs.acme.com', 'ben');
      await until(world, '#docs', ['42%', 'se_…']);
      world.platform.finish('docs.acme.com');
      await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
      await asks('/docs-export docs.acme.com', 'gus');

      const lines = told(await asks('/docs-status audit'));
      expect(lines[0]).toMatch(
        /^TIME · U\w+ "ben" · #docs · export · "docs\.acme\.com" · job "se_\w+" · ended: done$/,
      );
      expect(lines.at(-2)).toBe('Refused');
      expect(lines.at(-1)).toMatch(/^TIME · U\w+ "gus" · #docs · \/docs-export · refused: not permitted$/);
      expect(told(await asks('/docs-status audit 1'))).toEqual([lines[0], ...lines.slice(-2)]);
      // In the log and nowhere else: neither the channel nor anybody in it hears of it.
      expect(world.slack.messages.flatMap(({ notifies }) => notifies)).toEqual([
        world.slack.person('ben').id,
      ]);
    });

    test('is not for others: they are told whom to ask, and that leaves a line itself', async () => {
      await startBot(adminIsAna());
      expect(told(await asks('/docs-status audit', 'ben'))).toEqual(["You can't see this. Ask @ana."]);
      expect(told(await asks('/docs-status audit'))).toEqual([
        'Refused',
        `TIME · ${world.slack.person('ben').id} "ben" · #docs · /docs-status · "audit" · refused: not permitted`,
      ]);
    });
  });
});
