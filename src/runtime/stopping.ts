/**
 * The process is to stop: what was to begin has not, and does not here. Thrown where a call to the docs platform or to
 * Slack would begin; whoever works then hands its job back for another process.
 */
export class Stopping extends Error {
  override readonly name = 'Stopping';

  constructor() {
    super('the process is to stop');
  }
}

/** The same parts; once `stopping` is aborted, their functions throw its reason instead of beginning anything. */
export function untilStopping<Parts extends object>(stopping: AbortSignal, parts: Parts): Parts {
  const guarded = Object.entries(parts).map(([name, part]) => {
    if (typeof part !== 'function') return [name, part];
    const call = (...args: unknown[]) => {
      stopping.throwIfAborted();
      return part(...args);
    };
    return [name, call];
  });
  return Object.fromEntries(guarded) as Parts;
}
