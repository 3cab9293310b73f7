import { editDistance } from '../runtime/edit-distance.ts';
import type { Part } from '../slack/blocks.ts';
import { cut, singleLine } from '../slack/text.ts';
import { stripInvisible } from '../slack/visible.ts';
import { type Token, tokenize } from './tokens.ts';

/** The parsed value, or the problem with its fix, in one line. */
export type Parsed<Value, Problem = string | Part[]> =
  | { kind: 'ok'; value: Value }
  | { kind: 'unclear'; problem: Problem };

/**
 * A positional argument after the verb. `usage` is its form in help: `<job id>`, or `[domain]` if optional. A `token`
 * comes without its quotes; a `text` is the whole rest, as typed and with Slack's escapes, and comes last. `read` gets
 * undefined if it is missing.
 */
export interface Arg<Value = unknown> {
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

/** The syntax of one subcommand. Flags of the same name are the same in all subcommands of a command. */
export interface Syntax {
  /** The first argument; one subcommand may have none: the default. */
  verb?: string;
  args: Readonly<Record<string, Arg>>;
  flags: Readonly<Record<string, Flag>>;
  /** A complete valid command, with its name. */
  example: string;
  /** The answer to extra arguments; by default, it shows the example. */
  tooManyArgs?(typed: string, flags: ReadonlyMap<string, string>): Part[];
}

/** The parsed values of `args` and `flags`, by name. */
export type Values<Params> = {
  [Name in keyof Params]: Params[Name] extends { read(typed: string | undefined): Parsed<infer Value> }
    ? Value
    : never;
};

export const ok = <Value>(value: Value) => ({ kind: 'ok' as const, value });
export const invalid = (...problem: Part[]) => ({ kind: 'unclear' as const, problem });

type ReadCommand<S extends Syntax> =
  | { kind: 'subcommand'; subcommand: S; input: Record<string, unknown> }
  | { kind: 'help' }
  | { kind: 'unclear'; problem: Part[] };

/**
 * Parses the text after a command's name: the subcommand, and the values of its arguments and flags. Returns a problem
 * in one line, with the fix. Never throws, unless a `read` does.
 */
export function readCommand<S extends Syntax>(
  name: string,
  subcommands: readonly S[],
  typed: string,
): ReadCommand<S> {
  const text = stripInvisible(typed);
  if (text.trim().toLowerCase() === 'help') return { kind: 'help' };
  const known: Syntax['flags'] = Object.assign({}, ...subcommands.map(({ flags }) => flags));
  const split = splitText(text, subcommands, known);
  if (split.kind === 'unclear') return split;
  const { args, flags, raw, subcommand } = split;
  if (subcommand === undefined)
    return args[0] === undefined ? { kind: 'help' } : unknownVerb(name, subcommands, args[0]);

  const stray = [...flags.keys()].find((flag) => !Object.hasOwn(subcommand.flags, flag));
  if (stray !== undefined)
    return invalid({ code: `--${stray}` }, ` doesn't go with ${subcommand.verb ?? name}. Leave it out: `, {
      code: subcommand.example,
    });
  const ownArgs = subcommand.verb === undefined ? args : args.slice(1);
  const [first] = ownArgs;
  if (subcommand.verb === undefined && first !== undefined && takesNothing(subcommand))
    return invalid(
      ...(subcommand.tooManyArgs?.(typed, flags) ?? unknownVerb(name, subcommands, first).problem),
    );
  if (ownArgs.length > countTokenArgs(subcommand))
    return invalid(
      ...(subcommand.tooManyArgs?.(typed, flags) ?? [
        'Type ',
        { code: subcommand.example },
        ' and nothing else.',
      ]),
    );
  return readValues(subcommand, ownArgs, raw, flags);
}

interface SplitText<S> {
  kind: 'split';
  /** The verb, if one was typed, and every `token` argument. */
  args: string[];
  /** Every typed flag; those without a value have an empty text. */
  flags: ReadonlyMap<string, string>;
  /** The value of a `text` argument. */
  raw: string;
  subcommand: S | undefined;
}

function splitText<S extends Syntax>(
  text: string,
  subcommands: readonly S[],
  known: Syntax['flags'],
): SplitText<S> | ReturnType<typeof invalid> {
  const args: string[] = [];
  const flags = new Map<string, string>();
  let subcommand = subcommands.find(({ verb }) => verb === undefined);
  const tokens = tokenize(text, known);
  let at = 0;
  for (; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    const named =
      args.length === 0 && token.kind === 'plain'
        ? subcommands.find(({ verb }) => verb === token.text.toLowerCase())
        : undefined;
    const startsText: boolean = named === undefined && subcommand !== undefined && isFull(subcommand, args);
    // In a text, and before it, only the flags of its own subcommand count.
    const flag = asFlagOf(startsText ? subcommand?.flags : known, token);
    if (flag !== undefined) {
      const problem = takeFlag(flag, known[flag.name], flags);
      if (problem !== undefined) return problem;
    } else if (startsText) break;
    else if (token.kind === 'flag') return unknownFlag(token.name, Object.keys(known));
    else {
      args.push(token.text);
      subcommand = named ?? subcommand;
    }
  }
  const rest = tokens.slice(at);
  const lastFlag = () => asFlagOf(subcommand?.flags, rest.at(-1));
  for (let flag = lastFlag(); flag !== undefined; flag = lastFlag()) {
    rest.pop();
    const problem = takeFlag(flag, known[flag.name], flags);
    if (problem !== undefined) return problem;
  }
  return {
    kind: 'split',
    args,
    flags,
    raw: text.slice(rest[0]?.start ?? 0, rest.at(-1)?.end ?? 0),
    subcommand,
  };
}

type FlagToken = Extract<Token, { kind: 'flag' }>;

/** Returns the token if it is one of these flags. */
const asFlagOf = (flags: Syntax['flags'] = {}, token: Token | undefined): FlagToken | undefined =>
  token?.kind === 'flag' && Object.hasOwn(flags, token.name) ? token : undefined;

/** Returns whether all arguments before the text have been typed. */
const isFull = (subcommand: Syntax, args: readonly string[]) =>
  Object.values(subcommand.args).some(({ takes }) => takes === 'text') &&
  args.length >= (subcommand.verb === undefined ? 0 : 1) + countTokenArgs(subcommand);

const takesNothing = ({ args }: Syntax) => Object.keys(args).length === 0;
const countTokenArgs = ({ args }: Syntax) =>
  Object.values(args).filter(({ takes }) => takes === 'token').length;

function readValues<S extends Syntax>(
  subcommand: S,
  args: readonly string[],
  raw: string,
  flags: ReadonlyMap<string, string>,
): ReadCommand<S> {
  const input: Record<string, unknown> = {};
  const rest = [...args];
  for (const [name, { takes, read }] of Object.entries(subcommand.args)) {
    const reading = read(takes === 'token' ? rest.shift() : raw || undefined);
    if (reading.kind === 'unclear') return invalid(...[reading.problem].flat());
    input[name] = reading.value;
  }
  for (const [name, { read }] of Object.entries(subcommand.flags)) {
    const reading = read(flags.get(name));
    if (reading.kind === 'unclear') return invalid({ code: `--${name}` }, ': ', ...[reading.problem].flat());
    input[name] = reading.value;
  }
  return { kind: 'subcommand', subcommand, input };
}

/** Stores a flag, or returns its problem. */
function takeFlag({ name, value }: FlagToken, flag: Flag | undefined, flags: Map<string, string>) {
  const shown = { code: `--${name}` };
  if (flags.has(name)) return invalid('Type ', shown, ' only once.');
  flags.set(name, value ?? '');
  if (flag?.takes === 'nothing')
    return value === undefined
      ? undefined
      : invalid(shown, ' takes no value. Type it alone, or leave it out.');
  if (value !== undefined && value.trim() !== '') return undefined;
  return invalid(shown, ' needs a value, such as ', { code: `--${name} ${flag?.example}` }, '.');
}

/** The typed text, formatted for one line. */
export const asCode = (typed: string, max = 60) => ({ code: cut(singleLine(typed.toWellFormed()), max) });

function unknownVerb(name: string, subcommands: readonly Syntax[], typed: string) {
  const verbs = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    subcommands.flatMap(({ verb }) => verb ?? []),
  );
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
  const meant = nearest(name, known);
  if (meant !== undefined)
    return invalid("I don't know ", typed, '. Did you mean ', { code: `--${meant}` }, '?');
  if (known.length === 0) return invalid("I don't know ", typed, '. Leave it out.');
  const all = known.flatMap((one, index): Part[] => [index === 0 ? '' : ', ', { code: `--${one}` }]);
  return invalid("I don't know ", typed, '. Available: ', ...all, '.');
}

/** Returns the one name with the same beginning, or else one that is a typing error or two away. */
function nearest(name: string, known: string[]): string | undefined {
  const longer = known.filter((one) => one.startsWith(name));
  if (longer.length === 1) return longer[0];
  const near = known.filter((one) => editDistance(name, one) <= Math.max(1, Math.floor(one.length / 3)));
  return near.sort((one, other) => editDistance(name, one) - editDistance(name, other))[0];
}
