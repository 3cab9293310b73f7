import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { KnownBlock, PlainTextElement } from '@slack/types';
import { createElement, Fragment, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { type Block, Message, type MessageProps } from 'slack-blocks-to-jsx';
import type { MessageBlock } from '../../src/store/messages.ts';
import { NOW_MS } from '../support/builders.ts';
import type { GalleryState } from './state.ts';
import { channels, dateText, people } from './words.ts';

export type Theme = 'light' | 'dark';

/** An empty picture stands for the app's own, for people's, and for files in Slack. */
const pictureOf = (width: number, height: number, color: string) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" rx="3" fill="${color}"/></svg>`)}`;
const PICTURE = pictureOf(36, 36, '#611f69');
const FILE = pictureOf(540, 280, '#8886');

const listed = (names: Record<string, string>) => Object.entries(names).map(([id, name]) => ({ id, name }));

const names: NonNullable<MessageProps['data']> = {
  users: listed(people).map((user) => ({ ...user, avatar: PICTURE })),
  channels: listed(channels),
};

const hooks: NonNullable<MessageProps['hooks']> = {
  user: ({ id, name }) => createElement('span', { className: 'mention' }, `@${name || id}`),
  channel: ({ id, name }) => createElement('span', { className: 'mention' }, `#${name || id}`),
  date: ({ timestamp, format }) => dateText(Number(timestamp), format),
};

/** What the library cannot show: a file in Slack, and what is chosen in a select, which takes the placeholder's place. */
function adapted(block: KnownBlock | MessageBlock): KnownBlock | MessageBlock {
  if (block.type === 'image' && 'slack_file' in block)
    return { type: 'image', image_url: FILE, alt_text: block.alt_text };
  if (block.type !== 'input') return block;
  if (block.element.type === 'conversations_select' && block.element.initial_conversation !== undefined) {
    const name = channels[block.element.initial_conversation] ?? block.element.initial_conversation;
    const placeholder: PlainTextElement = { type: 'plain_text', text: `#${name}` };
    return { ...block, element: { ...block.element, placeholder } };
  }
  if (block.element.type !== 'static_select') return block;
  const { initial_option: chosen, option_groups: _, ...element } = block.element;
  if (chosen === undefined) return block;
  return {
    ...block,
    element: { ...element, options: [chosen], placeholder: chosen.text as PlainTextElement },
  };
}

function drawBlocks(
  blocks: readonly (KnownBlock | MessageBlock)[],
  theme: Theme,
  withoutWrapper: boolean,
): ReactNode {
  return createElement(Message, {
    blocks: blocks.map(adapted).map(withMarkup) as unknown as Block[],
    name: 'Docket',
    logo: PICTURE,
    time: new Date(NOW_MS),
    theme,
    hooks,
    data: names,
    withoutWrapper,
  });
}

/** The library takes `verbatim` for plain text; in Slack it only makes no links of addresses and names. */
const withMarkup = <T>(block: T): T =>
  JSON.parse(JSON.stringify(block), (key, value) => (key === 'verbatim' ? undefined : value));

const isOneLine = (block: KnownBlock) =>
  block.type === 'input' && block.element.type === 'plain_text_input' && !block.element.multiline;

const div = (className: string, ...children: ReactNode[]) =>
  createElement('div', { className, key: className }, ...children);

/** Returns one state as HTML, for a page that has `styles`. */
export function draw({ shown }: GalleryState, theme: Theme): string {
  switch (shown.kind) {
    case 'message':
      return renderToStaticMarkup(drawBlocks(shown.message.blocks, theme, false));
    case 'home':
      return renderToStaticMarkup(drawBlocks(shown.view.blocks as KnownBlock[], theme, true));
    case 'modal': {
      const { title, submit, close, blocks } = shown.view;
      const buttons = [close?.text, submit?.text].filter((label) => label !== undefined);
      return renderToStaticMarkup(
        createElement(
          Fragment,
          null,
          div('modal-title', title.text),
          ...(blocks as KnownBlock[]).map((block, key) =>
            createElement(
              'div',
              { key, className: isOneLine(block) ? 'one-line' : '' },
              drawBlocks([block], theme, true),
            ),
          ),
          div('modal-buttons', ...buttons.map((label) => createElement('b', { key: label }, label))),
        ),
      );
    }
  }
}

/** Slack's letters are Lato's. */
const OWN_STYLES = `
* { font-family: Lato, "Noto Color Emoji", sans-serif !important; box-sizing: border-box; }
pre, pre *, code, code * { font-family: "DejaVu Sans Mono", monospace !important; }
body { margin: 0; }
.light { background: #fff; color: #1d1c1d; }
.dark { background: #1a1d21; color: #d1d2d3; }
.state { padding: 8px 16px; }
.state .slack_blocks_to_jsx { max-width: none; }
/* A wide table moves within its message, as in Slack. */
.state .slack_blocks_to_jsx__table { display: block; max-width: 100%; overflow-x: auto; }
.state .slack_blocks_to_jsx > div:last-child, .state section > div:last-child { min-width: 0; }
/* The library draws every field for text as one for many lines, and says how to submit it. */
.slack_blocks_to_jsx__input .text-small > p { display: none; }
.one-line textarea { height: 36px !important; min-height: 0 !important; }
.mention { color: #1264a3; background: #1d9bd11a; border-radius: 3px; padding: 0 2px; }
.dark .mention { color: #1d9bd1; }
.modal-title { font-weight: 900; font-size: 20px; padding-bottom: 12px; }
.modal-buttons { display: flex; justify-content: flex-end; gap: 12px; padding-top: 12px; }
.modal-buttons b { border: 1px solid #8888; border-radius: 4px; padding: 6px 12px; }`;

/** Returns what a page with drawn states needs for its head. */
export function styles(): string {
  const library = fileURLToPath(import.meta.resolve('slack-blocks-to-jsx/dist/style.css'));
  return `${readFileSync(library, 'utf8')}\n${OWN_STYLES}`;
}
