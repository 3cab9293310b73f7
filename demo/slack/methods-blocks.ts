import { z } from 'zod';
import { checkMessageBlocks } from './block-kit/check.ts';
import { checkView } from './block-kit/view.ts';
import { defineMethod, type Method } from './method.ts';
import { Refused } from './refused.ts';

/**
 * Checks blocks as strictly as a post of them, and shows them to nobody (https://docs.slack.dev/reference/methods/blocks.validate).
 * Its own codes for messages and views are those that other clients of Slack know. A mistake is an answer, and nothing
 * against the bot.
 */
const validate = defineMethod({
  tier: 'special',
  args: z.object({ blocks: z.unknown(), message: z.unknown(), view: z.unknown() }).partial(),
  run({ workspace }, { blocks, message, view }) {
    const [given, ...others] = Object.entries({ blocks, message, view }).filter(
      ([, value]) => value !== undefined,
    );
    const messages = ['must provide exactly one of `blocks`, `view`, or `message`'];
    if (given === undefined || others.length > 0)
      throw new Refused('invalid_arguments', { response_metadata: { messages } });
    const [kind] = given;
    try {
      if (kind === 'view') checkView(view, typeOf(view), workspace.newId);
      else
        checkMessageBlocks(
          kind === 'message' ? (message as { blocks?: unknown }).blocks : blocks,
          workspace.newId,
        );
      return {};
    } catch (error) {
      throw error instanceof Refused ? answerOf(kind, error) : error;
    }
  },
});

const typeOf = (view: unknown) => ((view as { type?: unknown } | null)?.type === 'home' ? 'home' : 'modal');

/** The refusal in the form of this method: pointers begin at what was given, and not at its argument. */
function answerOf(kind: string, { code, detail }: Refused): Refused {
  const { messages } = (detail.response_metadata ?? {}) as { messages?: string[] };
  if (messages === undefined) return new Refused(code, {}, 'expected');
  const errors = messages.map((text) => {
    const [, message = text, pointer = ''] = /^\[ERROR\] (.*) \[json-pointer:(.*)\]$/s.exec(text) ?? [];
    const start = kind === 'message' ? '' : `/${kind}`;
    return { code: 'failed_constraint', message, pointer: pointer.replace(start, '') };
  });
  return new Refused(`invalid_${kind}`, { errors }, 'expected');
}

export const blockMethods: Record<string, Method> = { 'blocks.validate': validate };
