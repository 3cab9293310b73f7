import { exportActions } from '../../jobs/export/buttons.ts';
import { cardPermalink } from '../../jobs/export/permalink.ts';
import { site } from '../../jobs/export/phrases.ts';
import { type ExportRun, exportRun } from '../../jobs/export/record.ts';
import { personName } from '../../jobs/wording-view.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import type { Acceptance, Quota } from '../../store/runs.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { UserFacingError } from '../user-facing-error.ts';

type WithinQuotas = Exclude<Acceptance, { kind: 'full' }>;

/** Keeps an export that starts or is joined. Rejects with `TellUser` when as many as may run at once run already. */
export const startWithinQuotas = (
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
): Promise<WithinQuotas> =>
  withQuotas(run, caller, tools, (quotas) => tools.intake.start(run, caller, quotas));

/** The same for one that starts once more. */
export const resumeWithinQuotas = (
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
): Promise<WithinQuotas> =>
  withQuotas(run, caller, tools, (quotas) => tools.intake.resume(run, caller, true, quotas));

async function withQuotas(
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
  accept: (quotas: Quota[]) => Promise<Acceptance>,
): Promise<WithinQuotas> {
  const quotas = quotasOf(run, tools);
  const acceptance = await accept(quotas);
  if (acceptance.kind !== 'full') return acceptance;
  await tools.audit({ subject: site(run), result: 'refused: too many at once' });
  const other = await tools.intake.load(acceptance.by, exportRun, caller);
  const thread = other && (await cardPermalink(other, caller, tools));
  const max = quotas[acceptance.quota]?.max ?? 0;
  throw new UserFacingError(
    quotaMessage(run, acceptance.quota === 0 ? 'person' : 'channel', max, caller, thread),
  );
}

/** What an export counts toward while it runs: whoever asked for it first, then where. */
const quotasOf = (
  { teamId, requester, asked }: ExportRun,
  { limits }: Pick<CommandTools, 'limits'>,
): Quota[] => [
  { name: ['exports', teamId, requester.id].join(':'), max: limits.exportsPerPerson },
  { name: ['exports', teamId, asked.channel].join(':'), max: limits.exportsPerChannel },
];

function quotaMessage(
  { requester, asked }: ExportRun,
  scope: 'person' | 'channel',
  max: number,
  { user, channel }: Caller,
  thread: string | undefined,
): Message {
  const exports = `${formatCount(max)} ${max === 1 ? 'export' : 'exports'}`;
  const who = requester.id === user.id ? 'You have' : `@${personName(requester.name)} has`;
  const where: Part = asked.channel === channel.id ? 'this channel' : { channel: asked.channel };
  const full: Part[] =
    scope === 'person'
      ? [`${who} ${exports} running`]
      : [`${exports} ${max === 1 ? 'runs' : 'run'} in `, where];
  const buttons =
    thread === undefined ? [] : [{ label: 'Open thread', action: exportActions.openThread, url: thread }];
  return message([[...full, '; start more when one has ended.']], buttons);
}
