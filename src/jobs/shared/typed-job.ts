import { isSafeId } from '../../docs-api/operations.ts';
import { type Project, projectNamed } from '../../projects.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { listNames } from './wording-view.ts';

/** A job as a person types it: its whole id, the short form from messages, or an address that contains its id. */
export interface TypedJob {
  /** Whether the text may mean this existing job. */
  mayMean: (jobId: string) => boolean;
  /** The id if no job known here fits: the whole typed one, or the last one of an address. */
  id: string | undefined;
}

/** Nothing longer is an id or an address. */
const MAX_TYPED_LENGTH = 2000;

/** Fewer characters of an id match too many jobs. */
const MIN_KNOWN_LENGTH = 6;

/** An id stands near the end of an address. */
const MAX_IDS = 20;

/** An address, with what follows its host. Browsers omit the scheme. */
const address = /^(?:https?:\/\/[^/?#\s]+|[\w-]+(?:\.[\w-]+)+(?=\/))(.*)$/isu;

/**
 * Parses a typed or pasted job id: also in angle brackets, as the usage shows it, and with a label, as Slack and
 * Markdown write addresses. Returns undefined if it cannot be a job.
 */
export function readTypedJob(typed: string): TypedJob | undefined {
  if (typed.length > MAX_TYPED_LENGTH) return undefined;
  const text = withoutLabel(typed.trim());
  const afterHost = address.exec(text)?.[1];
  if (afterHost !== undefined) {
    const ids = [...new Set(afterHost.split(/[/#?&=]/u).filter(looksLikeId))].slice(-MAX_IDS);
    return ids.length > 0 ? { mayMean: (jobId) => ids.includes(jobId), id: ids.at(-1) } : undefined;
  }
  if (!isSafeId(text) || /\s/u.test(text)) return undefined;
  const [start = '', end, ...more] = text.split(/…|\.{3}/u);
  if (end === undefined) return { mayMean: (jobId) => jobId === text, id: text };
  const known = start.length + end.length;
  if (more.length > 0 || known < MIN_KNOWN_LENGTH) return undefined;
  const fits = (jobId: string) => jobId.startsWith(start) && jobId.endsWith(end) && jobId.length > known;
  return { mayMean: fits, id: undefined };
}

function withoutLabel(text: string): string {
  if (text.startsWith('<') && text.endsWith('>')) return text.slice(1, -1).split('|', 1)[0] ?? '';
  const labelEnd = text.startsWith('[') && text.endsWith(')') ? text.lastIndexOf('](') : -1;
  return labelEnd < 0 ? text : text.slice(labelEnd + 2, -1);
}

/** Ids have digits; a year, a version or a word of an address is no id. */
const looksLikeId = (part: string) =>
  part.length >= MIN_KNOWN_LENGTH && /^[\w-]+$/u.test(part) && /\d/u.test(part);

/** Returns whether a job of this project may be the typed one; `named` is the project as it was typed. */
export function jobFilter(typed: TypedJob, named: string | undefined, projects: readonly Project[]) {
  const searched = named === undefined ? projects : [projectNamed(projects, named)];
  return (jobId: string | undefined, project: string) =>
    jobId !== undefined && typed.mayMean(jobId) && searched.some((one) => one?.name === project);
}

/** Returns the only `known` job, else the platform's job of that id, or the problem. `example` is a command to type. */
export function soleJob(
  typed: TypedJob | undefined,
  known: readonly { id: string; project?: string }[],
  example: string,
): { job: { id: string; project?: string } } | { problem: string } {
  const byId = new Map(known.map((job) => [job.id, job]));
  if (byId.size > 1) {
    const ids = listNames([...byId.keys()].map(singleLine).toSorted());
    return { problem: `Several jobs match that. Type one of these IDs: ${cut(ids, 90)}` };
  }
  const [job = typed?.id === undefined ? undefined : { id: typed.id }] = byId.values();
  if (job !== undefined) return { job };
  return { problem: `No job that you can see here matches that. Type its whole ID, such as ${example}.` };
}
