import { auditMessage } from '../../jobs/status/audit-view.ts';
import { statusMessage } from '../../jobs/status/view.ts';
import { within } from '../../runtime/within.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { ok, type Reading, shown, unclear } from '../args.ts';
import { defineCommand, subcommand } from '../command.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { UserFacingError } from '../user-facing-error.ts';

/** The longest that Redis may hold up an answer; two permission look-ups may come before it, within Slack's 3 s. */
const REDIS_TIMEOUT_MS = 900;

const AUDIT_LINES = { usual: 15, most: 50 };

const auditExample = '/docs-status audit 30';

const unknownText = (typed: string): Part[] => [
  "I don't know ",
  shown(typed),
  '. Type ',
  { code: '/docs-status' },
  ' or ',
  { code: '/docs-status audit' },
  '.',
];

export const statusCommand = defineCommand({
  name: '/docs-status',
  summary: 'How Docket and the docs platform are doing, and what runs',
  may: 'status',
  subcommands: [
    subcommand({
      args: {},
      flags: {},
      summary: 'See how the platform, Slack, Redis and the queues are',
      example: '/docs-status',
      tooManyArgs: unknownText,
      run: async (_input, caller, tools) =>
        statusMessage(await tools.systemSnapshot(caller, REDIS_TIMEOUT_MS)),
    }),
    subcommand({
      verb: 'audit',
      args: { lines: { takes: 'token', usage: '[lines]', read: readLineCount } },
      flags: {},
      summary: 'See who did what, as an admin',
      example: auditExample,
      tooManyArgs: unknownText,
      run: ({ lines }, caller, tools) => readAudit(lines, caller, tools),
    }),
  ],
});

function readLineCount(typed: string | undefined): Reading<number> {
  const count = typed === undefined ? AUDIT_LINES.usual : Number(typed);
  if (Number.isInteger(count) && count >= 1 && count <= AUDIT_LINES.most) return ok(count);
  const range = `How many lines? Type a number from 1 to ${AUDIT_LINES.most}, such as `;
  return unclear(range, { code: auditExample }, '.');
}

async function readAudit(lines: number, caller: Caller, tools: CommandTools): Promise<Message> {
  await tools.requirePermission('admin', 'audit');
  const entries = await within(REDIS_TIMEOUT_MS, tools.auditLines(caller.teamId, lines)).catch(() => {
    throw new UserFacingError(
      message([["My store doesn't answer, so I can't read the audit log. Try again in a minute."]]),
    );
  });
  return auditMessage(entries);
}
