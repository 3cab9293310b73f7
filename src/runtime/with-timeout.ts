/** A promise had no result in time. Its work is not cancelled. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** Returns the promise's result. Throws `TimeLimitError` if there is none after `ms` milliseconds. */
export function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new TimeLimitError(`no result within ${Math.round(ms)} ms`));
    const timer = setTimeout(giveUp, Math.max(0, ms));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
