import { type ReactNode, useEffect, useRef, useState } from 'react';
import { usePage } from '../shell/page-context.ts';
import { createHands, Stopped } from './hands.ts';
import { STORIES, type Story } from './stories.ts';

/** Buttons that do the main jobs for the visitor, and say what to look at. */
export function Tour(): ReactNode {
  const page = usePage();
  const latest = useRef(page);
  latest.current = page;
  const stop = useRef<AbortController>(undefined);
  const [telling, setTelling] = useState<string>();
  const [line, setLine] = useState('');
  useEffect(() => {
    // An open dialog keeps the button away.
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') stop.current?.abort();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => {
      window.removeEventListener('keydown', onKeyDown);
      stop.current?.abort();
    };
  }, []);

  async function begin({ name, tell }: Story): Promise<void> {
    const controller = new AbortController();
    stop.current = controller;
    setTelling(name);
    try {
      await tell(createHands(() => latest.current, setLine, controller.signal));
    } catch (error) {
      setLine(error instanceof Stopped ? 'The tour was stopped.' : String((error as Error).message));
    }
    setTelling(undefined);
  }
  return (
    <section className="tour" aria-label="Tour">
      <span className="tour-title">Show me</span>
      {STORIES.map((story) => (
        <button
          key={story.name}
          type="button"
          disabled={telling !== undefined}
          className={telling === story.name ? 'telling' : ''}
          onClick={() => begin(story)}
        >
          {story.name}
        </button>
      ))}
      {telling !== undefined && (
        <button type="button" className="stop" onClick={() => stop.current?.abort()}>
          Stop (Esc)
        </button>
      )}
      <p role="status">{line}</p>
    </section>
  );
}
