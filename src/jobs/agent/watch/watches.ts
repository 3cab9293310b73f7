import type { AgentJob } from '../../../docs-api/schemas.ts';
import type { RunStore } from '../../../store/runs.ts';
import type { ThreadRun } from '../thread/record.ts';
import { type WatchRun, watchId, watchRun } from './record.ts';
import { addThread, newWatch, recordSend, removeThread, requestPoll } from './transitions.ts';

/** What a thread does with the watch of its job. Each may be repeated, and returns the watch as it is then, if anything. */
export interface Watches {
  load(thread: ThreadRun): Promise<WatchRun | undefined>;
  join(thread: ThreadRun): Promise<WatchRun>;
  leave(thread: ThreadRun): Promise<void>;
  /** The platform took an instruction; `sendKey` names the send. */
  recordSend(thread: ThreadRun, sendKey: string, job: AgentJob, atMs: number): Promise<WatchRun>;
  /** Plans a poll at once. A round that was given up ends by its result. */
  requestPoll(thread: ThreadRun): Promise<void>;
}

export interface WatchesParts {
  runs: RunStore;
  /** Enqueues a step of a run. */
  wake: (run: Pick<WatchRun, 'id' | 'job'>) => Promise<void>;
  now: () => number;
}

/** Nobody was refused a watch: it may be written whenever Redis comes to it. */
const NO_DEADLINE = Number.MAX_SAFE_INTEGER;

export function createWatches({ runs, wake, now }: WatchesParts): Watches {
  /** Several threads and the watch's own step may change it at once: whoever is late tries again. */
  async function update(thread: ThreadRun, transition: (watch: WatchRun) => WatchRun): Promise<WatchRun> {
    for (;;) {
      const watch = await loadOrCreate(thread);
      const next = transition(watch);
      const saved = next === watch ? watch : await runs.save(next);
      if (saved === undefined) continue;
      // Where nothing changed, whoever changed it may have died before it was woken. In a round it is awake already.
      const isOpen = saved.round !== undefined && (next === watch || watch.round === undefined);
      if (isOpen || saved.lookWanted || saved.untold) {
        await runs.markDue(saved.job, saved.id);
        await wake(saved);
      }
      return saved;
    }
  }

  async function loadOrCreate(thread: ThreadRun): Promise<WatchRun> {
    for (;;) {
      const watch = await load(thread);
      if (watch !== undefined) return watch;
      const fresh = newWatch(thread.teamId, thread.project, agentJobIdOf(thread), now());
      await runs.accept(fresh, NO_DEADLINE, 0, undefined);
    }
  }

  const load = ({ teamId, project, agentJobId }: ThreadRun) =>
    agentJobId === undefined
      ? Promise.resolve(undefined)
      : runs.load(watchId(teamId, project, agentJobId), watchRun);

  return {
    load,
    join: (thread) => update(thread, (watch) => addThread(watch, thread.id, now())),
    async leave(thread) {
      if ((await load(thread)) !== undefined) await update(thread, (watch) => removeThread(watch, thread.id));
    },
    recordSend: (thread, sendKey, job, atMs) =>
      update(thread, (watch) =>
        recordSend(addThread(watch, thread.id, now()), thread.id, sendKey, job, atMs),
      ),
    async requestPoll(thread) {
      await update(thread, (watch) => requestPoll(watch, now()));
    },
  };
}

function agentJobIdOf({ agentJobId }: ThreadRun): string {
  if (agentJobId === undefined) throw new Error('a thread that is watched has an agent job');
  return agentJobId;
}
