import { type ButtonParts, linkPlaceholder, type Part } from '../slack/blocks.ts';

/** How the end of a link is shown, in each reader's own time. */
export const LINK_END = '{date_short_pretty} {time}';

/** Until when a link works, and what to mind; `endsAtMs` (epoch) is missing where the platform did not tell. */
export function linkWorks(endsAtMs: number | undefined): Part[] {
  const until: Part[] =
    endsAtMs === undefined
      ? ["The platform didn't say how long the link works. "]
      : ['The link works until ', { time: endsAtMs, format: LINK_END }, '. '];
  return [...until, 'Anyone who has it can download the bundle.'];
}

/** What stands where a link was. */
export const linkEnded = (endedAtMs: number): Part[] => [
  '🔒 The link ended ',
  { time: endedAtMs, format: LINK_END },
  '. The export is still there.',
];

/** The button that is the link; `link` is its name in the link store. */
export const downloadButton = (action: string, link: string): ButtonParts => ({
  label: 'Download bundle',
  action,
  url: linkPlaceholder(link),
  style: 'primary',
});
