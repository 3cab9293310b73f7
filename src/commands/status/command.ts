import { statusMessage } from '../../jobs/status/view.ts';
import { within } from '../../runtime/within.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, oneLine } from '../../slack/text.ts';
import type { Caller, CommandTools, SlashCommand } from '../command.ts';
import { slashTokens } from '../slash-text.ts';
import { UserFacingError } from '../user-facing-error.ts';
import { auditMessage } from './audit-view.ts';

/** The longest that Redis may hold up an answer; two permission look-ups may come before it, within Slack's 3 s. */
const REDIS_TIMEOUT_MS = 900;

const AUDIT_LINES = { usual: 15, most: 50 };

export const statusCommand: SlashCommand = {
  name: '/docs-status',
  usage: '[audit [lines]]',
  summary: 'Says how Docket, Slack and the docs platform are doing, and what is running.',
  examples: ['/docs-status', '/docs-status audit 30'],
  may: 'status',

  async run(text, caller, tools) {
    const [subcommand, lines, ...more] = slashTokens(text).map((token) =>
      token.kind === 'plain' ? token.text : `--${token.name}`,
    );
    if (subcommand === undefined) return statusMessage(await tools.systemSnapshot(caller, REDIS_TIMEOUT_MS));
    if (subcommand.toLowerCase() !== 'audit' || more.length > 0) return unclearMessage(text);
    const lineCount = lines === undefined ? AUDIT_LINES.usual : Number(lines);
    if (!Number.isInteger(lineCount) || lineCount < 1 || lineCount > AUDIT_LINES.most)
      return unclearCountMessage();
    return readAudit(lineCount, caller, tools);
  },
};

async function readAudit(lines: number, caller: Caller, tools: CommandTools): Promise<Message> {
  await tools.requirePermission('admin', 'audit');
  const entries = await within(REDIS_TIMEOUT_MS, tools.auditLines(caller.teamId, lines)).catch(() => {
    throw new UserFacingError(
      message([["My store doesn't answer, so I can't read the audit log. Try again in a minute."]]),
    );
  });
  return auditMessage(entries);
}

function unclearMessage(text: string): Message {
  const typed = { code: cut(oneLine(text.toWellFormed()), 60) };
  return message([
    [
      "I don't know ",
      typed,
      '. Type ',
      { code: '/docs-status' },
      ' or ',
      { code: '/docs-status audit' },
      '.',
    ],
  ]);
}

function unclearCountMessage(): Message {
  const range = `How many lines? Type a number from 1 to ${AUDIT_LINES.most}, such as `;
  return message([[range, { code: '/docs-status audit 30' }, '.']]);
}
