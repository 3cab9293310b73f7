import type { Message } from '../../../src/slack/blocks.ts';

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
