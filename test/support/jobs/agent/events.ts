import { defaultConfigFile } from '../../../../src/config/file.ts';
import type { ThreadEvent, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import type { EventContext } from '../../../../src/jobs/agent/thread/replies.ts';
import { applyEvent } from '../../../../src/jobs/agent/thread/replies.ts';
import { compact } from '../../../../src/jobs/agent/thread/retain.ts';
import type { Person } from '../../../../src/jobs/shared/origin.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import { messageToMarkdown } from '../../../../src/slack/markdown/message.ts';
import { NOW_MS } from '../../builders.ts';

/** Ana followed the job. */
export const ana: Person = { id: 'U0ANA', name: 'ana' };
export const ben: Person = { id: 'U0BEN', name: 'ben' };
export const cleo: Person = { id: 'U0CLEO', name: 'cleo' };

const people = new Map([ana, ben, cleo].map(({ id, name }) => [id, name]));
const names = { users: people, channels: new Map(), groups: new Map() };

/** The `ts` of a message that was written so many seconds after `NOW_MS`. */
export const ts = (seconds: number) => `${NOW_MS / 1000 + seconds}.000100`;

type Written = Extract<ThreadEvent, { kind: 'reply' }>;
type Click = Extract<ThreadEvent, { kind: 'clicked' }>;

/** A new message; `<@U0DOCKET>` in its text mentions Docket. */
export const wrote = (by: Person, at: number, text: string, files = false): Written => ({
  kind: 'reply',
  channel: 'C0DOCS',
  ts: ts(at),
  user: by.id,
  external: false,
  mentionsBot: text.includes('<@U0DOCKET>'),
  mentionsOthers: /<[@!]/.test(
    text.replaceAll(/<@(\w+)>/g, (mention, id) => (id === 'U0DOCKET' || id === by.id ? '' : mention)),
  ),
  content: { text },
  files,
});

export const edited = (by: Person, at: number, text: string): ThreadEvent => ({
  ...wrote(by, at, text),
  kind: 'edited',
});

export const deleted = (at: number): ThreadEvent => ({ kind: 'deleted', ts: ts(at) });

export const clicks = (by: Person, action: Click['action'], about: string[] = [], attempt = 1): Click => ({
  kind: 'clicked',
  action,
  by,
  about,
  attempt,
  atMs: NOW_MS,
});

/** An instruction from a modal. */
export const instructs = (by: Person, id: string, text: string, atMs = NOW_MS): ThreadEvent => ({
  kind: 'instruct',
  id,
  by,
  text,
  atMs,
});

/** Returns the thread after these events. Ids in `mayNot` lack the permission. */
export function applyEvents(
  thread: ThreadRun,
  events: readonly ThreadEvent[],
  { nowMs = NOW_MS, mayNot = [] }: { nowMs?: number; mayNot?: string[] } = {},
): ThreadRun {
  const apply = (before: ThreadRun, event: ThreadEvent) =>
    compact(applyEvent(before, event, contextOf(event, nowMs, mayNot)));
  return events.reduce(apply, thread);
}

function contextOf(event: ThreadEvent, nowMs: number, mayNot: string[]): EventContext {
  const id = 'user' in event ? event.user : 'by' in event ? event.by.id : '';
  return {
    author: { id, name: people.get(id) ?? '', may: !mayNot.includes(id) },
    contacts: '@docs-admins',
    text: 'content' in event ? messageToMarkdown(event.content, names, { withoutMention: 'U0DOCKET' }) : '',
    files: 'files' in event && event.files,
    limits: defaultConfigFile.limits,
    nowMs,
    graceMs: defaultTiming.graceMs,
  };
}

/** The state of each instruction: "waiting: Fix the title". */
export const outcomesOf = ({ instructions }: ThreadRun) =>
  instructions.map(({ state, excerpt }) => `${state}: ${excerpt}`);

/** To whom the notes are, and their kinds: "ana: question". */
export const ephemeralsOf = ({ ephemerals: notes }: ThreadRun) =>
  notes.map(({ to, kind }) => `${people.get(to)}: ${kind}`);
