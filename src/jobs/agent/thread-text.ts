import { readDomain } from '../../domain.ts';
import { cut, cutAtWord, singleLine } from '../../slack/text.ts';
import { readTypedJob } from '../shared/typed-job.ts';

/** The kind of a reply, by its text. Commands and both kinds of `follow` count only with a mention of Docket. */
export type ThreadText =
  /** Talk among people. */
  | { kind: 'aside' }
  /** No text at all. */
  | { kind: 'empty' }
  /** A greeting, thanks or emoji alone. */
  | { kind: 'smallTalk' }
  /** A question about the agent's progress. */
  | { kind: 'status' }
  | { kind: 'command'; command: ThreadCommand }
  /** `project` is the typed text. */
  | { kind: 'follow'; jobId: string; project?: string }
  /** A request to follow a job, with a missing or incomplete id. */
  | { kind: 'badFollow' }
  /** A request to export a site, if one is named; `typed` is the text of a site that it only suggests. */
  | { kind: 'export'; site?: string; typed?: string }
  /** `maybeTalk`: it is short, begins like talk and asks for nothing, so its author is asked before it is sent. */
  | { kind: 'instruction'; maybeTalk?: true };
export type ThreadCommand = 'stop' | 'onlyMentioned' | 'allReplies' | 'help';

const COMMANDS = new Map<string, ThreadCommand>([
  ['stop', 'stop'],
  ['only when mentioned', 'onlyMentioned'],
  ['all replies', 'allReplies'],
  ...['help', 'help me', 'help please', 'please help'].map((words) => [words, 'help'] as const),
  ...['what can you do', 'who are you', 'how does this work'].map((words) => [words, 'help'] as const),
]);

const MAX_JOB_ID_LENGTH = 200;

/** A longer reply cannot be a command and is not parsed further. */
const MAX_COMMAND_LENGTH = 1000;

/** Length of the text that an excerpt is made from; links in it may be long. */
const MAX_EXCERPT_SOURCE = 5000;

