/** What a check found. `text` says what to do, unless all is well, and holds no secret. */
export interface Outcome {
  status: 'ok' | 'wrong' | 'warning' | 'not checked';
  text: string;
}

export const ok = (text: string): Outcome => ({ status: 'ok', text });
export const wrong = (text: string): Outcome => ({ status: 'wrong', text });
export const warning = (text: string): Outcome => ({ status: 'warning', text });
export const notChecked = (text: string): Outcome => ({ status: 'not checked', text });

/** Returns the one outcome of several: the worst status, and the texts that have it. */
export function worstOf(outcomes: readonly Outcome[]): Outcome {
  const order: Outcome['status'][] = ['wrong', 'warning', 'not checked', 'ok'];
  const status = order.find((one) => outcomes.some((outcome) => outcome.status === one)) ?? 'ok';
  const texts = outcomes.filter((outcome) => outcome.status === status).map(({ text }) => text);
  return { status, text: [...new Set(texts)].join(' ') };
}
