import { Fragment, type ReactNode } from 'react';
import { nameOf } from '../state/scene.ts';
import { type Node, nodesOf, stringOf } from './block.ts';
import { useAround } from './context.ts';
import { dateText } from './date.ts';
import { emojiOf } from './emoji.ts';
import { keyed } from './keyed.ts';
import { type Inline, type Part, parsed } from './mrkdwn.ts';
import { threadOf } from './permalink.ts';

/** A link that opens beside the page, or a thread in it. Other addresses than http(s) are shown as text. */
function Link({ url, children }: { url: string; children: ReactNode }): ReactNode {
  const { scene, openThread } = useAround();
  if (!/^https?:\/\//i.test(url)) return <>{children}</>;
  const thread = threadOf(url);
  if (thread && scene.conversations.some(({ id }) => id === thread.channel))
    return (
      <button type="button" className="link" onClick={() => openThread(thread.channel, thread.root)}>
        {children}
      </button>
    );
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Mention({ id, name }: { id: string; name?: string | undefined }): ReactNode {
  const { scene } = useAround();
  const isMe = scene.workspace?.me.id === id;
  const shown = scene.people.has(id) ? nameOf(scene, id) : (name ?? id);
  return <span className={isMe ? 'mention mine' : 'mention'}>@{shown}</span>;
}

function ChannelName({ id, name }: { id: string; name?: string | undefined }): ReactNode {
  const { scene } = useAround();
  const label = scene.conversations.find((one) => one.id === id)?.label ?? `#${name ?? 'private channel'}`;
  return <span className="mention">{label}</span>;
}

function Moment({ seconds, format, url }: { seconds: number; format: string; url?: string | undefined }) {
  const { nowMs } = useAround();
  const iso = new Date(seconds * 1000).toISOString();
  const time = (
    <time dateTime={iso} title={new Date(seconds * 1000).toLocaleString('en-GB')}>
      {dateText(seconds, format, nowMs)}
    </time>
  );
  return url === undefined ? time : <Link url={url}>{time}</Link>;
}

const TAGS = { bold: 'strong', italic: 'em', strike: 's' } as const;

function drawInline(piece: Inline): ReactNode {
  switch (piece.is) {
    case 'text':
      return piece.text;
    case 'code':
      return <code>{piece.text}</code>;
    case 'link':
      return <Link url={piece.url}>{piece.text}</Link>;
    case 'user':
      return <Mention id={piece.id} name={piece.name} />;
    case 'channel':
      return <ChannelName id={piece.id} name={piece.name} />;
    case 'group':
      return <span className="mention">@{(piece.name ?? piece.id).replace(/^@/, '')}</span>;
    case 'broadcast':
      return <span className="mention mine">@{piece.range}</span>;
    case 'date':
      return <Moment seconds={piece.seconds} format={piece.format} url={piece.url} />;
    case 'emoji':
      return emojiOf(piece.name);
    default: {
      const Tag = TAGS[piece.is];
      return <Tag>{drawAll(piece.inside)}</Tag>;
    }
  }
}

/** Pieces have no identity of their own: their place is their key. */
const drawAll = (pieces: Inline[]): ReactNode =>
  keyed(pieces).map(({ key, item }) => <Fragment key={key}>{drawInline(item)}</Fragment>);

function drawPart(part: Part): ReactNode {
  if (part.is === 'preformatted') return <pre>{part.text}</pre>;
  if (part.is === 'quote') return <blockquote>{drawAll(part.inside)}</blockquote>;
  return <span>{drawAll(part.inside)}</span>;
}

export function Mrkdwn({ text }: { text: string }): ReactNode {
  return keyed(parsed(text)).map(({ key, item }) => <Fragment key={key}>{drawPart(item)}</Fragment>);
}

/** A text object: mrkdwn, or plain text in which only emoji names mean something. */
export function Text({ of }: { of: Node }): ReactNode {
  const text = stringOf(of.text) ?? '';
  if (of.type === 'mrkdwn') return <Mrkdwn text={text} />;
  return of.emoji === false ? text : text.replace(/:([a-z0-9_+-]+):/g, (_, name: string) => emojiOf(name));
}

/** The elements of a section of rich text. */
export function RichInline({ elements }: { elements: unknown }): ReactNode {
  return keyed(nodesOf(elements)).map(({ key, item }) => <Fragment key={key}>{styled(item)}</Fragment>);
}

function styled(element: Node): ReactNode {
  const style = (element.style ?? {}) as Record<string, boolean>;
  let shown = <RichElement of={element} />;
  if (style.code) shown = <code>{shown}</code>;
  if (style.bold) shown = <strong>{shown}</strong>;
  if (style.italic) shown = <em>{shown}</em>;
  if (style.strike) shown = <s>{shown}</s>;
  if (style.underline) shown = <u>{shown}</u>;
  if (style.highlight || style.client_highlight) shown = <mark>{shown}</mark>;
  return shown;
}

function RichElement({ of }: { of: Node }): ReactNode {
  const { scene } = useAround();
  switch (of.type) {
    case 'text':
      return stringOf(of.text);
    case 'link':
      return <Link url={String(of.url)}>{stringOf(of.text) ?? String(of.url)}</Link>;
    case 'user':
      return <Mention id={String(of.user_id)} />;
    case 'channel':
      return <ChannelName id={String(of.channel_id)} />;
    case 'usergroup':
      return <span className="mention">@{String(of.usergroup_id)}</span>;
    case 'team':
      return scene.workspace?.name ?? String(of.team_id);
    case 'broadcast':
      return <span className="mention mine">@{String(of.range)}</span>;
    case 'emoji':
      return emojiOf(String(of.name));
    case 'color':
      return (
        <span className="color-name">
          <i style={{ background: String(of.value) }} />
          {String(of.value)}
        </span>
      );
    case 'date':
      return <Moment seconds={Number(of.timestamp)} format={String(of.format)} url={stringOf(of.url)} />;
    default:
      return `[${String(of.type)}]`;
  }
}
