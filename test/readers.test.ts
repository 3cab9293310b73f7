import { expect, test } from 'vitest';
import { agentCommand } from '../src/commands/agent/command.ts';
import { readCommand, type SlashCommand } from '../src/commands/command.ts';
import { quotedWords, readPage, subjectText } from '../src/commands/digest/ask.ts';
import { digestCommand, digestProjects } from '../src/commands/digest/command.ts';
import { scheduleModal } from '../src/commands/digest/modal.ts';
import { readPaths, readVersion, unquoted } from '../src/commands/export/args.ts';
import { exportCommand } from '../src/commands/export/command.ts';
import { type CommandTools, UserFacingError } from '../src/commands/intake.ts';
import { siteCommand } from '../src/commands/site/command.ts';
import { statusCommand } from '../src/commands/status/command.ts';
import { readConfigFile } from '../src/config/file.ts';
import { parseBaseUrl } from '../src/docs-api/client.ts';
import { isSafeId, OPERATIONS } from '../src/docs-api/operations.ts';
import {
  holdsEmailAddress,
  logExcerpt,
  oneLine,
  parseErrorText,
  parseProgress,
  parseTimestamp,
} from '../src/docs-api/text.ts';
import { readDomain } from '../src/domain.ts';
import { jobName, pullRequestButton, quoted } from '../src/jobs/agent/thread/phrases.ts';
import { excerptOf, parseThreadText } from '../src/jobs/agent/thread-text.ts';
import { pagesCsv } from '../src/jobs/digest/edition/files.ts';
import { pageKey, pathText, queryText } from '../src/jobs/digest/edition/phrases.ts';
import { scheduleNotes } from '../src/jobs/digest/schedule/view.ts';
import { readRange } from '../src/jobs/digest/weeks.ts';
import { isZone } from '../src/jobs/schedule/timetable.ts';
import { readTypedJob } from '../src/jobs/shared/typed-job.ts';
import { pullRequestName } from '../src/jobs/shared/wording-view.ts';
import { createLog, scrub, withoutArgs } from '../src/runtime/log.ts';
import { fillLinks, message } from '../src/slack/blocks.ts';
import { formatDate, nameOf, noNames } from '../src/slack/markdown/inline.ts';
import { findLinks, findMentions, messageToMarkdown } from '../src/slack/markdown/message.ts';
import { readReply } from '../src/slack/reply.ts';
import { cut, cutBytes, cutShown, escapeText, singleLine, stripInvisible } from '../src/slack/text.ts';
import { idOf } from '../src/store/keys.ts';
import { aCaller, aProject } from './support/commands/builders.ts';
import { aSchedule } from './support/jobs/digest/builders.ts';
import { isQuick, RATIO, type Reader, ratioOf } from './support/readers/cost.ts';
import { shapes } from './support/readers/shapes.ts';

const own = { botUserId: 'U0BOT', teamId: 'T0ACME' };
const markdown = (content: object) => messageToMarkdown(content, noNames, { withoutMention: 'U0BOT' });
const richText = (...elements: object[]) => ({ blocks: [{ type: 'rich_text', elements }] });
const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
const event = (changes: object) => ({ type: 'message', channel: 'C1', ts: '1.1', user: 'U1', ...changes });
const styles = [
  { bold: true },
  { italic: true },
  { strike: true },
  { code: true },
  { bold: true, italic: true },
];
/** The text in pieces of ten characters, each of another kind. */
const pieces = (text: string) => text.match(/.{1,10}/gsu) ?? [];
const elementsOf = (text: string) =>
  pieces(text).map((piece, index) =>
    index % 7 === 6
      ? { type: 'user', user_id: index % 2 ? 'U0BOT' : 'U1' }
      : { type: index % 5 ? 'text' : 'link', text: piece, url: piece, style: styles[index % styles.length] },
  );
const log = createLog('trace', ['adm_5ecretKey0123', 'adm_5ecret'], { write: () => {} });

const typedAfter =
  ({ name, subcommands }: SlashCommand, before = ''): Reader =>
  (text) =>
    readCommand(name, subcommands, before + text);

