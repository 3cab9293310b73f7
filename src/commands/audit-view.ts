import { type Message, message, type Part } from '../slack/blocks.ts';
import { count, cut, escapeText, oneLine } from '../slack/text.ts';
import type { AuditEntry } from '../store/audit.ts';

/**
 * Characters of all lines together. Slack refuses messages above about 13,200, undocumented, with `& < >` counted
 * as they are escaped.
 */
const ROOM = 12_000;

/** What a time counts for, which is shown in each reader's own words, and the line break. */
const TIME_AND_BREAK = 30;

/** Lines of the audit log, newest first. Those that do not fit into one message are counted. */
export function auditMessage(entries: readonly AuditEntry[]): Message {
  if (entries.length === 0) return message([['Nothing is in the audit log yet.']]);
  const lines: Part[][] = [];
  let room = ROOM - 100;
  for (const entry of entries) {
    const line = auditLine(entry);
    room -= lengthOf(line);
    if (room < 0) break;
    lines.push(line);
  }
  const rest = entries.length - lines.length;
  return message(rest > 0 ? [...lines, [`${count(rest)} older ones don't fit into one message.`]] : lines);
}

/** When, who, where, what, about what, the platform's job, and what came of it. */
function auditLine({ atMs, user, channel, what, subject, job, result }: AuditEntry): Part[] {
  const parts: Part[] = [
    { time: atMs, format: '{date_short_pretty} {time}' },
    ` · @${shown(user.name === '' ? user.id : user.name, 60)}`,
  ];
  if (/^[CG][A-Z0-9]{2,20}$/.test(channel)) parts.push(' · ', { channel });
  else if (channel !== '')
    parts.push(channel.startsWith('D') ? ' · direct message' : ` · ${shown(channel, 30)}`);
  const rest = [shown(what, 60), shown(subject, 80), job === undefined ? '' : `job ${shown(job, 60)}`];
  const told = [...rest, shown(result, 100)].filter((text) => text !== '');
  return told.length === 0 ? parts : [...parts, ` · ${told.join(' · ')}`];
}

const shown = (text: string, most: number) => cut(oneLine(text.toWellFormed()), most);

function lengthOf(line: Part[]): number {
  const texts = line.map((part) => (typeof part === 'string' ? escapeText(part).length : TIME_AND_BREAK));
  return texts.reduce((sum, length) => sum + length, 0);
}
