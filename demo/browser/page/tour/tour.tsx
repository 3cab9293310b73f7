import { type ReactNode, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Page } from '../shell/page-context.ts';
import { type Caption, createHands, Stopped } from './hands.ts';
import { IN_A_MINUTE, STORIES, type Story } from './stories.ts';

/** What the tour tells now, and what the visitor does to it. */
export interface Tour {
  telling: Story | undefined;
  /** The one that has ended. */
  told: Story | undefined;
  caption: Caption | undefined;
  paused: boolean;
  begin(story: Story): Promise<void>;
  /** Goes on from the caption that shows. */
  next(): void;
  setPaused(paused: boolean): void;
  stop(): void;
}

/** A caption stands for at least 3 s until it is drawn anew, and longer where there is more to read. */
const READ_MS = 3200;
const CHARACTER_MS = 42;

/** Keeps the tour; the stories work on the page as it is. */
export function useTour(page: Page): Tour {
  const latest = useRef(page);
  latest.current = page;
  const running = useRef<AbortController>(undefined);
  const reading = useRef<() => void>(undefined);
  const isPaused = useRef(false);
  const [telling, setTelling] = useState<Story>();
  const [told, setTold] = useState<Story>();
  const [caption, setCaption] = useState<Caption>();
  const [paused, showPaused] = useState(false);
  useEffect(() => () => running.current?.abort(), []);

  /** Shows a caption until it could be read, or the visitor goes on. */
  function show(shown: Caption, signal: AbortSignal): Promise<void> {
    // It counts from when it can be read, however busy the machine is.
    flushSync(() => setCaption(shown));
    return new Promise((resolve) => {
      reading.current = resolve;
      setTimeout(() => isPaused.current || resolve(), Math.max(READ_MS, shown.line.length * CHARACTER_MS));
      signal.addEventListener('abort', () => resolve());
    });
  }
  function setPaused(next: boolean): void {
    isPaused.current = next;
    showPaused(next);
    if (!next) reading.current?.();
  }
  return {
    telling,
    told,
    caption,
    paused,
    setPaused,
    next: () => reading.current?.(),
    async begin(story) {
      const controller = new AbortController();
      running.current = controller;
      setPaused(false);
      setTelling(story);
      latest.current.dismissWelcome();
      const say = (shown: Caption) => show(shown, controller.signal);
      try {
        await story.tell(createHands(() => latest.current, say, controller.signal));
      } catch (error) {
        if (error instanceof Stopped) setCaption(undefined);
        else setCaption({ line: String((error as Error).message), target: () => undefined });
      }
      setTelling(undefined);
      setTold(story);
    },
    stop() {
      running.current?.abort();
      setCaption(undefined);
    },
  };
}

/** The stories that the visitor can choose. */
export function TourBar({ tour: { telling, begin } }: { tour: Tour }): ReactNode {
  return (
    <section className="tour" aria-label="Tour">
      {STORIES.map((story) => (
        <button
          key={story.name}
          type="button"
          disabled={telling !== undefined}
          className={telling === story ? 'telling' : ''}
          onClick={() => begin(story)}
        >
          {story.name}
        </button>
      ))}
    </section>
  );
}

const LINES = [
  'Export your docs site, and put it live, from one message in Slack.',
  'Ask the docs agent in a thread: its pull requests and previews come there.',
  'See each week how people and AI read the docs, and fix a page with one click.',
];

/** What a visitor sees first. */
export function Welcome({ tour, onClose }: { tour: Tour; onClose(): void }): ReactNode {
  return (
    <section className="welcome" aria-label="Welcome">
      <button type="button" className="close" aria-label="Close the welcome" onClick={onClose}>
        ✕
      </button>
      <h2>Docket brings your docs platform into Slack</h2>
      <ul>
        {LINES.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <button type="button" className="button primary" onClick={() => tour.begin(IN_A_MINUTE)}>
        {IN_A_MINUTE.name}
      </button>
      <p>
        Or try it yourself: type <code>/docs-export docs.acme.com</code> below. Slack, the docs platform, the
        docs site and the Git host are stand-ins on your machine. Docket is the real one.
      </p>
    </section>
  );
}
