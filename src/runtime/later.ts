/** The next step is due after this time. */
export interface Wait {
  kind: 'wait';
  inMs: number;
}

export const wait = (ms: number): Wait => ({ kind: 'wait', inMs: Math.max(0, Math.round(ms)) });

/** Thrown where a step finds that it has to wait, however deep that is. Nothing unsaved may precede it. */
export class Later extends Error {
  override readonly name = 'Later';
  readonly inMs: number;

  constructor(inMs: number) {
    super(`due in ${inMs} ms`);
    this.inMs = inMs;
  }
}

/** Returns what some work returns, or when it is due again if it throws `Later`. Nothing else catches that. */
export async function orWait<T>(work: Promise<T>): Promise<T | Wait> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Later) return wait(error.inMs);
    throw error;
  }
}
