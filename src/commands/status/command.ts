import { z } from 'zod';
import { auditMessage, statusActions } from '../../jobs/status/view.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { asCode, defineCommand, invalid, ok, type Parsed, subcommand } from '../command.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';

/** Maximum delay of an answer by Redis; two permission look-ups may precede it, within Slack's 3 s. */
const REDIS_TIMEOUT_MS = 900;

const AUDIT_LINES = { usual: 15, most: 50 };

const auditExample = '/docs-status audit 30';

const unknownText = (typed: string): Part[] => [
  "I don't know ",
  asCode(typed),
  '. Type ',
  { code: '/docs-status' },
  ' or ',
  { code: '/docs-status audit' },
  '.',
];

export const statusCommand = defineCommand({
  name: '/docs-status',
  may: 'status',
  subcommands: [
    subcommand({
      summary: 'Show health and what is running',
      example: '/docs-status',
      tooManyArgs: unknownText,
      run: async (_input, caller, tools) =>
        tools.systemStatus(caller, REDIS_TIMEOUT_MS, { isAdmin: await tools.hasPermission('admin') }),
    }),
    subcommand({
      verb: 'audit',
      args: { lines: { takes: 'token', usage: '[lines]', read: readLineCount } },
      summary: 'Show who did what (admins only)',
      example: auditExample,
      tooManyArgs: unknownText,
      run: ({ lines }, caller, tools) => readAudit(lines, caller, tools),
    }),
  ],
});

/** The buttons carry no value: each click reads the present state. */
const statusButton = z.object({});

/** Replaces the status with all details; both are ephemeral. */
const detailsButton = defineButton({
  action: statusActions.details,
  may: 'status',
  value: statusButton,
  async run(_, caller, tools) {
    const isAdmin = await tools.hasPermission('admin');
    const details = await tools.systemStatus(caller, REDIS_TIMEOUT_MS, { isAdmin, details: true });
    return { ...details, replace_original: true as const };
  },
});

const auditButton = defineButton({
  action: statusActions.audit,
  may: 'status',
  value: statusButton,
  run: (_, caller, tools) => readAudit(AUDIT_LINES.usual, caller, tools),
});

export const statusCommands = {
  commands: [statusCommand],
  buttons: [detailsButton, auditButton],
} satisfies Partial<Registry>;

function readLineCount(typed: string | undefined): Parsed<number> {
  const count = typed === undefined ? AUDIT_LINES.usual : Number(typed);
  if (Number.isInteger(count) && count >= 1 && count <= AUDIT_LINES.most) return ok(count);
  const range = `How many lines? Type a number from 1 to ${AUDIT_LINES.most}, such as `;
  return invalid(range, { code: auditExample }, '.');
}

async function readAudit(lines: number, caller: Caller, tools: CommandTools): Promise<Message> {
  await tools.requirePermission('admin', 'audit');
  const entries = await withTimeout(REDIS_TIMEOUT_MS, tools.auditLines(caller.teamId, lines)).catch(() => {
    throw new UserFacingError(
      message(["My database isn't answering, so I can't read the audit log. Try again in a minute."]),
    );
  });
  return auditMessage(entries);
}
