import { type Message, message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { escapeText, formatCount, sanitizeUserText } from '../../slack/text.ts';
import type { AuditEntry, AuditLines } from '../../store/audit.ts';

/** Characters of all lines together, with room for Slack's own overhead. Refusals get at most a quarter. */
const MAX_CHARACTERS = SLACK_LIMITS.messageBlocksText - 1200;

/** Length of a time, which Slack shows in each reader's words, and of the line break. */
const TIME_LENGTH = 30;

/** Lines of the audit log, newest first: actions, then refusals. Lines that do not fit are counted. */
export function auditMessage({ done, refused }: AuditLines): Message {
  if (done.length + refused.length === 0) return message([['The audit log is empty.']]);
  const fittedRefused = fitLines(refused, MAX_CHARACTERS / 4);
  const fittedDone = fitLines(done, MAX_CHARACTERS - fittedRefused.length);
  if (refused.length === 0) return message(fittedDone.lines);
  return message([...fittedDone.lines, [{ bold: 'Refused' }], ...fittedRefused.lines]);
}

/** Returns as many lines as fit, and their length. */
function fitLines(entries: readonly AuditEntry[], maxLength: number): { lines: Part[][]; length: number } {
  const lines: Part[][] = [];
  let length = 0;
  for (const entry of entries) {
    const line = auditLine(entry);
    length += lengthOf(line);
    if (length > maxLength) break;
    lines.push(line);
  }
  const rest = entries.length - lines.length;
  if (rest > 0) lines.push([`${formatCount(rest)} older lines don't fit in one message.`]);
  return { lines, length: Math.min(length, maxLength) };
}

/**
 * Time, user, channel, action, subject, the platform's job, and result. People and places show as ids. Text that a
 * person may have typed or chosen is in quotes, without quotes inside.
 */
function auditLine({ atMs, user, channel, what, subject, job, result }: AuditEntry): Part[] {
  const name = user.name === '' || user.name === user.id ? '' : ` ${quoted(user.name, 60)}`;
  const parts: Part[] = [
    { time: atMs, format: '{date_short_pretty} {time}' },
    ` · ${/^[UW][A-Z0-9]{2,20}$/.test(user.id) ? user.id : quoted(user.id, 30)}${name}`,
  ];
  if (/^[CG][A-Z0-9]{2,20}$/.test(channel)) parts.push(' · ', { channel });
  else if (channel !== '')
    parts.push(/^D[A-Z0-9]{2,20}$/.test(channel) ? ' · direct message' : ` · ${quoted(channel, 30)}`);
  const rest = [
    plain(what, 60),
    subject === '' ? '' : quoted(subject, 80),
    job === undefined ? '' : `job ${quoted(job, 60)}`,
    plain(result, 100),
  ].filter((text) => text !== '');
  return [...parts, ` · ${rest.join(' · ')}`];
}

const plain = (text: string, max: number) => sanitizeUserText(text.toWellFormed(), max);

const quoted = (text: string, max: number) => `"${plain(text, max).replaceAll('"', "'")}"`;

function lengthOf(line: Part[]): number {
  const texts = line.map((part) => (typeof part === 'string' ? escapeText(part).length : TIME_LENGTH));
  return texts.reduce((sum, length) => sum + length, 0);
}
