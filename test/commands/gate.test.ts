import { describe, expect, test, vi } from 'vitest';
import { createGate, type GateParts } from '../../src/commands/gate.ts';
import type { CommandTools } from '../../src/commands/intake.ts';
import { createPolicy, type PermissionResult } from '../../src/policy.ts';
import { createLog } from '../../src/runtime/log.ts';
import { message } from '../../src/slack/blocks.ts';
import type { Person } from '../../src/slack/reply.ts';
import { createAuditStore } from '../../src/store/audit.ts';
import { NOW_MS } from '../support/builders.ts';
import { aCaller } from '../support/commands/builders.ts';
import { unread } from '../support/metrics.ts';
import { redisForTests } from '../support/redis.ts';
import { keptLog } from '../support/runtime/log.ts';
import { anAuditEntry } from '../support/store/builders.ts';

const ana: Person = { id: 'U0ANA', name: 'Ana', fullMember: true, active: true };
const answer = message([['Done']]);

const redis = redisForTests();

/** A policy that gives one verdict. */
const policy = (verdict: PermissionResult): GateParts['policy'] => ({
  check: async () => verdict,
  permissionsOf: async () => [],
});
const allowed = policy({ kind: 'allowed', person: ana });

function gateWith(changes: Partial<GateParts> = {}) {
  const { log, text } = keptLog();
  const gate = createGate({
    tools: { docsDomain: 'docs.acme.com' } as GateParts['tools'],
    policy: allowed,
    identity: () => ({ teamId: 'T0ACME', botUserId: 'U0BOT', botId: 'B0', url: 'https://acme.example/' }),
    audit: createAuditStore(redis.client),
    metrics: unread,
    newRef: () => '7f3c1d',
    now: () => NOW_MS,
    log,
    ...changes,
  });
  let ran = 0;
  const pass = (caller = aCaller(), run: (tools: CommandTools) => Promise<unknown> = async () => answer) =>
    gate.pass('/docs-export', 'export', caller, async (_caller, tools) => {
      ran += 1;
      return run(tools);
    });
  return { gate, pass, ran: () => ran, log: text };
}

const audited = async (teamId = 'T0ACME') => {
  const { done, refused } = await createAuditStore(redis.client).latest(teamId, 10);
  return [...done, ...refused];
};
const textOf = async (passed: Promise<{ kind: string; message?: { text: string } }>) =>
  (await passed).message?.text;

describe('who may not', () => {
  test.each<[string, Partial<GateParts>, string, string]>([
    [
      'is told whom to ask',
      { policy: policy({ kind: 'refused', person: ana, ask: '@docs-admins or <!here>' }) },
      "You can't start exports here, so nothing was started. Ask @docs-admins or &lt;!here&gt;.",
      'refused: not permitted',
    ],
    [
      'because Slack did not tell in time, may try again',
      { policy: policy({ kind: 'unknown' }) },
      'Slack took too long to say who you are, so nothing was started. Try again in a moment.',
      'refused: not known in time',
    ],
    [
      'because Slack shows nobody to the app, is told who can mend it',
      { policy: policy({ kind: 'unknown', missingScope: true }) },
      "Slack doesn't let me see who you are; the people who run Docket have to reinstall the app.",
      'refused: not known to Slack',
    ],
  ])('%s, does nothing, and leaves an audit line', async (_, parts, text, result) => {
    const { pass, ran } = gateWith(parts);
    expect(await textOf(pass() as never)).toBe(text);
    expect(ran()).toBe(0);
    expect(await audited()).toEqual([
      anAuditEntry({ user: { id: 'U0ANA', name: 'ana' }, subject: '', result }),
    ]);
  });
});

describe('somebody of another workspace', () => {
  const cleo = aCaller({ teamId: 'T0OTHER', user: { id: 'U0CLEO', name: 'cleo', fullMember: false } });
  const person: Person = { id: 'U0CLEO', name: 'Cleo', fullMember: false, active: true };
  const lists = (...names: string[]) =>
    createPolicy({
      person: async () => person,
      groupMembers: async () => [],
      groups: async () => [],
      lacksScope: () => false,
      allow: { export: ['everyone', ...names], agent: [], digest: [], admin: [] },
      timeoutMs: 1000,
      cacheMs: 1000,
      now: () => NOW_MS,
      log: createLog('silent', []),
    });

  test('is refused although everyone may, with an audit line in the log of this workspace', async () => {
    const { pass, ran } = gateWith({ policy: lists() });
    expect(await textOf(pass(cleo) as never)).toBe(
      'This Docket belongs to another workspace. Nothing was started.',
    );
    expect(ran()).toBe(0);
    expect(await audited('T0OTHER')).toEqual([]);
    expect(await audited()).toMatchObject([{ user: { id: 'U0CLEO' }, result: 'refused: another workspace' }]);
  });

  test('is let in when the list names them, and what they ask for belongs to this workspace', async () => {
    const { gate } = gateWith({ policy: lists('U0CLEO') });
    const passed = await gate.pass('/docs-export', 'export', cleo, async ({ teamId, user }) => ({
      teamId,
      user,
    }));
    expect(passed).toEqual({
      kind: 'answered',
      value: { teamId: 'T0ACME', user: { id: 'U0CLEO', name: 'Cleo', fullMember: false } },
    });
  });
});

test('a further permission that is missing ends it, and leaves an audit line about what was wanted', async () => {
  const check = vi.fn(
    async (_user: string, permission: string): Promise<PermissionResult> =>
      permission === 'admin'
        ? { kind: 'refused', person: ana, ask: 'ana' }
        : { kind: 'allowed', person: ana },
  );
  const { pass } = gateWith({ policy: { ...allowed, check } });
  const text = await textOf(
    pass(aCaller(), ({ requirePermission }) => requirePermission('admin', 'audit')) as never,
  );
  expect(text).toBe("You can't see this. Ask ana.");
  expect(await audited()).toMatchObject([{ subject: 'audit', result: 'refused: not permitted' }]);
});
