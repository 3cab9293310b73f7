import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { BREAK_IT, IN_A_MINUTE } from './stories.ts';
import type { Tour } from './tour.tsx';

const GAP_PX = 12;

/** For so long, what a new caption speaks of is kept in view; then the visitor may scroll. */
const REVEAL_MS = 1000;

/**
 * Returns where a box of this size stands beside the target without covering it: left, right, above or below, whatever
 * fits; else in the corner that is the farthest away.
 */
export function besideOf(
  target: { left: number; top: number; right: number; bottom: number },
  box: { width: number; height: number },
  view: { width: number; height: number },
): { left: number; top: number } {
  const [right, bottom] = [view.width - box.width, view.height - box.height];
  const left = Math.max(GAP_PX, Math.min(target.left, right - GAP_PX));
  const top = Math.max(GAP_PX, Math.min(target.top, bottom - GAP_PX));
  const places = [
    { left: target.left - box.width - GAP_PX, top },
    { left: target.right + GAP_PX, top },
    { left, top: target.top - box.height - GAP_PX },
    { left, top: target.bottom + GAP_PX },
  ];
  const found = places.find((one) => one.left >= 0 && one.top >= 0 && one.left <= right && one.top <= bottom);
  const isAbove = target.top > view.height - target.bottom;
  return found ?? { left: right - GAP_PX, top: isAbove ? GAP_PX : bottom - GAP_PX };
}

/** The caption: beside what it speaks of; in a row of its own where there is no room; in the form where one is open. */
export function CaptionBox({ tour }: { tour: Tour }): ReactNode {
  const box = useRef<HTMLElement>(null);
  const [host, setHost] = useState<Element>();
  const { caption, telling, paused } = tour;
  const button = (label: string, onClick: () => void, look = '') => (
    <button type="button" className={`button ${look}`} onClick={onClick}>
      {label}
    </button>
  );
  useLayoutEffect(() => {
    const dialog = [...document.querySelectorAll('dialog')].at(-1);
    if (dialog !== host) setHost(dialog);
  });
  useLayoutEffect(() => {
    if (!caption) return;
    let frame = 0;
    let spokenOf: Element | undefined;
    const keptUntil = performance.now() + REVEAL_MS;
    const place = () => {
      frame = requestAnimationFrame(place);
      const shown = box.current;
      const found = caption.target();
      // What a form covers is not spoken of while the form is open.
      const target = host && found && !host.contains(found) ? undefined : found;
      if (spokenOf !== target) spokenOf?.classList.remove('spoken-of');
      target?.classList.add('spoken-of');
      spokenOf = target;
      if (!shown || !target) return;
      // The caption's own row, or a message that comes late, may have pushed it out of view.
      if (performance.now() < keptUntil) target.scrollIntoView({ block: 'nearest' });
      const { left, top } = besideOf(target.getBoundingClientRect(), shown.getBoundingClientRect(), {
        width: innerWidth,
        height: innerHeight,
      });
      // Where the style puts it into a row or a form, these count for nothing.
      shown.style.left = `${left}px`;
      shown.style.top = `${top}px`;
    };
    place();
    return () => {
      cancelAnimationFrame(frame);
      spokenOf?.classList.remove('spoken-of');
    };
  }, [caption, host]);
  if (!caption) return null;
  const drawn = (
    <aside ref={box} className="caption" aria-label="What the tour shows">
      <p role="status">{caption.line}</p>
      <div className="row">
        {telling && button('Go on', tour.next, 'primary')}
        {telling && button(paused ? 'Play' : 'Pause', () => tour.setPaused(!paused))}
        {!telling &&
          tour.told === IN_A_MINUTE &&
          button(BREAK_IT.name, () => tour.begin(BREAK_IT), 'primary')}
        {button(telling ? 'Stop' : 'Close', tour.stop)}
      </div>
    </aside>
  );
  return host ? createPortal(drawn, host) : drawn;
}
