import { beforeAll } from 'vitest';
import { keys } from '../../../src/store/keys.ts';
import { createRunStore, type RunStore } from '../../../src/store/runs.ts';
import { redisForTests } from '../redis.ts';
import { type Note, note } from './builders.ts';

export const CLAIM_MS = 60_000;
export const RESPONSE_URL = 'https://hooks.example/commands/s3cret';

/** A Redis for the tests of a file with its store of runs, and how notes are accepted and read there. */
export function runsForTests() {
  const redis = redisForTests();
  const runs = {} as RunStore;
  beforeAll(() => {
    Object.assign(runs, createRunStore(redis.client));
  });
  /** On the clock of Redis, a minute from now. */
  const inTime = async () => (await runs.timeMs()) + 60_000;
  return {
    redis,
    runs,
    inTime,
    accept: async (run: Note, deadlineMs?: number) =>
      runs.accept(run, {
        deadlineMs: deadlineMs ?? (await inTime()),
        claimMs: CLAIM_MS,
        responseUrl: RESPONSE_URL,
      }),
    load: (id = 'r1') => runs.load(id, note),
    /** Returns the id of the run that holds a claim. */
    holder: (claim = 'docs.acme.com') => redis.client.get(keys.claim(claim)),
  };
}
