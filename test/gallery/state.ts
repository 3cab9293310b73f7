import type { HomeView, ModalView } from '@slack/types';
import type { Message } from '../../src/slack/blocks.ts';
import type { OutboxMessage } from '../../src/slack/outbox.ts';
import type { MessageBlock } from '../../src/store/messages.ts';
import type { RunBase } from '../../src/store/runs.ts';

/** One thing that people see, in one state. `name` is its path in the gallery: feature, message, state. */
export interface GalleryState {
  name: string;
  shown:
    | { kind: 'message'; message: Message }
    | { kind: 'modal'; view: ModalView }
    | { kind: 'home'; view: HomeView };
}

export const post = (name: string, message: Message): GalleryState => ({
  name,
  shown: { kind: 'message', message },
});

export const modal = (name: string, view: ModalView): GalleryState => ({
  name,
  shown: { kind: 'modal', view },
});
export const home = (name: string, view: HomeView): GalleryState => ({ name, shown: { kind: 'home', view } });

type MessagesOf<Run> = (run: Run) => readonly OutboxMessage[];

/** The runs whose messages the gallery shows, with the keys of all that each has in this state. */
export const shownRuns: { run: RunBase; keys: string[] }[] = [];

/** Returns the messages of a run whose keys, after the id of the run, begin with this. */
function find<Run extends RunBase>(messagesOf: MessagesOf<Run>, run: Run, part: string) {
  const messages = messagesOf(run);
  shownRuns.push({ run, keys: messages.map(({ key }) => key) });
  return messages.filter(({ key }) => key.slice(key.indexOf('.') + 1).startsWith(part));
}

/** Returns the one message of a run whose key begins with this; one that replaces another counts. */
export function pick<Run extends RunBase>(messagesOf: MessagesOf<Run>, run: Run, part: string): Message {
  const all = find(messagesOf, run, part);
  const found = all.length > 1 ? all.filter(({ replacedBy }) => replacedBy === undefined) : all;
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${part}: one of ${all.map(({ key }) => key).join(', ')}`);
  return only.message;
}

/** Returns what is shown in its place where a workspace refuses its chart or table. */
export function pickFallback<Run extends RunBase>(
  messagesOf: MessagesOf<Run>,
  run: Run,
  part: string,
): Message {
  const [found] = find(messagesOf, run, part);
  if (found?.fallback === undefined) throw new Error(`${part}: no message with a fallback`);
  return found.fallback;
}

export const blocksOf = (shown: GalleryState['shown']): readonly MessageBlock[] =>
  (shown.kind === 'message' ? shown.message : shown.view).blocks as MessageBlock[];