const readers: Record<string, Reader> = {
  readDomain,
  stripInvisible,
  unquoted,
  'an export': typedAfter(exportCommand),
  'an export, paths': typedAfter(exportCommand, 'docs.acme.com --paths '),
  'an export, watch': typedAfter(exportCommand, 'watch '),
  readPaths,
  readVersion,
  'the agent': typedAfter(agentCommand),
  'the agent, follow': typedAfter(agentCommand, 'follow job_1 '),
  'the agent, an id': typedAfter(agentCommand, 'stop <'),
  'a digest': typedAfter(digestCommand),
  'a digest, a project': typedAfter(digestCommand, 'last week --project '),
  'a digest, list': typedAfter(digestCommand, 'list '),
  'a digest, a page': typedAfter(digestCommand, 'page '),
  pageKey,
  'a project of digests': (text) => {
    const projects = [aProject({ projectId: text })];
    expect(() => digestProjects(text, text, { projects })).toThrow(UserFacingError);
  },
  'a modal for a digest': (text) =>
    scheduleModal.submit(
      { project: text, channel: text, day: text, time: text, zone: text },
      aCaller(),
      { projects: [], now: () => 0 } as unknown as CommandTools,
      { ticked: { sections: [text], alerts: [text] }, about: undefined },
    ),
  'a digest in a list': (text) =>
    message([scheduleNotes.line(aSchedule({ site: text, owner: { id: 'U1', name: text } }))]),
  status: typedAfter(statusCommand),
  'a preview': typedAfter(siteCommand, 'preview '),
  'a log': (text) => logExcerpt([text, ...pieces(text)], text),
  'whom to ask': (text) => readConfigFile(`contact: ${JSON.stringify(text)}`, 'docket.yml', {}),
  parseThreadText,
  'parseThreadText, follow': (text) => parseThreadText(`follow ${text}`),
  readTypedJob,
  'readTypedJob, an address': (text) => readTypedJob(`https://dash.example/${text}?job=${text}`),
  'readTypedJob, with a label': (text) => readTypedJob(`<https://${text}|${text}>`),
  excerptOf,
  quoted,
  'readPage, an address': (text) => readPage(`https://${text}`),
  'the subject of an ask': (text) => subjectText({ kind: 'page', name: text }),
  'jobName, repository': (text) =>
    jobName({ agentJobId: text, seen: { repository: text, ref: text } as never }),
  pullRequestName: (text) => pullRequestName(`https://git.example/${text}`),
  'pullRequestName, host': (text) => pullRequestName(`https://${text}`),
  pullRequestButton: (text) => pullRequestButton(`https://${text}`),
  oneLine,
  parseProgress: (text) => parseProgress(text, false),
  parseErrorText: (text) => parseErrorText({ error: { message: text } }),
  bundleLink: (text) =>
    OPERATIONS.createBundle.response.safeParse({
      bundleUrl: `https://${text}`,
      expiresAt: text,
      sizeBytes: text,
    }),
  pageViews: (text) =>
    OPERATIONS.getPageViews.response.safeParse({
      totals: { human: text, ai: text },
      views: [{ path: text, human: text, ai: text }],
    }),
  searches: (text) =>
    OPERATIONS.getSearches.response.parse({
      searches: [
        { searchQuery: text, hits: text },
        { searchQuery: text, hits: 1, ctr: text, topClickedPage: text },
      ],
      totalSearches: text,
    }),
  feedbackByPage: (text) =>
    OPERATIONS.getFeedbackByPage.response.parse({
      feedback: [{ path: text, thumbsUp: 1, thumbsDown: text }],
      hasMore: text,
    }),
  assistantConversations: (text) =>
    OPERATIONS.getAssistantConversations.response.safeParse({
      conversations: [{ resolutionStatus: text, queryCategory: text }],
      nextCursor: text,
    }),
  holdsEmailAddress: (text) => [holdsEmailAddress(text), holdsEmailAddress(`a@${text}`)],
  parseBaseUrl: (text) => parseBaseUrl(`https://docs.example/${text.replaceAll(/[?#]/g, '/')}`),
  parseTimestamp,
  'parseTimestamp, digits': (text) => parseTimestamp(`2026-01-01T00:00:${text}`),
  readRange: (text) => readRange(text, Date.UTC(2026, 10, 22)),
  isZone,
  isSafeId,
  idOf,
  singleLine,
  'cut, short': (text) => cut(text, 60),
  'cut, long': (text) => cut(text, text.length - 1),
  cutBytes: (text) => cutBytes(escapeText(text), text.length - 1),
  cutShown: (text) => cutShown(text, text.length - 1),
  pathText: (text) => [pathText(text), queryText(text), quotedWords(text)],
  'a page to ask about': readPage,
  pagesCsv: (text) => pagesCsv([{ path: text, human: 1, ai: 1, before: { human: 0, ai: 0 } }], true),
  message: (text) => fillLinks(message([[text, { code: text }], [{ bold: text }]]), async () => text),
  nameOf,
  formatDate: (text) => formatDate('1789912800', text) + formatDate('', text),
  mrkdwn: (text) => markdown({ text }),
  'mrkdwn, code': (text) => markdown({ text: `\`\`\`${text}` }),
  'mrkdwn, a token': (text) => markdown({ text: `<${text}|${text}>` }),
  'mrkdwn, a date': (text) => markdown({ text: `<!date^1789912800^${text}|${text}>` }),
  'blocks of sections': (text) => markdown({ blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] }),
  'blocks of Markdown': (text) => markdown({ blocks: [{ type: 'markdown', text }] }),
  'rich text': (text) => markdown(richText(section({ type: 'text', text }, { type: 'link', url: text }))),
  'rich text, styled': (text) =>
    markdown(
      richText(
        section(...styles.map((style) => ({ type: 'text', text: text.slice(0, text.length / 5), style }))),
      ),
    ),
  findMentions: (text) => findMentions({ text }),
  findLinks: (text) => findLinks({ text, ...richText(section(...elementsOf(text))) }),
  readReply: (text) => readReply(event({ text, thread_ts: text, user_team: text }), { team_id: text }, own),
  scrub: (text) => scrub(text, ['adm_5ecretKey0123', 'adm_5ecret']),
  withoutArgs: (text) => withoutArgs(JSON.stringify({ level: 30, msg: text, args: [text] })),
  'the log': (text) => log.info({ text, err: new Error(text) }, text),
};

