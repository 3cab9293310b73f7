/**
 * Returns when Slack took the message that has this `ts`, in epoch milliseconds; what is finer stays as a fraction, so
 * that messages keep their order. NaN for what is no `ts`.
 */
export const tsToMs = (ts: string) => Number(ts) * 1000;
