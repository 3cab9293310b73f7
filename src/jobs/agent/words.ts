import { isSafeId } from '../../docs-api/paths.ts';
import { cut, oneLine } from '../../slack/text.ts';

/** What a reply is by its words alone. Commands and `follow` count only where Docket is mentioned. */
export type ThreadWords =
  /** Talk among people. */
  | { kind: 'aside' }
  /** No text at all. */
  | { kind: 'empty' }
  | { kind: 'command'; command: ThreadCommand }
  | { kind: 'follow'; jobId: string }
  | { kind: 'instruction' };
export type ThreadCommand = 'stop' | 'onlyMentioned' | 'allReplies' | 'help';

const COMMANDS = new Map<string, ThreadCommand>([
  ['stop', 'stop'],
  ['only when mentioned', 'onlyMentioned'],
  ['all replies', 'allReplies'],
  ['help', 'help'],
]);

const LONGEST_JOB_ID = 200;

/** Among them the blanks and joiners that keyboards and pasting bring. */
const unseen = /\p{Default_Ignorable_Code_Point}|(?!\s)\p{Cc}/gu;
/** What is left of a mention, and marks of Markdown. */
const beforeWords = /^[\s,:;\p{Pd}*_~]+/u;
const aside = /^aside(?![\p{L}\p{N}\p{M}])/iu;
/** A command may be copied out of the help with its quotes or code ticks. */
const aroundCommand = /^[\p{P}`´\s]+|[\p{P}`´~\s]+$/gu;
const follow = /^follow\s+(\S+)$/iu;
/** An id may well begin or end with a dash or an underscore; Markdown has backticks and asterisks. */
const aroundId = /^[\p{Pi}\p{Pf}"'`´<(*]+|[\p{Pi}\p{Pf}"'`´>)*.,:;!?…]+$/gu;

/**
 * Reads a reply in a followed thread: its Markdown, with the mention of Docket taken out. A command is the whole
 * text; with anything more it is an instruction ("stop using tabs").
 */
export function readThreadWords(text: string): ThreadWords {
  const words = text.replace(unseen, '').replace(beforeWords, '').trim();
  if (words === '') return { kind: 'empty' };
  if (aside.test(words.normalize('NFKC'))) return { kind: 'aside' };
  const command = COMMANDS.get(
    words.normalize('NFKC').replace(aroundCommand, '').replace(/\s+/gu, ' ').toLowerCase(),
  );
  if (command !== undefined) return { kind: 'command', command };
  const jobId = readFollow(words);
  return jobId === undefined ? { kind: 'instruction' } : { kind: 'follow', jobId };
}

function readFollow(words: string): string | undefined {
  // Quotes and ticks may stand around the id, or around both words.
  const jobId = follow.exec(words.replace(aroundId, ''))?.[1]?.replace(aroundId, '') ?? '';
  return jobId.length <= LONGEST_JOB_ID && isSafeId(jobId) ? jobId : undefined;
}

/** A link of Markdown; what it is called is enough in a few words. */
const link = /\[([^\]\n]+)\]\([^)\s]*\)/gu;

/** The text in a few words, for messages: one line of at most 60 code points. */
export const excerptOf = (text: string) => cut(oneLine(text.replace(link, '$1')), 60);
