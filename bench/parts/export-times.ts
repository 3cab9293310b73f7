import type { StandInSlack } from '../../demo/slack/slack.ts';
import type { SentMessage } from '../../demo/slack/workspace.ts';

/** When the messages of one export were posted and edited, in epoch milliseconds. */
export interface ExportTimes {
  /** The progress message's post and each of its edits. */
  progressAtMs: number[];
  endingAtMs: number | undefined;
  /** When the card showed that the export is done. */
  cardDoneAtMs: number | undefined;
  /** Each edit of the card and of its progress. */
  editsAtMs: number[];
}

/** Returns the times of a domain's export, from the messages of the workspace. */
export function exportTimesOf(slack: StandInSlack, domain: string): ExportTimes {
  const card = slack.messages.find(
    (message) => keyOf(message).endsWith('.card') && slack.read(message).includes(domain),
  );
  const part = (name: string) =>
    card && slack.messages.find((message) => keyOf(message).startsWith(`${runOf(card)}.${name}`));
  const [progress, ending] = [part('progress'), part('end.')];
  const done = card !== undefined && slack.read(card).includes(`✅ Exported · ${domain}`);
  return {
    progressAtMs: progress === undefined ? [] : [postedAtMs(progress), ...editedAtMs(progress)],
    endingAtMs: ending && postedAtMs(ending),
    cardDoneAtMs: done ? editedAtMs(card).at(-1) : undefined,
    editsAtMs: [card, progress].flatMap((message) => (message === undefined ? [] : editedAtMs(message))),
  };
}

const keyOf = ({ metadata }: SentMessage) => String(metadata?.event_payload.key ?? '');
const runOf = (message: SentMessage) => keyOf(message).split('.')[0];
const postedAtMs = ({ ts }: SentMessage) => Number(ts) * 1000;
const editedAtMs = ({ edits }: SentMessage) => edits.map(({ atMs }) => atMs);
