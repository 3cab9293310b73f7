import type { ModalView } from '@slack/types';
import { commandHelp } from '../jobs/help-view.ts';
import { readTypedJob, type TypedJob } from '../jobs/shared/typed-job.ts';
import type { Permission } from '../permissions.ts';
import { nearest } from '../runtime/edit-distance.ts';
import { type Message, message, type Part } from '../slack/blocks.ts';
import { SLACK_LIMITS } from '../slack/limits.ts';
import { choiceField, formView } from '../slack/modals.ts';
import { cut, orList, singleLine, stripInvisible } from '../slack/text.ts';
import { type Caller, type CommandTools, UserFacingError } from './intake.ts';

/** The parsed value, or the problem with its fix, in one line. */
export type Parsed<Value, Problem = string | Part[]> =
  | { kind: 'ok'; value: Value }
  | { kind: 'unclear'; problem: Problem };

/**
 * A positional argument after the verb. `usage` is its form in help: `<job id>`, or `[domain]` if optional. A `token`
 * comes without its quotes; a `text` is the whole rest, as typed and with Slack's escapes, and comes last. `read` gets
 * undefined if it is missing.
 */
interface Arg<Value = unknown> {
  usage: string;
  takes: 'token' | 'text';
  read(typed: string | undefined): Parsed<Value>;
}

/**
 * A flag, anywhere before a `text` or at its end. A `list` may have spaces around its commas. `usage` names its value,
 * `example` is one; both are empty if it takes none. `read` gets undefined if it was not typed.
 */
export interface Flag<Value = unknown> {
  takes: 'nothing' | 'value' | 'list';
  usage: string;
  example: string;
  read(typed: string | undefined): Parsed<Value>;
}

/** The action of a command. Only the caller sees the message that it returns. */
type Run<Input> = (input: Input, caller: Caller, tools: CommandTools) => Promise<Message | undefined>;

/** One subcommand. Flags of the same name are the same in all subcommands of a command. */
interface Subcommand {
  /** The first argument; one subcommand may have none: the default. */
  verb?: string;
  args: Readonly<Record<string, Arg>>;
  flags: Readonly<Record<string, Flag>>;
  /** The task, as help names it: "Export a site". */
  summary: string;
  /** A complete valid command, with its name. */
  example: string;
  /** Help omits it: it only explains why something cannot be done. */
  hidden?: boolean;
  /** The answer to extra arguments; by default, it shows the example. */
  tooManyArgs?(typed: string, flags: ReadonlyMap<string, string>): Part[];
  run: Run<Record<string, unknown>>;
}

/** The parsed values of `args` and `flags`, by name. */
type Values<Params> = {
  [Name in keyof Params]: Params[Name] extends { read(typed: string | undefined): Parsed<infer Value> }
    ? Value
    : never;
};

export const ok = <Value>(value: Value) => ({ kind: 'ok' as const, value });
export const invalid = (...problem: Part[]) => ({ kind: 'unclear' as const, problem });

/**
 * Parses the text after a command's name: the subcommand, which comes first, and the values of its arguments and flags.
 * Returns a problem in one line, with the fix. Never throws, unless a `read` does.
 */
