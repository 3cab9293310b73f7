import type { MentionRun } from '../../../../src/jobs/agent/mention/record.ts';
import { NOW_MS } from './any-thread.ts';

/** Ana mentions the app in #docs, where no job is followed. */
export function aMention(changes: Partial<MentionRun> = {}): MentionRun {
  return {
    v: 2,
    id: '5e5e1c2b4d5e6f708192a3b4',
    teamId: 'T0ACME',
    job: 'agent-mention',
    rev: 1,
    people: [],
    botUserId: 'U0DOCKET',
    reply: aMentioning('Add a quickstart'),
    early: false,
    sinceMs: NOW_MS,
    ...changes,
  };
}

/** Her message; the app is mentioned before `text`. */
export const aMentioning = (text: string): MentionRun['reply'] => ({
  kind: 'reply',
  channel: 'C0DOCS',
  ts: '1789905000.000200',
  user: 'U0ANA',
  external: false,
  mentionsBot: true,
  mentionsOthers: false,
  content: { text: `<@U0DOCKET> ${text}` },
  files: true,
});

export const offered = {
  kind: 'offer' as const,
  text: 'Add a **quickstart**',
  excerpt: 'Add a **quickstart**',
};
