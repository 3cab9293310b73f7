import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { messageWith, plain, sees, until } from '../support/flows/reading.ts';
import { type BotOptions, createWorld, temporaryFolder, type World } from '../support/flows/world.ts';

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

  test('says of each thing how it is, and of what runs how far it is', async () => {
    await startBot();
    await asks('/docs-export docs.acme.com');
    await until(world, '#docs', ['42%', 'se_…']);
    const lines = await status('ben');
    expect(lines.slice(0, 2)).toEqual([
      'Docs platform — answering, last seen TIME',
      'Slack — answering, last seen TIME',
    ]);
    expect(lines[2]).toMatch(/^Redis — answers in \d+ ms$/);
    expect(lines[3]).toMatch(/^Queue docs-export — \d waiting, \d active, \d for later, 0 failed$/);
    expect(lines[4]).toBe('Queue docs-agent — 0 waiting, 0 active, 0 for later, 0 failed');
    expect(lines[5]).toBe('Queue docs-analytics — 0 waiting, 0 active, 0 for later, 0 failed');
    expect(lines[6]).toMatch(/^Queue slack-outbox — \d+ waiting, \d+ active, \d+ for later, 0 failed$/);
    expect(lines.slice(7, 11)).toEqual([
      'Exports you can see here — 1 running',
      '⏳ Exporting · docs.acme.com · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · requested by ana TIME · Open thread',
      'Agent threads — none is followed',
      'Schedules — Nothing is scheduled.',
    ]);
    expect(lines[11]).toBe('Limit — looks at exports: up to 5 a second for each API key');
    expect(lines[12]).toMatch(
      /^Limit — edits in Slack: up to \d+ a minute, (?:\d+ free|all in use) just now, /,
    );
    expect(lines[13]).toBe('Limit — instructions to the docs agent: 0 of 100 used in the past hour');
    expect(lines[14]).toBe('Limit — analytics requests: 0 of 100 used in the past hour');
    expect(lines[15]).toMatch(/^This process — Docket \d+\.\d+\.\d+ · role all · up since TIME$/);
    expect(lines).toHaveLength(16);
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

  test('a process that never asks the platform says what the workers saw', async () => {
    const worker = await startBot();
    await asks('/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    await startBot({ DOCKET_ROLE: 'web' });
    const docs = async () => (await status())[0];
    await expect.poll(docs).toBe('Docs platform — answering, last seen TIME');
    // The poll that it is cut off in says nothing of the platform.
    const cutOff = Promise.withResolvers<void>();
    world.platform.wire.onCall(() => worker.end().then(cutOff.resolve));
    await cutOff.promise;
    expect(await docs()).toBe('Docs platform — answering, last seen TIME');
    expect((await status()).at(-1)).toContain('role web');
  });

  test('a platform that does not answer is told as such, and again when it is back', async () => {
    await startBot();
    const docs = async () => (await status())[0];
    expect(await docs()).toBe('Docs platform — not asked lately');
    world.platform.wire.order(() => true, { kind: 'reset', when: 'before' }, 1000);
    await asks('/docs-export docs.acme.com');
    await expect.poll(docs).toBe('Docs platform — not answering, last tried TIME');
    world.platform.wire.clear();
    await world.slack.person('ana').clicks(await questionOf(), 'Start again');
    await expect.poll(docs).toBe('Docs platform — answering, last seen TIME');
  });

  async function questionOf() {
    await until(world, '#docs', ['[Start again]']);
    return messageWith(world, '[Start again]');
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
      const lines = told(answer);
      expect(lines[0]).toBe('Docs platform — answering, last seen TIME');
      expect(lines[1]).toContain('Slack — answering');
      expect(lines[2]).toBe('Redis — not answering; I start nothing I might lose');
      expect(lines[3]).toBe("Exports you can see here — can't be read right now");
      expect(lines.at(-1)).toContain('role all');
      expect(lines).toContain("Agent threads — can't be counted right now");
      expect(lines).toContain('Limit — instructions to the docs agent: up to 100 an hour');
      expect(lines).toContain("Schedules — can't be read right now");
      expect(lines).toHaveLength(11);

      const audit = await asks('/docs-status audit');
      expect(audit.tookMs).toBeLessThan(2500);
      expect(told(audit)).toEqual([
        "My store doesn't answer, so I can't read the audit log. Try again in a minute.",
      ]);
      if (how === 'dead') await world.redis.start();
      else world.redis.thaw();
      await expect.poll(async () => (await status()).join()).toContain('Redis — answers in');
    });
  });

  test('a guest is refused', async () => {
    await startBot();
    expect(await status('gus')).toEqual(["You can't see this. Ask a full member of this workspace."]);
    expect(sees(world, '#docs', 'ben')).toEqual([]);
  });

  describe('the audit log', () => {
    test('tells an admin who did what, where, and what came of it, newest first, and who may not apart', async () => {
      await startBot(adminIsAna());
      await asks('/docs-export docs.acme.com', 'ben');
      await until(world, '#docs', ['42%', 'se_…']);
      world.platform.finish('docs.acme.com');
      await until(world, '#docs', ['is exported', '✅ Exported · docs.acme.com']);
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

    test('without any admin, whoever runs Docket is named', async () => {
      await startBot();
      expect(told(await asks('/docs-status audit'))).toEqual([
        "You can't see this. Ask whoever runs Docket.",
      ]);
    });

    test('what is typed otherwise is answered with the fix', async () => {
      await startBot(adminIsAna());
      const range = 'How many lines? Type a number from 1 to 50, such as /docs-status audit 30.';
      for (const count of ['51', '0', '1.5', 'x', '-1'])
        expect(told(await asks(`/docs-status audit ${count}`))).toEqual([range]);
      for (const words of ['log', 'audit 3 4'])
        expect(told(await asks(`/docs-status ${words}`))).toEqual([
          `I don't know ${words}. Type /docs-status or /docs-status audit.`,
        ]);
    });
  });
});
