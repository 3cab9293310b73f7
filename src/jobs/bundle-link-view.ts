import { type ButtonParts, linkPlaceholder, type Part } from '../slack/blocks.ts';

/** How the end of a link is shown, in each reader's own time. */
export const LINK_END_FORMAT = '{date_short_pretty} {time}';

/** Until when a link works (epoch; missing when the platform did not say), and what to mind. */
export function linkValidityParts(expiresAtMs: number | undefined): Part[] {
  const until: Part[] =
    expiresAtMs === undefined
      ? ["The platform didn't say how long the link works. "]
      : ['The link works until ', { time: expiresAtMs, format: LINK_END_FORMAT }, '. '];
  return [...until, 'Anyone who has it can download the bundle.'];
}

/** What stands where a link was; `link` names it, where nothing else in the message does. */
export const linkExpiredParts = (expiredAtMs: number, link = 'The link'): Part[] => [
  `🔒 ${link} ended `,
  { time: expiredAtMs, format: LINK_END_FORMAT },
  '. The export is still there.',
];

/** The button that is the link; `link` is its name in the link store. */
export const downloadButton = (action: string, link: string): ButtonParts => ({
  label: 'Download bundle',
  action,
  url: linkPlaceholder(link),
  style: 'primary',
});
