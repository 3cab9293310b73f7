import { site } from '../../jobs/export/phrases.ts';
import { type ExportRun, exportActions, exportRun } from '../../jobs/export/record.ts';
import { person } from '../../jobs/wording-view.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { count } from '../../slack/text.ts';
import type { Acceptance, Quota } from '../../store/runs.ts';
import type { Caller, CommandTools } from '../command.ts';
import { TellUser } from '../user-facing-error.ts';
import { threadOf } from './thread.ts';

type Taken = Exclude<Acceptance, { kind: 'full' }>;

/** Keeps an export that starts or is joined. Rejects with `TellUser` when as many as may run at once run already. */
export const startWithin = (run: ExportRun, caller: Caller, tools: CommandTools): Promise<Taken> =>
  unlessFull(run, caller, tools, (quotas) => tools.intake.start(run, caller, quotas));

/** The same for one that starts once more. */
export const resumeWithin = (run: ExportRun, caller: Caller, tools: CommandTools): Promise<Taken> =>
  unlessFull(run, caller, tools, (quotas) => tools.intake.resume(run, caller, true, quotas));

async function unlessFull(
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
  take: (quotas: Quota[]) => Promise<Acceptance>,
): Promise<Taken> {
  const quotas = quotasOf(run, tools);
  const taken = await take(quotas);
  if (taken.kind !== 'full') return taken;
  await tools.note({ subject: site(run), result: 'refused: too many at once' });
  const other = await tools.intake.load(taken.by, exportRun, caller);
  const thread = other && (await threadOf(other, caller, tools));
  const max = quotas[taken.quota]?.max ?? 0;
  throw new TellUser(tooMany(run, taken.quota === 0 ? 'person' : 'channel', max, caller, thread));
}

/** What an export counts toward while it runs: whoever asked for it first, then where. */
const quotasOf = (
  { teamId, requester, asked }: ExportRun,
  { limits }: Pick<CommandTools, 'limits'>,
): Quota[] => [
  { name: ['exports', teamId, requester.id].join(':'), max: limits.exportsPerPerson },
  { name: ['exports', teamId, asked.channel].join(':'), max: limits.exportsPerChannel },
];

function tooMany(
  { requester, asked }: ExportRun,
  of: 'person' | 'channel',
  max: number,
  { user, channel }: Caller,
  thread: string | undefined,
): Message {
  const exports = `${count(max)} ${max === 1 ? 'export' : 'exports'}`;
  const who = requester.id === user.id ? 'You have' : `@${person(requester.name)} has`;
  const where: Part = asked.channel === channel.id ? 'this channel' : { channel: asked.channel };
  const full: Part[] =
    of === 'person' ? [`${who} ${exports} running`] : [`${exports} ${max === 1 ? 'runs' : 'run'} in `, where];
  const open =
    thread === undefined ? [] : [{ label: 'Open thread', action: exportActions.openThread, url: thread }];
  return message([[...full, '; start more when one has ended.']], open);
}
