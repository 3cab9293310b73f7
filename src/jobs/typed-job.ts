import { isSafeId } from '../docs-api/schemas.ts';
import { type Project, projectNamed } from '../projects.ts';
import { type Message, message, type Part } from '../slack/blocks.ts';
import { cut, formatCount, singleLine } from '../slack/text.ts';
import { listNames, MAX_LISTED_NAMES, MAX_WHOLE_LENGTH } from './wording-view.ts';

/** A job as a person types it: its id, or the beginning; the short form from messages; an address with its id. */
export type TypedJob =
  | { kind: 'id'; id: string }
  | { kind: 'short'; start: string; end: string }
  | { kind: 'address'; parts: string[] };

/** Nothing longer is an id or an address. */
const MAX_TYPED_LENGTH = 2000;

/** Fewer characters of an id match too many jobs. Messages show eleven, seven of them at its beginning. */
const MIN_KNOWN_LENGTH = 6;

/** Further parts of an address are ignored; an id stands near its end. */
const MAX_PARTS = 20;

/** An address, with what follows its host. Browsers omit the scheme. */
const address = /^(?:https?:\/\/[^/?#\s]+|[\w-]+(?:\.[\w-]+)+(?=\/))(.*)$/isu;

const ellipsis = /…|\.{3}/u;

/**
 * Parses a typed or pasted job id: also in angle brackets, as the usage shows it, and with a label, as Slack and
 * Markdown write addresses. Returns undefined if it cannot be a job.
 */
export function readTypedJob(typed: string): TypedJob | undefined {
  if (typed.length > MAX_TYPED_LENGTH) return undefined;
  const text = withoutLabel(typed.trim());
  const afterHost = address.exec(text)?.[1];
  if (afterHost !== undefined) return { kind: 'address', parts: partsOf(afterHost) };
  if (!isSafeId(text) || /\s/u.test(text)) return undefined;
  if (!ellipsis.test(text)) return { kind: 'id', id: text };
  const [start = '', end = '', ...more] = text.split(ellipsis);
  const isEnough = more.length === 0 && start.length + end.length >= MIN_KNOWN_LENGTH;
  return isEnough ? { kind: 'short', start, end } : undefined;
}

function withoutLabel(text: string): string {
  if (text.startsWith('<') && text.endsWith('>')) return text.slice(1, -1).split('|', 1)[0] ?? '';
  const labelEnd = text.startsWith('[') && text.endsWith(')') ? text.lastIndexOf('](') : -1;
  return labelEnd < 0 ? text : text.slice(labelEnd + 2, -1);
}

/** Every path segment, and every name and value of a query, that can be an id; a page may keep them after its `#`. */
function partsOf(afterHost: string): string[] {
  const all = afterHost.split(/[/#?&=]/u).map(decode);
  return [...new Set(all.filter((part) => isSafeId(part) && !/\s/u.test(part)))].slice(-MAX_PARTS);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether the text may mean this existing job. */
export function mayMean(typed: TypedJob, jobId: string): boolean {
  switch (typed.kind) {
    case 'id':
      return jobId === typed.id || isBeginning(typed.id, jobId);
    case 'short':
      return (
        jobId.length > typed.start.length + typed.end.length &&
        jobId.startsWith(typed.start) &&
        jobId.endsWith(typed.end)
      );
    case 'address':
      return typed.parts.includes(jobId);
  }
}

/** Whether it may be part of an id, which only a search among known ids can complete. */
export const mayBePart = (typed: TypedJob) => typed.kind !== 'id' || typed.id.length >= MIN_KNOWN_LENGTH;

/** Some platforms number short ids: there `job_100` is no beginning of `job_1000`. */
const isBeginning = (beginning: string, jobId: string) =>
  jobId.length > MAX_WHOLE_LENGTH && beginning.length >= MIN_KNOWN_LENGTH && jobId.startsWith(beginning);

/**
 * Returns possible ids of an unknown job: the typed text, or the parts of an address that look like one. `notJobs` are
 * other ids of the platform.
 */
export function unknownJobs(typed: TypedJob, notJobs: readonly (string | undefined)[]): string[] {
  switch (typed.kind) {
    case 'id':
      return [typed.id];
    case 'short':
      return [];
    case 'address':
      return typed.parts.filter((part) => looksLikeId(part) && !notJobs.includes(part));
  }
}

/** Whether it may be a job at all; the address of a page is not. */
export const mayBeJob = (typed: TypedJob) => typed.kind !== 'address' || unknownJobs(typed, []).length > 0;

/** Ids have digits; a year, a version or a word of an address is no id. */
const looksLikeId = (part: string) =>
  part.length >= MIN_KNOWN_LENGTH && /^[\w-]+$/u.test(part) && /\d/u.test(part);

/** A job of the platform. `project` is set for jobs known here; `about` describes the job. */
export interface FoundJob {
  id: string;
  project?: string;
  about?: string;
}

/** The job that a person means. `one` may be unknown here: then only the platform can decide. */
export type JobChoice =
  | { kind: 'one'; job: FoundJob }
  | { kind: 'several'; jobs: FoundJob[] }
  | { kind: 'none' };

/** Returns the projects in which a job is searched; `named` as it was typed. */
export const searchedProjects = (projects: readonly Project[], named: string | undefined) =>
  (named === undefined ? projects : [projectNamed(projects, named)]).flatMap((one) => one?.name ?? []);

/** Returns the choice among matching jobs: the one with this exact id, else all; else what may be an unknown id. */
export function chooseJob(
  typed: TypedJob,
  jobs: readonly FoundJob[],
  projects: readonly Project[],
): JobChoice {
  const distinct = [...new Map(jobs.map((job) => [`${job.project} ${job.id}`, job])).values()];
  const exact = distinct.filter(({ id }) => typed.kind === 'id' && id === typed.id);
  const known = (exact.length > 0 ? exact : distinct).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const unknown = unknownJobs(
    typed,
    projects.map(({ projectId }) => projectId),
  ).map((id) => ({ id }));
  const [first, ...others] = known.length > 0 ? known : unknown;
  if (first === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'one', job: first } : { kind: 'several', jobs: [first, ...others] };
}

/** Continues with the matching job, or returns a message. `command` and `example` are texts to type. */
export async function withJob<R>(
  choice: JobChoice,
  { typed, command, example }: { typed: TypedJob; command: string; example: string },
  projects: readonly Project[],
  goOn: (job: FoundJob) => Promise<R>,
): Promise<R | Message> {
  switch (choice.kind) {
    case 'one':
      return goOn(choice.job);
    case 'several':
      return whichJobMessage(choice.jobs, command, projects);
    case 'none':
      return noJobMessage(typed, example);
  }
}

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

/** The answer to a text that matches no job that this person may see. `example` is a valid command. */
const noJobMessage = (typed: TypedJob, example: string): Message =>
  message([[noJobText(typed), ' Type its whole ID, such as ', { code: example }, '.']]);

const noJobText = (typed: TypedJob) =>
  typed.kind === 'address'
    ? "I can't tell which part of that address is the job's ID."
    : 'No job that you can see here matches that.';

/** Returns the job typed into a modal's field, or the problem. */
export async function readJobField(
  text: string,
  find: (typed: TypedJob) => Promise<JobChoice>,
): Promise<{ job: FoundJob } | { problem: string }> {
  const typed = readTypedJob(text);
  if (typed === undefined) return { problem: "Copy the job's whole ID." };
  const found = await find(typed);
  switch (found.kind) {
    case 'one':
      return { job: found.job };
    case 'several': {
      const ids = cut(listNames(found.jobs.map(({ id }) => singleLine(id))), 100);
      return { problem: `Copy one of these IDs: ${ids}` };
    }
    case 'none':
      return { problem: `${noJobText(typed)} Copy its whole ID.` };
  }
}
