import { type ButtonParts, linkPlaceholder, type Part } from '../slack/blocks.ts';

/** Format of a link's expiry, in each reader's own time. */
export const LINK_END_FORMAT = '{date_short_pretty} {time}';

/** How long a link works (epoch; missing if the platform did not say), with a warning. */
export function linkValidityParts(expiresAtMs: number | undefined): Part[] {
  const until: Part[] =
    expiresAtMs === undefined
      ? ["The platform didn't say how long the link works. "]
      : ['The link works until ', { time: expiresAtMs, format: LINK_END_FORMAT }, '. '];
  return [...until, 'Anyone who has it can download the bundle.'];
}

/** Replaces an expired link; `link` names it if nothing else in the message does. */
export const linkExpiredParts = (expiredAtMs: number, link = 'The link'): Part[] => [
  `🔒 ${link} ended `,
  { time: expiredAtMs, format: LINK_END_FORMAT },
  '. The export is still there.',
];

/** The button with the link; `link` is its name in the link store. */
export const downloadButton = (action: string, link: string): ButtonParts => ({
  label: 'Download bundle',
  action,
  url: linkPlaceholder(link),
  style: 'primary',
});
