import { memo, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Message as Sent } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { Menu } from '../blocks/controls.tsx';
import { timeText } from '../blocks/date.ts';
import { emojiOf } from '../blocks/emoji.ts';
import { Mrkdwn } from '../blocks/inline.tsx';
import { Avatar } from '../shell/mark.tsx';
import { usePage } from '../shell/page-context.ts';
import { isReply, nameOf } from '../state/scene.ts';
import { Around } from './around.tsx';
import { asTyped } from './complete.ts';
import { Files } from './files.tsx';

interface MessageProps {
  message: Sent;
  /** Those that everybody sees; given where a summary of them is to be shown. */
  replies?: Sent[] | undefined;
  /** Written by the one above it, shortly before. */
  follows: boolean;
  editing: boolean;
  setEditing(ts: string | undefined): void;
}

export const Message = memo(function Message(props: MessageProps): ReactNode {
  const { message, replies = [], follows, editing, setEditing } = props;
  const page = usePage();
  const { scene } = page;
  const author = scene.people.get(message.user);
  const name = nameOf(scene, message.user);
  const { channel, ts, ephemeral } = message;
  const target = ephemeral ? { channel, ts, ephemeral } : { channel, ts };
  const classes = ['message', ephemeral && 'ephemeral', follows && 'follows', message.deleted && 'deleted'];
  return (
    <article
      className={classes.filter(Boolean).join(' ')}
      data-ts={ts}
      data-ephemeral={ephemeral || undefined}
      aria-label={`${name}, ${timeText(Number(ts))}`}
      tabIndex={-1}
    >
      <div className="gutter">
        {follows ? <time>{timeText(Number(ts))}</time> : <Avatar name={name} bot={author?.isBot ?? false} />}
      </div>
      <div className="content">
        {ephemeral && <p className="only-you">Only visible to you</p>}
        {message.broadcast && (
          <button
            type="button"
            className="also-in"
            onClick={() => page.openThread(channel, message.threadTs ?? ts)}
          >
            Replied to a thread
          </button>
        )}
        {!follows && (
          <header>
            <b>{name}</b>
            {author?.isBot && <span className="tag">APP</span>}
            {author?.isGuest && <span className="tag">GUEST</span>}
            <time className="when" dateTime={new Date(Number(ts) * 1000).toISOString()}>
              {timeText(Number(ts))}
            </time>
          </header>
        )}
        {editing ? (
          <Edit message={message} onDone={() => setEditing(undefined)} />
        ) : (
          <Around target={target}>
            <Content message={message} />
          </Around>
        )}
        <Files files={message.files} />
        <Reactions message={message} />
        {replies.length > 0 && <Summary message={message} replies={replies} />}
      </div>
      {!message.deleted && !editing && <Toolbar message={message} setEditing={setEditing} />}
    </article>
  );
});

function Content({ message }: { message: Sent }): ReactNode {
  if (message.deleted) return <p className="gone">This message was deleted.</p>;
  const edited = message.edited && message.blocks.length === 0 && <span className="edited"> (edited)</span>;
  if (message.blocks.length > 0)
    return (
      <>
        <Blocks blocks={message.blocks} />
        {message.edited && <span className="edited">(edited)</span>}
      </>
    );
  return (
    <div className="lines">
      <Mrkdwn text={message.text} />
      {edited}
    </div>
  );
}

function Edit({ message, onDone }: { message: Sent; onDone(): void }): ReactNode {
  const { act, scene } = usePage();
  const [text, setText] = useState(() => asTyped(message.text, scene.people, scene.conversations));
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);
  const save = async () => {
    if (text.trim() === '') return;
    onDone();
    await act({ do: 'edit', channel: message.channel, ts: message.ts, text: text.trim() });
  };
  return (
    <div className="edit">
      <textarea
        ref={field}
        aria-label="Edit the message"
        rows={2}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone();
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          save();
        }}
      />
      <button type="button" className="button" onClick={onDone}>
        Cancel
      </button>
      <button type="button" className="button primary" onClick={save}>
        Save
      </button>
    </div>
  );
}

function Reactions({ message }: { message: Sent }): ReactNode {
  const { act, me, scene } = usePage();
  const { channel, ts, reactions } = message;
  if (reactions.length === 0) return null;
  return (
    <div className="reactions">
      {reactions.map(({ name, users }) => {
        const mine = users.includes(me);
        const who = users.map((user) => nameOf(scene, user)).join(', ');
        return (
          <button
            key={name}
            type="button"
            aria-pressed={mine}
            aria-label={`${name}: ${who}`}
            title={`${who} reacted with :${name}:`}
            onClick={() => act({ do: 'react', channel, ts, name, wanted: !mine })}
          >
            {emojiOf(name)} <span>{users.length}</span>
          </button>
        );
      })}
    </div>
  );
}

function Summary({ message, replies }: { message: Sent; replies: Sent[] }): ReactNode {
  const { scene, openThread, nowMs } = usePage();
  const last = replies.at(-1);
  const authors = [...new Set(replies.map(({ user }) => user))].slice(0, 3);
  const minutes = Math.floor((nowMs / 1000 - Number(last?.ts ?? 0)) / 60);
  return (
    <button type="button" className="summary" onClick={() => openThread(message.channel, message.ts)}>
      {authors.map((user) => (
        <Avatar key={user} name={nameOf(scene, user)} bot={scene.people.get(user)?.isBot ?? false} />
      ))}
      <b>
        {replies.length} {replies.length === 1 ? 'reply' : 'replies'}
      </b>
      <span>{minutes < 1 ? 'Last reply just now' : `Last reply at ${timeText(Number(last?.ts))}`}</span>
    </button>
  );
}

const QUICK = ['eyes', 'white_check_mark'];

function Toolbar({ message, setEditing }: Pick<MessageProps, 'message' | 'setEditing'>): ReactNode {
  const page = usePage();
  const { act, me, scene } = page;
  const { channel, ts } = message;
  if (message.ephemeral) return null;
  const root = isReply(message) ? (message.threadTs ?? ts) : ts;
  const shortcuts = scene.workspace?.messageShortcuts ?? [];
  const own = message.user === me ? ['Edit message', 'Delete message'] : [];
  const choose = async (entry: string) => {
    if (entry === 'Edit message') return setEditing(ts);
    if (entry !== 'Delete message') return act({ do: 'shortcut', name: entry, message: { channel, ts } });
    const question = {
      title: 'Delete message',
      text: 'It cannot be brought back.',
      yes: 'Delete',
      no: 'Cancel',
    };
    if (await page.ask({ ...question, danger: true })) await act({ do: 'delete', channel, ts });
  };
  return (
    <div className="toolbar" role="toolbar" aria-label="Message actions">
      {QUICK.map((name) => {
        const wanted = !message.reactions.some((one) => one.name === name && one.users.includes(me));
        return (
          <button
            key={name}
            type="button"
            aria-label={`React with ${name}`}
            title={`React with :${name}:`}
            onClick={() => act({ do: 'react', channel, ts, name, wanted })}
          >
            {emojiOf(name)}
          </button>
        );
      })}
      <button
        type="button"
        aria-label="Reply in thread"
        title="Reply in thread"
        onClick={() => page.openThread(channel, root)}
      >
        💬
      </button>
      <Menu label="More message actions" className="" entries={[...shortcuts, ...own]} onChoose={choose} />
    </div>
  );
}
