import type { Message, Visitor } from '../../protocol.ts';
import { wordsOf } from '../blocks/block.ts';
import type { Page } from '../shell/page-context.ts';
import { draftKey } from '../shell/page-context.ts';

/** The visitor stopped the tour. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Returns the element that a caption speaks of, as it is now. */
export type Target = () => Element | undefined;

/** What the tour says, and of what. */
export interface Caption {
  line: string;
  target: Target;
}

/** What a story of the tour does for the visitor, as they would. */
export interface Hands {
  /** Says a line beside what it speaks of. Resolves once it could be read. */
  say(line: string, target: Target): Promise<void>;
  speakAs(visitor: Visitor): Promise<void>;
  open(label: string): Promise<void>;
  /** Types it letter by letter, and sends it; into a thread where one is given. */
  type(text: string, thread?: Message): Promise<void>;
  /** Waits until the page shows it. */
  until<T>(what: string, check: (page: Page) => T | undefined | false): Promise<T>;
  /** Clicks what has this label: in a message (below a text), in the form on top, or in the panel. Confirms if asked. */
  click(label: string, inside?: { message: Message; below?: string } | 'panel'): Promise<void>;
  /** Chooses the first of each select in the form on top in which nothing is chosen. */
  chooseFirst(): Promise<void>;
  closeForm(): Promise<void>;
  thread(message: Message): Promise<void>;
  /** The page as it is now. */
  page(): Page;
}

const KEY_MS = 28;
const LOOK_MS = 900;
const RECHECK_MS = 100;
const PATIENCE_MS = 120_000;

export const textOf = ({ text, blocks }: Message): string => `${text} ${wordsOf(blocks)}`;

/** Returns all messages of this conversation that the visitor sees, newest last. */
export function messagesIn({ scene }: Page, label = '#docs'): Message[] {
  const id = scene.conversations.find((one) => one.label === label)?.id ?? '';
  return scene.messages.get(id) ?? [];
}

/** Returns the last of the elements that shows, since a phone hides panes. */
const lastShown = (selector: string): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>(selector)].findLast((one) => one.checkVisibility());

export const FORM: Target = () => lastShown('dialog .dialog-body');
export const COMPOSER: Target = () => lastShown('.composer');
/** What the panel shows of Docket; Redis comes after it. */
export const PANEL: Target = () => lastShown('.panel .process:first-of-type');
export const SITE: Target = () => lastShown('.site-window');

/** A message; with a text, its first block that says so. */
export const at =
  ({ ts, ephemeral }: Message, text?: string): Target =>
  () => {
    const message = lastShown(`.message[data-ts="${ts}"]${ephemeral ? '[data-ephemeral]' : ''}`);
    const blocks = [...(message?.querySelectorAll('.block') ?? [])];
    return blocks.find(({ textContent }) => text !== undefined && textContent.includes(text)) ?? message;
  };

/** Returns whether one comes after another in the page, or lies in it. */
const isBelow = (upper: Element, lower: Element): boolean =>
  upper.contains(lower) || (upper.compareDocumentPosition(lower) & upper.DOCUMENT_POSITION_FOLLOWING) > 0;

/** Returns hands that work on the page as it is now. `show` shows a caption until it was read; `signal` stops them. */
export function createHands(
  now: () => Page,
  show: (caption: Caption) => Promise<void>,
  signal: AbortSignal,
): Hands {
  const pause = (ms: number) =>
    new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(new Stopped());
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(new Stopped());
      });
    });
  const quick = matchMedia('(prefers-reduced-motion: reduce)').matches;

  async function until<T>(what: string, check: (page: Page) => T | undefined | false): Promise<T> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = check(now());
      if (found !== undefined && found !== false) return found;
      if (performance.now() > endsAt) throw new Error(`The tour waited in vain for ${what}.`);
      await pause(RECHECK_MS);
    }
  }
  const reveal = (element: Element) =>
    element.scrollIntoView({ block: 'nearest', behavior: quick ? 'auto' : 'smooth' });
  async function pointAt<T extends HTMLElement>(element: T): Promise<T> {
    reveal(element);
    element.classList.add('pointed');
    try {
      await pause(LOOK_MS);
    } finally {
      element.classList.remove('pointed');
    }
    return element;
  }
  const buttonIn = (place: Element | undefined, label: string, below?: string) => {
    const after = [...(place?.querySelectorAll('.block') ?? [])].find(
      ({ textContent }) => below !== undefined && textContent.includes(below),
    );
    return [...(place?.querySelectorAll<HTMLElement>('button, a.button') ?? [])].find(
      (button) => button.textContent.trim() === label && (!after || isBelow(after, button)),
    );
  };

  return {
    until,
    async say(line, target) {
      reveal(await until('what it speaks of', target));
      // What has just been revealed may still move.
      await pause(RECHECK_MS);
      await show({ line, target });
      if (signal.aborted) throw new Stopped();
    },
    async speakAs(visitor) {
      now().speakAs(visitor);
      await until('the other person', ({ scene }) => scene.workspace?.me.name === visitor);
    },
    async open(label) {
      const { id } = await until(label, ({ scene }) =>
        scene.conversations.find((one) => one.label === label),
      );
      now().closeThread();
      now().go({ conversation: id });
      await until(label, ({ place }) => place !== 'home' && place?.conversation === id);
    },
    async type(text, thread) {
      const { place } = now();
      const channel = place === 'home' || place === undefined ? '' : place.conversation;
      const root = thread && (thread.threadTs ?? thread.ts);
      const key = draftKey(channel, root);
      for (let end = quick ? text.length : 1; end <= text.length; end += 1) {
        now().write(key, text.slice(0, end));
        await pause(KEY_MS);
      }
      await pause(LOOK_MS / 2);
      now().write(key, '');
      const where = root === undefined ? {} : { threadTs: root };
      const { ok, problem } = await now().act({ do: 'write', channel, text, ...where }, root);
      if (!ok) throw new Error(problem ?? `${text} was not taken.`);
    },
    async click(label, inside) {
      const place = () => {
        if (inside === 'panel') return lastShown('.panel');
        return inside ? at(inside.message)() : lastShown('dialog');
      };
      const below = inside !== 'panel' ? inside?.below : undefined;
      const button = () => until(`[${label}]`, () => buttonIn(place(), label, below));
      await pointAt(await button());
      // A message that has changed since then has another button in its place.
      (await button()).click();
      await pause(RECHECK_MS);
      const yes = document.querySelector<HTMLElement>('dialog.small footer button:last-child');
      if (yes) (await pointAt(yes)).click();
    },
    async chooseFirst() {
      for (const select of lastShown('dialog')?.querySelectorAll('select') ?? []) {
        if (select.value !== '') continue;
        await pointAt(select);
        // The one before it says what is to be chosen.
        select.selectedIndex = 1;
        select.dispatchEvent(new Event('change', { bubbles: true }));
      }
    },
    async closeForm() {
      await now().act({ do: 'close' });
      await until('the end of the form', ({ scene }) => scene.modal === undefined);
    },
    async thread(message) {
      now().openThread(message.channel, message.threadTs ?? message.ts);
      await until('the thread', ({ thread }) => thread !== undefined);
    },
    page: now,
  };
}