export function readCommand(name: string, subcommands: readonly Subcommand[], typed: string) {
  const text = stripInvisible(typed).trim();
  if (text.toLowerCase() === 'help') return { kind: 'help' as const };
  const [first = ''] = text.split(/\s/u, 1);
  const named = subcommands.find(({ verb }) => verb === first.toLowerCase());
  const subcommand = named ?? subcommands.find(({ verb }) => verb === undefined);
  if (subcommand === undefined)
    return first === '' ? { kind: 'help' as const } : unknownVerb(name, subcommands, first);

  const known: Flags = new Map(subcommands.flatMap(({ flags }) => Object.entries(flags)));
  const rest = named === undefined ? text : text.slice(first.length);
  const tokens = tokenize(rest, known);
  const { start, end } = rangeOfText(subcommand, tokens);
  const words: string[] = [];
  const flags = new Map<string, string>();
  for (const token of [...tokens.slice(0, start), ...tokens.slice(end)]) {
    if (token.name === undefined) words.push(token.value ?? '');
    else if (known.has(token.name)) {
      const problem = flagProblem(token.name, token.value, flags, known);
      if (problem !== undefined) return invalid(...problem);
      flags.set(token.name, token.value ?? '');
    } else return unknownFlag(token.name, [...known.keys()]);
  }
  const stray = [...flags.keys()].find((flag) => !Object.hasOwn(subcommand.flags, flag));
  if (stray !== undefined) {
    const asArg = Object.hasOwn(subcommand.args, stray) && `${name} ${subcommand.verb} ${flags.get(stray)}`;
    return invalid({ code: `--${stray}` }, ` doesn't go with ${subcommand.verb ?? name}. Leave it out: `, {
      code: asArg ? cut(singleLine(asArg), 80) : subcommand.example,
    });
  }
  const args = Object.entries(subcommand.args);
  if (words.length > countTokenArgs(subcommand)) {
    if (subcommand.tooManyArgs) return invalid(...subcommand.tooManyArgs(typed, flags));
    if (named === undefined && args.length === 0) return unknownVerb(name, subcommands, first);
    return invalid('Type ', { code: subcommand.example }, ' and nothing else.');
  }

  const raw = rest.slice(tokens[start]?.start ?? 0, start < end ? tokens[end - 1]?.end : 0);
  const input: Record<string, unknown> = {};
  for (const [arg, { takes, read }] of args) {
    const parsed = read(takes === 'token' ? words.shift() : raw || undefined);
    if (parsed.kind === 'unclear') return invalid(...[parsed.problem].flat());
    input[arg] = parsed.value;
  }
  for (const [flag, { read }] of Object.entries(subcommand.flags)) {
    const parsed = read(flags.get(flag));
    if (parsed.kind === 'unclear') return invalid({ code: `--${flag}` }, ': ', ...[parsed.problem].flat());
    input[flag] = parsed.value;
  }
  return { kind: 'subcommand' as const, subcommand, input };
}

const countTokenArgs = ({ args }: Subcommand) =>
  Object.values(args).filter(({ takes }) => takes === 'token').length;

/** Returns the range of the tokens that form the `text` argument. In it, flags count only at its end. */
function rangeOfText(subcommand: Subcommand, tokens: readonly Token[]): { start: number; end: number } {
  let end = tokens.length;
  if (Object.values(subcommand.args).every(({ takes }) => takes !== 'text')) return { start: end, end };
  const isFlag = (at: number) => Object.hasOwn(subcommand.flags, tokens[at]?.name ?? '');
  let missing = countTokenArgs(subcommand);
  let start = 0;
  for (; start < end && (missing > 0 || isFlag(start)); start += 1)
    if (tokens[start]?.name === undefined) missing -= 1;
  while (end > start && isFlag(end - 1)) end -= 1;
  return { start, end };
}

/** Returns the problem of a known flag; `read` has the flags before it. */
function flagProblem(
  name: string,
  value: string | undefined,
  read: ReadonlyMap<string, string>,
  known: Flags,
): Part[] | undefined {
  const shown = { code: `--${name}` };
  const { takes, example } = known.get(name) ?? {};
  if (read.has(name)) return ['Type ', shown, ' only once.'];
  if (takes === 'nothing')
    return value === undefined ? undefined : [shown, ' takes no value. Type it alone, or leave it out.'];
  if (value?.trim()) return undefined;
  return [shown, ' needs a value, such as ', { code: `--${name} ${example}` }, '.'];
}

/** The typed text, formatted for one line. */
export const asCode = (typed: string, max = 60) => ({ code: cut(singleLine(typed.toWellFormed()), max) });

