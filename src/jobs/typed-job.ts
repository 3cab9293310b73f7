import { isSafeId } from '../docs-api/operations.ts';
import { type Project, projectNamed } from '../projects.ts';
import { type Message, message, type Part } from '../slack/blocks.ts';
import { cut, formatCount, singleLine } from '../slack/text.ts';
import { listNames, MAX_LISTED_NAMES } from './wording-view.ts';

/** A job as a person types it: its whole id, the short form from messages, or an address that contains its id. */
export type TypedJob =
  | { kind: 'id'; id: string }
  | { kind: 'short'; start: string; end: string }
  | { kind: 'address'; ids: string[] };

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
    return ids.length > 0 ? { kind: 'address', ids } : undefined;
  }
  if (!isSafeId(text) || /\s/u.test(text)) return undefined;
  const [start = '', end, ...more] = text.split(/…|\.{3}/u);
  if (end === undefined) return { kind: 'id', id: text };
  const isEnough = more.length === 0 && start.length + end.length >= MIN_KNOWN_LENGTH;
  return isEnough ? { kind: 'short', start, end } : undefined;
}

function withoutLabel(text: string): string {
  if (text.startsWith('<') && text.endsWith('>')) return text.slice(1, -1).split('|', 1)[0] ?? '';
  const labelEnd = text.startsWith('[') && text.endsWith(')') ? text.lastIndexOf('](') : -1;
  return labelEnd < 0 ? text : text.slice(labelEnd + 2, -1);
}

/** Ids have digits; a year, a version or a word of an address is no id. */
const looksLikeId = (part: string) =>
  part.length >= MIN_KNOWN_LENGTH && /^[\w-]+$/u.test(part) && /\d/u.test(part);

/** Whether the text may mean this existing job. */
export function mayMean(typed: TypedJob, jobId: string): boolean {
  if (typed.kind === 'id') return jobId === typed.id;
  if (typed.kind === 'address') return typed.ids.includes(jobId);
  const { start, end } = typed;
  return jobId.length > start.length + end.length && jobId.startsWith(start) && jobId.endsWith(end);
}

/** A job of the platform. `project` is set for jobs known here; `about` describes the job. */
interface FoundJob {
  id: string;
  project?: string;
  about?: string;
}

/** Returns the projects in which a job is searched; `named` as it was typed. */
export const searchedProjects = (projects: readonly Project[], named: string | undefined) =>
  (named === undefined ? projects : [projectNamed(projects, named)]).flatMap((one) => one?.name ?? []);

/** Returns the jobs that a person may mean: the known ones, else the id that may be one of the platform's. */
export function chooseJobs(typed: TypedJob, known: readonly FoundJob[]): FoundJob[] {
  const distinct = [...new Map(known.map((job) => [`${job.project} ${job.id}`, job])).values()];
  if (distinct.length > 0) return distinct.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const id = typed.kind === 'id' ? typed.id : typed.kind === 'address' ? typed.ids.at(-1) : undefined;
  return id === undefined ? [] : [{ id }];
}

/** Continues with the only job, or returns a message. `command` and `example` are texts to type. */
export async function withJob<R>(
  jobs: readonly FoundJob[],
  { command, example }: { command: string; example: string },
  projects: readonly Project[],
  goOn: (job: FoundJob) => Promise<R>,
): Promise<R | Message> {
  const [job, ...others] = jobs;
  if (job === undefined) return message([[`${NONE} Type its whole ID, such as `, { code: example }, '.']]);
  return others.length === 0 ? goOn(job) : whichJobMessage(jobs, command, projects);
}

const NONE = 'No job that you can see here matches that.';

/** Asks which of several jobs is meant. `command` is the text to type, without the id. */
export function whichJobMessage(
  jobs: readonly FoundJob[],
  command: string,
  projects: readonly Project[],
): Message {
  const rest = jobs.length - MAX_LISTED_NAMES;
  const lines = jobs.slice(0, MAX_LISTED_NAMES).map(({ id, project, about }): Part[] => {
    const flag = project === undefined || projects.length === 1 ? '' : ` --project ${project}`;
    return [
      { code: `${command} ${cut(singleLine(id), 200)}${flag}` },
      about === undefined ? '' : ` · ${about}`,
    ];
  });
  const more: Part[][] = rest > 0 ? [[`and ${formatCount(rest)} more; type more of the ID.`]] : [];
  return message([['Which one? Type the whole command:'], ...lines, ...more]);
}

/** Returns the job typed into a modal's field, or the problem. */
export async function readJobField(
  text: string,
  find: (typed: TypedJob) => Promise<FoundJob[]>,
): Promise<{ job: FoundJob } | { problem: string }> {
  const typed = readTypedJob(text);
  if (typed === undefined) return { problem: "Copy the job's whole ID." };
  const jobs = await find(typed);
  const [job, ...others] = jobs;
  if (job === undefined) return { problem: `${NONE} Copy its whole ID.` };
  if (others.length === 0) return { job };
  const ids = cut(listNames(jobs.map(({ id }) => singleLine(id))), 100);
  return { problem: `Copy one of these IDs: ${ids}` };
}
