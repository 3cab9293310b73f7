/**
 * Returns the time of a message's `ts` in epoch milliseconds, with a fraction, so that messages keep their order. NaN
 * if it is not a `ts`.
 */
export const tsToMs = (ts: string) => Number(ts) * 1000;