function unknownVerb(name: string, subcommands: readonly Subcommand[], typed: string) {
  const verbs = orList.format(subcommands.flatMap(({ verb }) => verb ?? []));
  return invalid(
    "I don't know ",
    asCode(typed),
    `. Type ${verbs}; `,
    { code: `${name} help` },
    ' explains them.',
  );
}

function unknownFlag(name: string, known: string[]) {
  const typed = asCode(`--${name}`, 42);
  const meant = nearestName(name, known);
  if (meant !== undefined)
    return invalid("I don't know ", typed, '. Did you mean ', { code: `--${meant}` }, '?');
  if (known.length === 0) return invalid("I don't know ", typed, '. Leave it out.');
  const all = known.flatMap((one, index): Part[] => [index === 0 ? '' : ', ', { code: `--${one}` }]);
  return invalid("I don't know ", typed, '. Available: ', ...all, '.');
}

/** Returns the one name with the same beginning, or else one that is a typing error or two away. */
function nearestName(name: string, known: string[]): string | undefined {
  const [longer, ...others] = known.filter((one) => one.startsWith(name));
  if (longer !== undefined && others.length === 0) return longer;
  return nearest(name, known, ({ length }) => Math.max(1, Math.floor(length / 3)));
}

type Flags = ReadonlyMap<string, Flag>;

/** An argument, or a flag with its `name` in lower case, and its position in the text. The value has no quotes. */
interface Token {
  name: string | undefined;
  value: string | undefined;
  start: number;
  end: number;
}

/** A flag with the text after its `=`, or a plain token; either may be in quotes. */
const pattern = /(?=\S)(?:-+(\p{L}[^\s=]*)=?)?("[^"]*"(?=\s|$)|'[^']*'(?=\s|$)|\S+)?/gu;

const comma = /[,،，、]/u;

/**
 * Splits a slash command's text after `stripInvisible`. Phones and pasted text bring other quotes and dashes, and merge
 * two dashes into one. Slack escapes `& < >`.
 */
function tokenize(text: string, flags: Flags): Token[] {
  const tokens: Token[] = [];
  for (const { 0: typed, 1: name, 2: quoted, index: start } of normalized(text).matchAll(pattern)) {
    const end = start + typed.length;
    // As it was typed, without its quotes.
    const value = quoted && withoutPair(text.slice(end - quoted.length, end));
    const last = tokens.at(-1);
    if (name === undefined && last && continues(last, value ?? '', flags)) {
      last.value = last.value === undefined ? value : `${last.value} ${value}`;
      last.end = end;
    } else tokens.push({ name: name?.toLowerCase(), value, start, end });
  }
  return tokens;
}

function continues({ name, value }: Token, next: string, flags: Flags): boolean {
  const takes = flags.get(name ?? '')?.takes ?? 'nothing';
  if (value === undefined) return takes !== 'nothing';
  return (
    takes === 'list' && (comma.test(value.trimEnd().slice(-1)) || comma.test(next.trimStart().charAt(0)))
  );
}

/** Each character becomes one character, so that positions stay. */
const normalized = (text: string) =>
  text
    .replace(/[“”„«»]/gu, '"')
    .replace(/[‘’‚]/gu, "'")
    .replace(/[\u2010-\u2015\u2212]/gu, '-');

function withoutPair(typed: string): string {
  const [first, last] = [normalized(typed.slice(0, 1)), normalized(typed.slice(-1))];
  const isQuoted = typed.length > 1 && first === last && (first === '"' || first === "'");
  return unescaped(isQuoted ? typed.slice(1, -1) : typed);
}

/** `should_escape: false` in the manifest applies only to mentions and links; these three still come escaped. */
const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** A token or a text as it was typed; undefined if it was left out. */
export const optional = <Takes extends 'token' | 'text'>(takes: Takes, usage: string) => ({
  takes,
  usage,
  read: (typed: string | undefined) => ok(typed),
});

