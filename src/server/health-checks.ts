import { withTimeout } from '../runtime/with-timeout.ts';
import type { Problem } from './call-problems.ts';
import type { PartState } from './health.ts';
import { type HttpServer, sendJson } from './http-server.ts';

/** The data behind `/healthz` and `/readyz`; each role adds its checks. */
export type HealthChecks = ReturnType<typeof createHealthChecks>;

const worstFirst: PartState[] = ['down', 'unknown', 'up'];

/**
 * Serves `GET /healthz` and `GET /readyz`. The latter is 200 even if Redis, Slack or the platform is down, since Docket
 * can still answer people with that.
 */
export function createHealthChecks(server: HttpServer, now: () => number) {
  const parts = new Map<string, Parameters<HealthChecks['addPart']>[1][]>();
  const problems: Parameters<HealthChecks['addProblems']>[0][] = [];
  const stuck: (() => boolean)[] = [];
  let ready = false;

  async function stateOf(checks: Parameters<HealthChecks['addPart']>[1][]): Promise<PartState> {
    const states = await Promise.all(checks.map((check) => check()));
    return worstFirst.find((state) => states.includes(state)) ?? 'unknown';
  }

  const findProblems = (): Problem[] => problems.flatMap((find) => find() ?? []);
  const addProblems = (find: () => Problem | readonly Problem[] | undefined) => void problems.push(find);

  server.route('GET /healthz', (_, response) => {
    const alive = !stuck.some((find) => find());
    sendJson(response, alive ? 200 : 503, { alive });
  });
  server.route('GET /readyz', async (_, response) => {
    const states = [...parts].map(async ([name, checks]) => [name, await stateOf(checks)] as const);
    sendJson(response, ready ? 200 : 503, {
      ready,
      atMs: now(),
      parts: Object.fromEntries(await Promise.all(states)),
      problems: findProblems(),
    });
  });

  return {
    /** Adds a check of a part; of several, the worst state counts. `state` is quick and never rejects. */
    addPart: (name: string, state: () => Promise<PartState> | PartState) =>
      void parts.set(name, [...(parts.get(name) ?? []), state]),
    /** Adds a check for operators. `find` returns the present problems, with their fixes. */
    addProblems,
    /** Adds one with a fixed name. */
    addProblem: (name: string, level: Problem['level'], find: () => string | undefined) =>
      addProblems(() => {
        const text = find();
        return text === undefined ? [] : [{ name, level, text }];
      }),
    problems: findProblems,
    /** Adds a check for a state that only a restart fixes: while one returns true, `/healthz` answers 503. */
    addStuck: (find: () => boolean) => void stuck.push(find),
    /** Makes `/readyz` answer 200 from now on. */
    markReady() {
      ready = true;
    },
  };
}

/** How long `/readyz` waits for Redis. */
const PING_MS = 300;

/**
 * Returns whether Redis answers over this connection; never rejects. Only a ready connection is pinged: else the ping
 * would wait in its queue.
 */
export async function redisState(status: string, ping: () => Promise<unknown>): Promise<PartState> {
  if (status !== 'ready') return 'down';
  return await withTimeout(PING_MS, ping()).then(
    () => 'up' as const,
    () => 'down' as const,
  );
}