/** Includes blanks and joiners from keyboards and pasted text. */
const invisible = /\p{Default_Ignorable_Code_Point}|(?!\s)\p{Cc}/gu;
/** Leftovers of a mention, and Markdown marks. */
const leadingMarks = /^[\s,:;\p{Pd}*_~]+/u;
const asidePrefix = /^aside(?![\p{L}\p{N}\p{M}])/iu;
/** A command copied from the help may keep its quotes or code ticks. */
const commandDelimiters = /^[\p{P}`´\s]+|(?<![\p{P}`´~\s])[\p{P}`´~\s]+$/gu;
const followPattern =
  /^follow(?:\s+(?![\p{Pd}\u2212]+project)(\S+))?(?:\s+[\p{Pd}\u2212]+project(?:\s*[=＝]\s*|\s+)(\S+))?$/iu;
const exportPattern = /^export(?:\s+(\S+))?$/iu;
/** File types that the agent works on. Some are also country domains; a site there needs the command. */
const fileName =
  /^[^/]+\.(?:json|ya?ml|toml|xml|csv|txt|mdx?|rst|html?|css|[cm]?[jt]sx?|svg|png|pdf|zip|py|sh)$/iu;
/** An id may begin or end with a dash or underscore; backticks and asterisks are Markdown. */
const edges = /^[\p{Pi}\p{Pf}"'`´*]+|(?<![\p{Pi}\p{Pf}"'`´*,.:;!?])[\p{Pi}\p{Pf}"'`´*,.:;!?]+$/gu;

/**
 * Parses a reply: its Markdown without the mention of Docket. A command is the whole text; any further word makes it an
 * instruction ("stop using tabs").
 */
export function parseThreadText(text: string): ThreadText {
  const cleaned = text.replace(invisible, '').replace(leadingMarks, '').trim();
  if (cleaned === '') return { kind: 'empty' };
  if (asidePrefix.test(cleaned.slice(0, 20).normalize('NFKC'))) return { kind: 'aside' };
  if (cleaned.length > MAX_COMMAND_LENGTH) return { kind: 'instruction' };
  const plain = cleaned.normalize('NFKC');
  const command = COMMANDS.get(plain.replace(commandDelimiters, '').replace(/\s+/gu, ' ').toLowerCase());
  if (command !== undefined) return { kind: 'command', command };
  if (/^[?\s]+$/u.test(plain)) return { kind: 'status' };
  const talk = readSmallTalk(text.replace(invisible, ''));
  if (talk !== undefined) return { kind: talk };
  const other = parseFollow(cleaned) ?? parseExport(cleaned);
  return other ?? (mayBeTalk(plain) ? { kind: 'instruction', maybeTalk: true } : { kind: 'instruction' });
}

/** Whether a reply that contains nothing else never goes to the agent, in any mode. */
export const isTalk = ({ kind }: ThreadText) =>
  kind === 'aside' || kind === 'empty' || kind === 'smallTalk' || kind === 'status';

/** A command has one site only; all else is an instruction: "export the tables as CSV", "export openapi.json". */
function parseExport(text: string): ThreadText | undefined {
  const found = exportPattern.exec(text.replace(commandDelimiters, ''));
  if (found === null) return undefined;
  const word = found[1]?.replace(commandDelimiters, '');
  if (!word) return { kind: 'export' };
  const read = readDomain(word);
  if (fileName.test(word)) return undefined;
  if (read.kind === 'domain') return { kind: 'export', site: read.domain };
  const { suggested, typed } = read;
  return suggested === undefined ? undefined : { kind: 'export', site: suggested, typed: cut(typed, 100) };
}

/** The id may be in an address. "Follow" with anything else that is no id is an instruction. */
function parseFollow(text: string): ThreadText | undefined {
  // Quotes and ticks may stand around the id, or around the whole text.
  const found = followPattern.exec(text.replace(edges, '').trim());
  if (found === null) return undefined;
  const [, word = '', project] = found.map((part) => part?.replace(edges, ''));
  const typed = readTypedJob(word);
  const jobId = typed?.id;
  // The id of an address is a part of it.
  const isAddress = jobId !== undefined && jobId !== word;
  if (word === '' || (!isAddress && /…|\.{3}/u.test(text))) return { kind: 'badFollow' };
  if (jobId === undefined || jobId.length > MAX_JOB_ID_LENGTH) return undefined;
  return { kind: 'follow', jobId, ...(project && { project }) };
}

/** Markdown marks at the edges of words and lines; an excerpt keeps only the words. */
const marks =
  /`+|(?<![\p{L}\p{N}])[*_~]+|[*_~]+(?![\p{L}\p{N}])|^ {0,8}(?:#{1,6}|>|[-+]|\d{1,3}[.)])(?= )/gmu;
/** A Markdown link; an excerpt keeps only its label. */
const markdownLink = /\[([^[\]\n]+)\]\([^()\s]*\)/gu;

/** Returns an excerpt of a text: one line of at most 60 code points without markup, cut after a word. */
export function excerptOf(text: string): string {
  const plain = singleLine(text.slice(0, MAX_EXCERPT_SOURCE).replace(markdownLink, '$1').replace(marks, ''));
  return cutAtWord(plain, 60);
}

/** Matches the longest of these phrases, as whole words. */
function phrases(list: string): RegExp {
  const longestFirst = list
    .trim()
    .split(/,\s+/u)
    .toSorted((one, other) => other.length - one.length);
  return new RegExp(`(?<!\\S)(?:${longestFirst.join('|')})(?!\\S)`, 'gu');
}

/** Phrases that people say to each other, or to the agent after its work. */
const TALK = phrases(`
  hi, hello, hey, hiya, howdy, yo, good morning, morning, good afternoon, good evening, good night, bye,
  goodbye, see you, welcome, how are you, hallo, thanks, thanks again, thanks a lot, thanks a million,
  thanks a bunch, many thanks, thanks so much, thanks very much, thank you, thank you again,
  thank you so much, thank you very much, thanks for that, thanks for this, thank you for that, thank u,
  thankyou, thanks for your help, thank you for your help, thx, tks, tnx, ty, tysm, tyvm, much appreciated,
  appreciated, appreciate it, i appreciate it, cheers, danke, merci, gracias, kudos, ok, okay, okey, k, kk,
  alright, all right, all good, fine, got it, understood, noted, i see, sure, no problem, no worries, np,
  you re welcome, great, nice, nice one, cool, perfect, awesome, excellent, wonderful, amazing, super,
  brilliant, fantastic, lovely, wow, good, very good, very nice, great job, good job, nice job, great work,
  good work, nice work, well done, sweet, neat, love it, i love it, looks good, looks great,
  looks good to me, this looks good, this looks great, lgtm, sounds good, sounds great, that s great,
  thats great, that s good, that s perfect, this is great, this is perfect, works for me, wfm, that works,
  same, same here, haha, lol, yay, hooray, oh, ah`);

/** How longer texts begin that may be talk: with thanks, agreement or a greeting. "Yes" may answer the agent. */
const TALK_START = phrases(`
  hi, hello, hey, thanks, many thanks, thank you, thank u, thankyou, thx, tks, tnx, ty, tysm, cheers, i appreciate,
  ok, okay, alright, got it, sure, yes, yeah, yep, yup, agreed, exactly, same, that s it, that s great, sounds good,
  looks good, lgtm, nice work, good job, great job, great work`);
const clauseEnd = /[,.!?;:…\n]/u;

/** A longer text is an instruction, however it begins. */
const MAX_TALK_WORDS = 6;

/** What people ask the agent to do. */
const WORK = new Set(
  `add adjust align apply change check clean clarify close combine compare convert copy correct cover create cut
  define delete describe document drop edit exclude expand explain extend finish fix format generate give hide
  highlight implement import improve include insert integrate introduce keep leave link list make mention merge
  migrate move name open polish proofread publish put redo reduce refactor reformat regenerate remove rename
  reorder reorganize rephrase replace rerun restore restructure retry revert review revise rework rewrite run
  set shorten show simplify sort split start stop swap switch tell test tidy translate try turn undo unify
  update upgrade use verify write`.split(/\s+/u),
);

/** After these, such a word is a noun, or what the author does: "thanks for the fix", "ok, I'll check". */
const NO_REQUEST = new Set('the a an any this that your my our for of same i we ll will me'.split(' '));

/** Addressees of such phrases. */
const ADDRESSEES = phrases(`
  all, everyone, everybody, team, folks, guys, there, docket, agent, you too`);

const STATUS = phrases(`
  status, the status, what s the status, whats the status, what is the status, current status,
  status update, any status update, any update, any updates, any news, any progress, progress,
  how is it going, how s it going, hows it going, how is it, how far is it, how far are you, eta,
  is it done, is this done, are you done, done yet, is it done yet, are you done yet, is it ready,
  is it finished, is this finished, ready yet, is it ready yet, finished yet, still working, status please,
  are you still working, are you still there, where are we, what are you doing, what s happening`);

/** Names of people; emoji, including named ones such as a workspace's own; keycaps, "+1" and ":-)". */
const names = /@(?:"[^"\n]{1,60}"|[^\s@",;:!?]{1,60})/gu;
const emoji = /:[\w+-]{1,100}:|[\d#*]\uFE0F?\u20E3|(?<!\S)\+1(?![\p{L}\p{N}])|\p{Extended_Pictographic}/gu;
const smileys = /(?<![^\s\p{P}])[:;=]-?[()DPpo](?![\p{L}\p{N}])/gu;
const otherThanWords = /[^\p{L}\p{M}\p{N}]+/gu;

const wordsOf = (text: string) =>
  text
    .replace(names, ' ')
    .replace(emoji, ' ')
    .replace(smileys, ' ')
    .normalize('NFKC')
    .replace(otherThanWords, ' ')
    .trim()
    .toLowerCase();

/** Whether a text is as short as talk, begins like it, and asks for no work. */
function mayBeTalk(text: string): boolean {
  const words = wordsOf(text);
  const [start = ''] = text.split(clauseEnd, 1);
  const isTalkFirst =
    words.search(TALK_START) === 0 || (start !== '' && readSmallTalk(start) === 'smallTalk');
  const all = words.split(' ');
  const isWork = (word: string, index: number) => WORK.has(word) && !NO_REQUEST.has(all[index - 1] ?? '');
  return isTalkFirst && all.length <= MAX_TALK_WORDS && !all.some(isWork);
}

/**
 * Returns `smallTalk` for a text of only greetings, thanks, praise or emoji, and `status` for a question about the
 * agent's progress. Returns undefined for all else: one more word makes the text an instruction.
 */
function readSmallTalk(text: string): 'smallTalk' | 'status' | undefined {
  const words = wordsOf(text);
  const talk = words.replace(STATUS, '');
  const rest = talk.replace(TALK, '');
  if (rest.replace(ADDRESSEES, '').trim() !== '') return undefined;
  if (talk !== words) return 'status';
  return words === '' || rest !== talk ? 'smallTalk' : undefined;
}
