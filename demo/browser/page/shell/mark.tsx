import type { ReactNode } from 'react';

/** Docket's own mark: a slip with a tick. */
export function DocketMark(): ReactNode {
  return (
    <svg viewBox="0 0 32 32" className="docket-mark" aria-hidden="true">
      <path d="M8 2h16a5 5 0 0 1 5 5v5a4 4 0 0 0 0 8v5a5 5 0 0 1-5 5H8a5 5 0 0 1-5-5v-5a4 4 0 0 0 0-8V7a5 5 0 0 1 5-5Z" />
      <path className="tick" d="m10.5 16.5 4 4 7.5-9" />
    </svg>
  );
}

const initials = (name: string) =>
  name
    .split(' ')
    .map((word) => word[0])
    .slice(0, 2)
    .join('');

/** Somebody's picture: their initials on a colour of their own. */
export function Avatar({ name, bot }: { name: string; bot: boolean }): ReactNode {
  if (bot)
    return (
      <span className="avatar bot">
        <DocketMark />
      </span>
    );
  const hue = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 5;
  return (
    <span className={`avatar hue-${hue}`} aria-hidden="true">
      {initials(name)}
    </span>
  );
}
