import type { Message, Trouble, Visitor } from '../../protocol.ts';
import { wordsOf } from '../blocks/block.ts';
import type { Page } from '../shell/page-context.ts';
import { draftKey } from '../shell/page-context.ts';

/** The visitor stopped the tour. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** What a story of the tour does for the visitor, as they would. */
export interface Hands {
  /** Says in a line what to look at. */
  say(line: string): void;
  speakAs(visitor: Visitor): Promise<void>;
  open(label: string): Promise<void>;
  /** Types it letter by letter, and sends it; into a thread where one is given. */
  type(text: string, thread?: Message): Promise<void>;
  /** Waits until the page shows it. */
  until<T>(what: string, check: (page: Page) => T | undefined | false): Promise<T>;
  /** Clicks what has this label, in a message or in the modal on top. */
  click(label: string, inside?: { message: Message; below: string }): Promise<void>;
  /** Chooses the first of each select in the modal on top in which nothing is chosen. */
  chooseFirst(): Promise<void>;
  /** Shows where to look. */
  point(message: Message): Promise<void>;
  thread(message: Message): Promise<void>;
  /** Opens the site that production serves, from the panel. */
  openSite(): Promise<void>;
  trouble(wanted: Trouble): Promise<void>;
}

const KEY_MS = 28;
const LOOK_MS = 900;
const RECHECK_MS = 100;
const PATIENCE_MS = 120_000;

export const textOf = ({ text, blocks }: Message): string => `${text} ${wordsOf(blocks)}`;

/** Returns Docket's messages that everybody in this conversation sees, and one's own; newest last. */
export function fromDocket(page: Page, label = '#docs'): Message[] {
  const id = page.scene.conversations.find((one) => one.label === label)?.id ?? '';
  const bot = page.scene.workspace?.bot;
  return (page.scene.messages.get(id) ?? []).filter(({ user }) => user === bot);
}

/** Returns whether one comes after another in the page, or lies in it. */
const isBelow = (upper: Element, lower: Element): boolean =>
  upper.contains(lower) || (upper.compareDocumentPosition(lower) & upper.DOCUMENT_POSITION_FOLLOWING) > 0;

/** Returns hands that work on the page as it is now; `signal` stops them. */
export function createHands(now: () => Page, say: (line: string) => void, signal: AbortSignal): Hands {
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
  async function show(element: Element): Promise<void> {
    element.scrollIntoView({ block: 'nearest', behavior: quick ? 'auto' : 'smooth' });
    element.classList.add('pointed');
    try {
      await pause(LOOK_MS);
    } finally {
      element.classList.remove('pointed');
    }
  }
  const elementOf = ({ ts, ephemeral }: Message) =>
    document.querySelector(`.message[data-ts="${ts}"]${ephemeral ? '[data-ephemeral]' : ''}`);

  return {
    say,
    until,
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
      const element = await until(`[${label}]`, () => {
        const place = inside ? elementOf(inside.message) : [...document.querySelectorAll('dialog')].at(-1);
        const after = [...(place?.querySelectorAll('.block') ?? [])].find(
          ({ textContent }) => inside && textContent.includes(inside.below),
        );
        return [...(place?.querySelectorAll<HTMLElement>('button, a.button') ?? [])].find(
          (button) => button.textContent.trim() === label && (!after || isBelow(after, button)),
        );
      });
      await show(element);
      element.click();
    },
    async chooseFirst() {
      const modal = [...document.querySelectorAll('dialog')].at(-1);
      for (const select of modal?.querySelectorAll('select') ?? []) {
        if (select.value !== '') continue;
        await show(select);
        // The one before it says what is to be chosen.
        select.selectedIndex = 1;
        select.dispatchEvent(new Event('change', { bubbles: true }));
        await pause(LOOK_MS);
      }
    },
    async point(message) {
      const element = await until('the message', () => elementOf(message) ?? undefined);
      await show(element);
    },
    async thread(message) {
      now().openThread(message.channel, message.threadTs ?? message.ts);
      await until('the thread', ({ thread }) => thread !== undefined);
    },
    async openSite() {
      now().showPanel(true);
      const link = await until('the site', () => {
        document.querySelector<HTMLElement>('[data-tab="Trouble"]')?.click();
        return document.querySelector<HTMLElement>('.panel a.site') ?? undefined;
      });
      await show(link);
      link.click();
    },
    async trouble(wanted) {
      const { ok, problem } = await now().trouble(wanted);
      if (!ok) throw new Error(problem ?? 'That did not work.');
    },
  };
}
