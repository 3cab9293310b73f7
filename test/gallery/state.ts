import type { HomeView, ModalView } from '@slack/types';
import type { Message } from '../../src/slack/blocks.ts';
import type { OutboxMessage } from '../../src/slack/outbox.ts';
import type { MessageBlock } from '../../src/store/messages.ts';

/** Words of a message that a person has to find at once: the state, and what it is about. */
export interface Says {
  state: string;
  subject: string;
  /** It stands right below its card, which names the subject: only its `text` does so as well. */
  isBelowCard?: true;
  /** The first word on the screen, where only the card and the spoken `text` name the state. */
  shows?: string;
}

/** One thing that people see, in one state. `name` is its path in the gallery: feature, message, state. */
export interface GalleryState {
  name: string;
  shown:
    | { kind: 'message'; message: Message }
    | { kind: 'modal'; view: ModalView }
    | { kind: 'home'; view: HomeView };
  /** Missing for answers to what somebody has just done, and for what is no message: there is nothing to find. */
  says?: Says;
}

/** A message about something that goes on, or has ended. */
export const post = (name: string, message: Message, state: string, subject: string): GalleryState => ({
  name,
  shown: { kind: 'message', message },
  says: { state, subject },
});

/** The same, of a message right below its card. */
export const toldBelowCard = (...parts: Parameters<typeof post>): GalleryState => {
  const [, , state, subject] = parts;
  return { ...post(...parts), says: { state, subject, isBelowCard: true } };
};

/** The times of an export that has ended: its card above shows the state. */
export const timesBelowCard = (...parts: Parameters<typeof post>): GalleryState => {
  const [, , state, subject] = parts;
  return { ...post(...parts), says: { state, subject, isBelowCard: true, shows: 'requested' } };
};

/** An answer, for one person, to what that person has just done. */
export const answered = (name: string, message: Message): GalleryState => ({
  name,
  shown: { kind: 'message', message },
});

export const modal = (name: string, view: ModalView): GalleryState => ({
  name,
  shown: { kind: 'modal', view },
});
export const home = (name: string, view: HomeView): GalleryState => ({ name, shown: { kind: 'home', view } });

/** Returns the one message whose key, after the id of its run, begins with this. */
export function pick(messages: readonly OutboxMessage[], part: string): Message {
  const found = messages.filter(({ key }) => key.slice(key.indexOf('.') + 1).startsWith(part));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${part}: one of ${messages.map(({ key }) => key).join(', ')}`);
  return only.message;
}

/** Returns what is shown in its place where a workspace refuses its chart or table. */
export function pickFallback(messages: readonly OutboxMessage[], part: string): Message {
  const found = messages.find(({ key }) => key.slice(key.indexOf('.') + 1).startsWith(part));
  if (found?.fallback === undefined) throw new Error(`${part}: no message with a fallback`);
  return found.fallback;
}

export const blocksOf = (shown: GalleryState['shown']): readonly MessageBlock[] =>
  (shown.kind === 'message' ? shown.message : shown.view).blocks as MessageBlock[];
