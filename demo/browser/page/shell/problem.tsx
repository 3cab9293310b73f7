import type { ReactNode } from 'react';
import { usePage, type Problem as What } from './page-context.ts';

/** What went wrong in this place; a modal on top says it itself. */
export function Problem({ at }: { at: What['at'] }): ReactNode {
  const { problem, scene, dismiss } = usePage();
  if (problem?.at !== at || scene.modal) return null;
  return (
    <p className="problem" role="alert">
      <span>
        {at !== 'panel' && <b>Only visible to you</b>} {problem.text}
      </span>
      <button type="button" aria-label="Close this notice" onClick={dismiss}>
        ✕
      </button>
    </p>
  );
}
