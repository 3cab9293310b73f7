import { Webhook } from 'standardwebhooks';
import type { Answer, Send } from '../../../../../src/deployments/sender.ts';
import { defaultTiming } from '../../../../../src/runtime/timing.ts';
import type { Engine, Process } from '../../faults/engine.ts';

export const SECRET = `whsec_${Buffer.from('a secret of a receiver').toString('base64')}`;

/** What the other side does with a call: whether it takes it, its status (0: no answer), and for how long that lasts. */
const MODES = [
  { takes: true, status: 200 },
  { takes: true, status: 204 },
  { takes: false, status: 400 },
  { takes: false, status: 403 },
  { takes: false, status: 404 },
  { takes: false, status: 410 },
  { takes: false, status: 422 },
  { takes: false, status: 429 },
  // A proxy answers in its place.
  { takes: true, status: 403 },
  { takes: false, status: 500 },
  { takes: true, status: 502 },
  { takes: true, status: 0 },
  { takes: false, status: 308 },
] as const;
type Mode = (typeof MODES)[number];
const WORKS: Mode = MODES[0];

/** One attempt that a deployment took. */
export interface Taken {
  version: string;
  /** The latest of its webhook ids. */
  id?: string;
  atMs: number;
  /** When the last fact about it changed. */
  sinceMs: number;
  /** Docket got a 2xx or a callback, or a person said so. */
  isConfirmed: boolean;
  askedAt?: number;
  linkEndsMs?: number;
  /** By its last report. A deployment that cannot use a version has the one before. */
  isUsable: boolean;
}

export type Receiver = ReturnType<typeof createReceiver>;

/**
 * The real other side of one deployment: a receiver of webhooks, or GitHub. It keeps what it took. Of two exports, it
 * drops the one that was asked for earlier, if the message says so.
 */
