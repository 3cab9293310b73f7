import type { ReactNode } from 'react';
import { usePage } from './page-context.ts';

/** The way back on a phone, which shows one pane at a time. */
export function Back({ to, onClick }: { to: string; onClick(): void }): ReactNode {
  return (
    <button type="button" className="back" aria-label={to} title={to} onClick={onClick}>
      ‹
    </button>
  );
}

export function BackToList(): ReactNode {
  return <Back to="All conversations" onClick={usePage().openList} />;
}
