import { z } from 'zod';
import { Refused } from '../refused.ts';
import type { Block } from '../workspace.ts';
import { mistakesIn, pointed, withIds } from './check.ts';
import { type Mistake, mistakesOf } from './mistakes.ts';
import { plain } from './text.ts';

// "Max of 250kB" (https://docs.slack.dev/reference/methods/views.open).
const MAX_VIEW_BYTES = 250_000;

const common = {
  blocks: z.array(z.unknown()),
  private_metadata: z.string().max(3000).optional(),
  callback_id: z.string().max(255).optional(),
  external_id: z.string().max(255).optional(),
};

const modalSchema = z.strictObject({
  type: z.literal('modal'),
  ...common,
  title: plain(24),
  submit: plain(24).optional(),
  close: plain(24).optional(),
  clear_on_close: z.boolean().optional(),
  notify_on_close: z.boolean().optional(),
});
const homeSchema = z.strictObject({ type: z.literal('home'), ...common });

/** A view as an app describes it, checked; a Home tab has no title and no buttons of its own. */
export type ViewDefinition = Partial<Omit<z.output<typeof modalSchema>, 'type' | 'blocks'>> & {
  type: 'modal' | 'home';
  blocks: Block[];
};

/** Checks a view (https://docs.slack.dev/reference/views); throws what Slack answers. */
export function checkView(
  view: unknown,
  type: 'modal' | 'home',
  newId: (prefix: string) => string,
): ViewDefinition {
  const checked = (type === 'modal' ? modalSchema : homeSchema).safeParse(view);
  if (!checked.success) throw refusal(mistakesOf(checked.error.issues, view));
  const definition = { ...checked.data, blocks: checked.data.blocks as Block[] } as ViewDefinition;
  const { blocks } = definition;
  const mistakes = mistakesIn(blocks, type).map(({ path, message }) => ({
    path: ['blocks', ...path],
    message,
  }));
  if (mistakes.length > 0) throw refusal(mistakes);
  if (type === 'modal' && !definition.submit && blocks.some((block) => block.type === 'input')) {
    throw refusal([{ path: [], message: 'missing required field: submit' }]);
  }
  if (Buffer.byteLength(JSON.stringify(view)) > MAX_VIEW_BYTES) throw new Refused('view_too_large');
  return { ...definition, blocks: withIds(blocks, newId) };
}

function refusal(mistakes: Mistake[]): Refused {
  const messages = mistakes.map(({ path, message }) => `[ERROR] ${pointed(message, ['view', ...path])}`);
  return new Refused('invalid_arguments', { response_metadata: { messages } });
}