export function createReceiver(name: string, engine: Engine, tell: (id: string, body: object) => unknown) {
  const { now, random, plan, problems } = engine;
  const one = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
  const taken: Taken[] = [];
  const messages = new Map<string, string>();
  const runs: { approvedMs: number; endsMs: number; conclusion: string }[] = [];
  /** The ends of the latest links that are confirmed, and versions of which Docket may stop sending links. */
  const links = new Map<string, number>();
  const refusedRenewals = new Set<string>();
  const hooks = {
    onDropped: (_version: string, _has: Taken) => {},
    onTaken: (_: Taken, _before: Taken | undefined) => {},
    onLink: (_version: string, _endsMs: number) => {},
  };
  let mode = WORKS;
  let modeUntilMs = 0;
  let isOnce = false;
  let lastTroubleMs = 0;

  const aTaken = (version: string): Taken => ({
    ...{ version, atMs: now(), sinceMs: now(), isConfirmed: false, isUsable: true },
  });
  /** Of those that it can use, it serves the one that was asked for last. */
  const serves = () =>
    taken.reduce<Taken | undefined>((best, one) => {
      const isNewer = best === undefined || (one.askedAt ?? 0) >= (best.askedAt ?? 0);
      return one.isUsable && isNewer ? one : best;
    }, undefined);

  /** Docket knows that it has the latest message of an attempt. */
  function confirm(one: Taken) {
    if (!one.isConfirmed) one.sinceMs = now();
    one.isConfirmed = true;
    const { version, linkEndsMs = 0 } = one;
    if (linkEndsMs <= (links.get(version) ?? 0)) return;
    links.set(version, linkEndsMs);
    refusedRenewals.delete(version);
    hooks.onLink(version, linkEndsMs);
  }

  function take(version: string, found: Partial<Taken>): Taken | undefined {
    const before = serves();
    if (before?.askedAt !== undefined && found.askedAt !== undefined && found.askedAt < before.askedAt) {
      hooks.onDropped(version, before);
      return undefined;
    }
    const known = taken.find(({ id }) => id && found.id && attemptOf(id) === attemptOf(found.id));
    const next = Object.assign(known ?? aTaken(version), found);
    if (known === undefined) taken.push(next);
    hooks.onTaken(next, before);
    return next;
  }

  function callBack(id: string) {
    const times = one(isRenewal(id) ? [0, 0, 0, 1, 1, 5] : [0, 1, 1, 1, 2, 5]);
    const state = one(['live', 'live', 'live', 'failed']);
    let atMs = now();
    for (let n = 0; n < times; n += 1) {
      atMs += Math.round(random() * one([2000, 60_000, 600_000]));
      // It repeats itself, flaps, or speaks about an older message.
      const about = one([id, id, id, [...messages.keys()][0] ?? id]);
      const body = {
        state: times === 5 ? one(['live', 'failed']) : state,
        ...one([{}, { message: 'No space' }]),
      };
      plan(atMs, async () => {
        if ((await tell(about, body)) !== 204) return;
        const of = taken.findLast((other) => other.id && attemptOf(other.id) === attemptOf(about));
        if (of?.id === about) confirm(of);
        // Docket does not believe reports about an attempt that is over.
        const isOver = taken.some(
          ({ version, askedAt = 0 }) => version === of?.version && askedAt > (of.askedAt ?? 0),
        );
        if (of && !isOver) Object.assign(of, { isUsable: body.state === 'live', sinceMs: now() });
      });
    }
  }

  /** Drops an id that it has seen. Returns what it then has of this message. */
  function receiveWebhook(headers: Record<string, string>, body: string): Taken | undefined {
    const { data, askedAt = data.askedAt } = JSON.parse(body);
    const id = headers['webhook-id'] ?? '';
    const known = messages.get(id);
    if ((known ?? body) !== body) problems.push(`(e) ${name}: ${id} has two bodies`);
    if (!mode.takes) return undefined;
    messages.set(id, body);
    if (known !== undefined) return taken.find((one) => one.id === id);
    const found = take(data.version, {
      id,
      askedAt: askedAt && Date.parse(askedAt),
      linkEndsMs: data.expiresAt && Date.parse(data.expiresAt),
    });
    if (found !== undefined) callBack(id);
    return found;
  }

  /** Returns the answer, and what it took if that is what it says. */
  function receive({ url, headers, body }: Parameters<Send>[0]): {
    answer: Answer;
    found?: Taken | undefined;
  } {
    if (now() > modeUntilMs) mode = WORKS;
    const isGithub = url.includes('github');
    if (body === undefined) {
      const id = Number(url.split('/').at(-1));
      const { approvedMs = 0, endsMs = Infinity, conclusion: result } = runs[id - 1] ?? {};
      const conclusion = endsMs <= now() ? result : null;
      const status = conclusion ? 'completed' : approvedMs > now() ? 'waiting' : 'in_progress';
      const run = { id, html_url: `https://github.test/${id}`, status, conclusion };
      return { answer: answer(200, run) };
    }
    let found: Taken | undefined;
    let version = '';
    if (isGithub) {
      const { inputs } = JSON.parse(body);
      version = inputs.version;
      if (mode.takes) {
        const approvedMs = now() + one([0, 0, random() * 40 * 86_400_000]);
        const conclusion = one(['success', 'success', 'failure']);
        runs.push({ approvedMs, endsMs: approvedMs + random() * 120_000, conclusion });
        found = take(version, {});
      }
    } else {
      version = JSON.parse(body).data.version;
      found = receiveWebhook(headers, body);
    }
    const { status } = mode;
    const isOk = status === 200 || status === 204;
    if (!isOk) lastTroubleMs = now();
    if (isRenewal(headers['webhook-id']) && status >= 300 && status < 500) refusedRenewals.add(version);
    if (isOnce) mode = WORKS;
    const run = { workflow_run_id: runs.length, html_url: `https://github.test/${runs.length}` };
    return { found: isOk ? found : undefined, answer: answer(status, isGithub && status === 200 ? run : {}) };
  }

  return {
    name,
    taken,
    hooks,
    links,
    refusedRenewals,
    serves,
    troubleUntilMs: () => Math.max(lastTroubleMs, mode === WORKS || isOnce ? 0 : modeUntilMs),
    /** From now on, it does something else, for one call or for a while. */
    changeMode(lastsMs: number) {
      mode = one(MODES);
      isOnce = lastsMs === 0;
      modeUntilMs = isOnce ? Infinity : now() + lastsMs;
      return mode;
    },
    heal() {
      mode = WORKS;
    },
    /** A person says that it took a version, when that was asked for: before the one that it has if that is newer. */
    vouch(version: string, askedMs: number, isOlder: boolean) {
      const found = { ...aTaken(version), atMs: askedMs, isConfirmed: true };
      if (isOlder) taken.unshift(found);
      else taken.push(found);
    },
    /** The calls of one process to it. */
    sender:
      ({ cross }: Process): Send =>
      (request) => {
        const startMs = now();
        const isRead = request.body === undefined;
        return cross({
          name: `deployment.${isRead ? 'getRun' : 'send'}`,
          call: () => receive(request),
          failed: () => new Unanswered(random() < 0.5 ? answer(429, {}, 5000) : noAnswer(false)),
          unclear: () => new Unanswered(noAnswer(true)),
          tooLate: () => new Unanswered(noAnswer(false)),
          limitMs: defaultTiming.deploymentCallMs,
          isTooLate: () =>
            now() - startMs > defaultTiming.deploymentCallMs || (request.isTooLate?.() ?? false),
        }).then(
          ({ answer, found }) => {
            if (found) confirm(found);
            return answer;
          },
          (error: unknown) => {
            if (error instanceof Unanswered) return error.answer;
            throw error;
          },
        );
      },
  };
}

/** The messages of one attempt have ids that differ at their end. */
const attemptOf = (id: string) => id.slice(0, id.lastIndexOf('_'));

const isRenewal = (id = '') => !id.endsWith('_0');

class Unanswered extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(answer.reason);
    this.answer = answer;
  }
}

const noAnswer = (isSent: boolean): Answer => ({
  ...{ isSent, headers: {}, text: '', outcome: 'failed', reason: 'ECONNRESET', retryAfterMs: undefined },
});

function answer(status: number, body: object, retryAfterMs?: number): Answer {
  if (status === 0) return noAnswer(true);
  const outcome = status >= 500 ? 'failed' : status < 300 ? 'ok' : 'refused';
  const headers = status === 308 ? { location: 'https://elsewhere.test/docket' } : {};
  const text = JSON.stringify(status < 300 ? body : { message: `status ${status}` });
  return { isSent: true, status, headers, text, outcome, reason: `status ${status}`, retryAfterMs };
}

/** Returns the headers of a signed message. */
export const signed = (id: string, body: string, atMs: number) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(atMs / 1000)),
  'webhook-signature': new Webhook(SECRET).sign(id, new Date(atMs), body),
});
