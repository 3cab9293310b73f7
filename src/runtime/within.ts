/** A promise did not end in time. What it does is not cancelled. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** Returns the promise's result. Throws `TimeLimitError` when there is none after `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TimeLimitError(`no result within ${Math.round(ms)} ms`)),
      Math.max(0, ms),
    );
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
