import { z } from 'zod';
import type { ButtonParts } from '../../slack/blocks.ts';
import type { RunBase } from '../../store/runs.ts';
import type { Need } from '../feature.ts';

export const homeActions = { answer: 'home.answer' } as const;

/** The value of [Answer]: a run, and its open question. */
export const answerButton = z.object({ v: z.literal(1), run: z.string(), need: z.string() });

/** Returns the button that shows a question again, in a modal. */
export const answerButtonOf = ({ id: run }: Pick<RunBase, 'id'>, { id: need }: Need): ButtonParts => ({
  label: 'Answer',
  action: homeActions.answer,
  value: JSON.stringify({ v: 1, run, need } satisfies z.infer<typeof answerButton>),
});
