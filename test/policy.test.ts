import { describe, expect, test } from 'vitest';
import { createPolicy, type PolicyParts } from '../src/policy.ts';

type Person = Awaited<ReturnType<PolicyParts['person']>>;

const CACHE_MS = 300_000;

/** A policy over a Slack in which everybody is a full member, unless `answer` says otherwise. */
function aPolicy(answer?: (id: string) => Promise<Person>) {
  let nowMs = 1_000_000;
  const asked: string[] = [];
  const policy = createPolicy({
    async person(id) {
      asked.push(id);
      return answer ? answer(id) : { id, name: `name of ${id}`, fullMember: true };
    },
    timeoutMs: 1,
    cacheMs: CACHE_MS,
    now: () => nowMs,
  });
  return {
    check: (id: string) => policy.check(id, 'export'),
    asked,
    passes: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('who may', () => {
  test('a full member', async () => {
    expect(await aPolicy().check('U0ANA')).toEqual({
      kind: 'allowed',
      person: { id: 'U0ANA', name: 'name of U0ANA', fullMember: true },
    });
  });

  test('not a guest and not somebody from another organization', async () => {
    const guest = { id: 'U0GUS', name: 'gus', fullMember: false };
    expect(await aPolicy(async () => guest).check('U0GUS')).toEqual({ kind: 'refused', person: guest });
  });

  test('nobody whom Slack does not know in time', async () => {
    expect(await aPolicy(() => new Promise(() => {})).check('U0ANA')).toEqual({ kind: 'unknown' });
  });

  test('nobody when Slack has an error', async () => {
    expect(await aPolicy(() => Promise.reject(new Error('away'))).check('U0ANA')).toEqual({
      kind: 'unknown',
    });
  });
});

describe('what is remembered', () => {
  test('Slack is asked once in a while and person', async () => {
    const { check, asked, passes } = aPolicy();
    await check('U0ANA');
    passes(CACHE_MS - 1);
    await check('U0ANA');
    await check('U0BEN');
    expect(asked).toEqual(['U0ANA', 'U0BEN']);
    passes(1);
    await check('U0ANA');
    expect(asked).toEqual(['U0ANA', 'U0BEN', 'U0ANA']);
  });

  test('a person who became a guest is one when the time is over', async () => {
    let fullMember = true;
    const { check, passes } = aPolicy(async (id) => ({ id, name: id, fullMember }));
    expect((await check('U0ANA')).kind).toBe('allowed');
    fullMember = false;
    expect((await check('U0ANA')).kind).toBe('allowed');
    passes(CACHE_MS);
    expect((await check('U0ANA')).kind).toBe('refused');
  });

  test('a refusal too, but not that Slack was away', async () => {
    let away = true;
    const { check, asked } = aPolicy(async (id) => {
      if (away) throw new Error('away');
      return { id, name: id, fullMember: false };
    });
    expect((await check('U0GUS')).kind).toBe('unknown');
    away = false;
    expect((await check('U0GUS')).kind).toBe('refused');
    expect((await check('U0GUS')).kind).toBe('refused');
    expect(asked).toHaveLength(2);
  });

  test('not more people than fit: then it begins anew', async () => {
    const { check, asked } = aPolicy();
    for (let index = 0; index < 5000; index++) await check(`U${index}`);
    await check('U0');
    expect(asked).toHaveLength(5000);
    await check('U5000');
    await check('U0');
    expect(asked).toHaveLength(5002);
  });
});