/** Here the text is in many pieces or in many places, and their number counts more than what they are. */
const structured: Record<string, Reader> = {
  'readReply, an edit': (text) => {
    const edited = { ...event({ text }), edited: { user: 'U1', ts: '2.2' } };
    const change = {
      subtype: 'message_changed',
      message: edited,
      previous_message: event({ text: `${text}.` }),
    };
    return readReply(event(change), {}, own);
  },
  'pasted attachments': (text) =>
    markdown({
      text: 'a',
      attachments: [
        { pretext: text, title: text, text },
        { is_share: true, text },
      ],
    }),
  'shared messages': (text) => {
    const message = { text: 'a', attachments: pieces(text).map((one) => ({ is_share: true, text: one })) };
    findMentions(message);
    return markdown(message);
  },
  'rich text in pieces': (text) => markdown(richText(section(...elementsOf(text)))),
  'rich text in lists': (text) =>
    markdown(
      richText({
        type: 'rich_text_list',
        style: 'ordered',
        elements: elementsOf(text).map((element) => section(element)),
      }),
    ),
  'rich text, code': (text) =>
    markdown(richText({ type: 'rich_text_preformatted', elements: elementsOf(text) })),
  'a table': (text) => {
    const cells = pieces(text).map((piece) => ({ type: 'raw_text', text: piece }));
    return markdown({ blocks: [{ type: 'table', rows: [cells, ...cells.map((cell) => [cell])] }] });
  },
  'an unknown block': (text) =>
    markdown({ blocks: [{ type: 'new', parts: pieces(text).map((one) => ({ text: one })) }] }),
  'findMentions, rich text': (text) => findMentions(richText(section(...elementsOf(text)))),
};

const SHORT = 5_000;
const LONG = 20_000;

const all = [
  ...Object.entries(readers).map(([name, read]) => ({ name, read, shapes })),
  ...Object.entries(structured).map(([name, read]) => ({
    name,
    read,
    shapes: shapes.filter((_, at) => at % 9 === 0),
  })),
];

test.each(all)('$name takes no longer than its text is long', ({ read, shapes }) => {
  for (const [name, shape] of shapes) {
    const long = shape(LONG);
    if (isQuick(read, long)) continue;
    const ratio = ratioOf(read, shape(SHORT), long);
    expect(ratio, `of ${name}`).toBeLessThanOrEqual(RATIO);
  }
});
