import type { Call, Fault, Phase } from '../../../demo/wire.ts';
import type { World } from './world.ts';

const START = 'POST /v1/static-export/jobs';

type Kind = [name: string, make: () => Fault];

/** How many calls of either side had a fault, of all that were made. */
export interface Injected {
  calls: number;
  faults: Map<string, number>;
  stop(): void;
}

/**
 * Gives a share of all calls to Slack and to the platform a fault, each kind as often as the others. `bareLimits`: also
 * "too many" without a time, after which what shares the limit waits for a minute.
 */
export function injectFaults(
  { slack, platform }: World,
  { share, bareLimits }: { share: number; bareLimits: boolean },
  random: () => number,
): Injected {
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
  const when = (): Phase => pick(['before', 'after']);
  const answer = (status: number, more: Partial<Extract<Fault, { kind: 'answer' }>> = {}): Fault => ({
    kind: 'answer',
    status,
    ...more,
  });
  const limited = () =>
    answer(429, {
      body: { ok: false, error: 'ratelimited' },
      ...(!(bareLimits && random() < 0.1) && { headers: { 'retry-after': '1' } }),
    });
  const broken = () => answer(pick([500, 502, 503] as const), { body: { error: 'Internal' }, when: when() });
  /** No JSON, JSON that breaks off, nothing at all, and a page. */
  const malformed = (): Fault => {
    const text = pick([undefined, '{"ok":true,"jobId":"se_', '', '<html>Sign in to this network</html>']);
    return text === undefined ? { kind: 'garbage', when: when() } : answer(200, { text, when: when() });
  };
  const kinds: [Kind, ...Kind[]] = [
    ['reset before', () => ({ kind: 'reset', when: 'before' })],
    ['reset after', () => ({ kind: 'reset', when: 'after' })],
    ['timeout before', () => ({ kind: 'hang', when: 'before' })],
    ['timeout after', () => ({ kind: 'hang', when: 'after' })],
    ['slow', () => ({ kind: 'delay', ms: 1000 })],
    ['5xx', broken],
    ['429', limited],
    ['malformed', malformed],
  ];
  /** Bots that have got such an answer to a start. */
  const spoiled = new Set<string>();
  const injected: Injected = { calls: 0, faults: new Map(), stop: () => stops.map((stop) => stop()) };
  const stops = (
    [
      ['Slack', slack.wire],
      ['platform', platform.wire],
    ] as const
  ).map(([side, wire]) =>
    wire.onCall((call: Call, phase) => {
      if (phase !== 'before') return;
      injected.calls += 1;
      if (random() >= share) return;
      const picked = pick(kinds);
      // Two of them in a row to starts are an error in the log, and rightly so.
      const isSecond = picked[0] === 'malformed' && call.name === START && spoiled.has(call.port);
      const [kind, make] = isSecond ? kinds[0] : picked;
      if (kind === 'malformed' && call.name === START) spoiled.add(call.port);
      injected.faults.set(`${side}: ${kind}`, (injected.faults.get(`${side}: ${kind}`) ?? 0) + 1);
      wire.order((other) => other === call, make());
    }),
  );
  return injected;
}