/** `--project`; the command looks up the name. */
export const projectFlag = {
  takes: 'value',
  usage: 'p',
  example: 'acme',
  read: (typed) => ok(typed?.trim()),
} satisfies Flag<string | undefined>;

/** A job of the platform. `example` is a command with its id, `whenMissing` the result without one. */
export const jobIdArg = <Missing extends Parsed<undefined>>(
  usage: string,
  example: string,
  whenMissing: Missing,
) => ({
  takes: 'token' as const,
  usage,
  read(typed: string | undefined): Parsed<TypedJob> | Missing {
    if (isBlankId(typed)) return whenMissing;
    const job = readTypedJob(typed);
    if (job !== undefined) return ok(job);
    return invalid(asCode(typed), " isn't a job ID. Copy the whole ID, such as ", { code: example }, '.');
  },
});

/** The usage shows the id in angle brackets, and some people type them. */
export const isBlankId = (typed: string | undefined): typed is '' | undefined =>
  /^[\s<>]*$/u.test(typed ?? '');

/** A slash command as data: parsing, help, usage and the permission check are derived from it. */
export interface SlashCommand {
  name: `/${string}`;
  may: Permission;
  /** A note in help, below the usage. */
  note?: string;
  subcommands: readonly Subcommand[];
  run: Run<string>;
}

type NoSyntax = Record<never, never>;

/** Infers the input type of `run` from the `read` functions of `args` and `flags`, which may be missing. */
export const subcommand = <
  Args extends Subcommand['args'] = NoSyntax,
  Flags extends Subcommand['flags'] = NoSyntax,
>(
  one: Omit<Subcommand, 'args' | 'flags' | 'run'> & {
    args?: Args;
    flags?: Flags;
    run: Run<Values<Args> & Values<Flags>>;
  },
) => ({ args: {}, flags: {}, ...one }) as Subcommand;

export const PROJECT_CALLBACK = 'command.project';

/** Characters of a command that a form keeps: its metadata has room for no more, escaped. */
const MAX_KEPT = 1000;

/** Asks which project a command is about. */
export const projectView = (names: readonly string[]): ModalView =>
  formView({
    title: 'Which project?',
    submit: 'Continue',
    callback: PROJECT_CALLBACK,
    fields: [
      choiceField({
        block: 'project',
        label: 'Project',
        choices: names.slice(0, SLACK_LIMITS.selectOptions).map((name) => ({ label: name, value: name })),
      }),
    ],
  });

/** A slash command that parses the text, answers `help` and unclear input itself, and runs the rest. */
export function defineCommand(parts: Omit<SlashCommand, 'run'>): SlashCommand {
  return {
    ...parts,
    async run(text, caller, tools) {
      const read = readCommand(parts.name, parts.subcommands, text);
      if (read.kind === 'subcommand')
        return read.subcommand.run(read.input, caller, tools).catch((error: unknown) => {
          const projects = error instanceof UserFacingError ? error.projects : [];
          if (projects.length === 0 || text.length > MAX_KEPT) throw error;
          // If the form cannot be opened, the reply says how to type the project.
          return tools
            .openModal(caller, projectView(projects), { command: parts.name, text })
            .catch(() => Promise.reject(error));
        });
      return read.kind === 'help' ? helpMessage(parts) : message([read.problem]);
    },
  };
}

/** The usage of a subcommand, after the command's name: `watch <job id> [--project p]`. */
export function usageOf({ verb, args, flags }: Subcommand): string {
  const shownFlags = Object.entries(flags).map(([name, { usage }]) => `[${`--${name} ${usage}`.trim()}]`);
  return [verb, ...Object.values(args).map(({ usage }) => usage), ...shownFlags].filter(Boolean).join(' ');
}

/** The help of a command. */
export const helpMessage = ({ name, note, subcommands }: Omit<SlashCommand, 'run'>): Message =>
  commandHelp(
    name,
    subcommands.filter(({ hidden }) => !hidden).map((one) => ({ ...one, usage: usageOf(one) })),
    note,
  );
