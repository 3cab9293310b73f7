import type { Ending, ExportRun } from '../../../../src/jobs/export/record.ts';
import { exportMessages } from '../../../../src/jobs/export/view.ts';
import type { Message } from '../../../../src/slack/blocks.ts';
import { aRun, NOW_MS } from './any-run.ts';

export const THREAD = 'https://acme.example/archives/C0DOCS/p1789914659000100';

export const REQUEST = '123.456.abcdef';

/** What is shown, as a person reads it: mentions by name, times as TIME, buttons by their labels. */
export function reads({ text, blocks }: Message): string {
  const words = text
    .replaceAll('<@U0ANA>', '@Ana')
    .replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  const labels = buttonsIn(blocks).map((button) => `[${button.text.text}]`);
  return labels.length === 0 ? words : `${words}\n${labels.join(' ')}`;
}

interface AButton {
  text: { text: string };
  action_id: string;
  value?: string;
  url?: string;
}

export function buttonsIn(blocks: Message['blocks']): AButton[] {
  return blocks.flatMap((block) => (block.type === 'actions' ? (block.elements as AButton[]) : []));
}

/** The message of a run whose key ends or goes on with `part`. */
export function messageOf(run: ExportRun, part: string): string | undefined {
  const shown = exportMessages(run).find(({ key }) => key.startsWith(`${run.id}.${part}`));
  return shown && reads(shown.message);
}

/** A run with its ending. */
export const ended = (ending: Ending, changes: Partial<ExportRun> = {}) =>
  aRun({ state: 'ended', ending, completedAtMs: NOW_MS, ...changes });
