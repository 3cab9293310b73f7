import { Fragment, type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { Message as Sent } from '../../protocol.ts';
import { dayText } from '../blocks/date.ts';
import { usePage } from '../shell/page-context.ts';
import { Message } from './message.tsx';

interface MessageListProps {
  messages: Sent[];
  label: string;
  /** Given where replies are summed up. */
  replies?: Map<string, Sent[]>;
  editing: string | undefined;
  setEditing(ts: string | undefined): void;
}

/** Messages of the same person within so long stand together. */
const TOGETHER_S = 300;
/** Whoever is so near to the end reads along. */
const NEAR_END_PX = 120;

const keyOf = ({ ts, ephemeral }: Sent) => `${ts} ${ephemeral}`;

export function MessageList({ messages, label, replies, editing, setEditing }: MessageListProps): ReactNode {
  const { nowMs, me } = usePage();
  const list = useRef<HTMLDivElement>(null);
  const followed = useRef(true);
  const [hasNews, setNews] = useState(false);
  const last = messages.at(-1);
  const newest = useRef(last?.ts);
  const toEnd = () => {
    followed.current = true;
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  };
  useLayoutEffect(() => {
    const isNew = last !== undefined && Number(last.ts) > Number(newest.current ?? 0);
    newest.current = last?.ts;
    // What answers the visitor alone, or was written by them, comes into view.
    if (followed.current || (isNew && (last.ephemeral || last.user === me))) toEnd();
    else if (isNew) setNews(true);
  });
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = list.current ?? document.body;
    followed.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    if (followed.current) setNews(false);
  };
  /** From message to message by arrow keys, as in any list. */
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const target = event.target as HTMLElement;
    if (step === undefined || !(target === list.current || target.matches('.message'))) return;
    const all = [...(list.current?.querySelectorAll<HTMLElement>('.message') ?? [])];
    const at = all.indexOf(target);
    const next = at < 0 ? all.at(-1) : all[at + step];
    event.preventDefault();
    next?.focus();
  };
  return (
    <>
      <div
        className="messages"
        role="log"
        aria-label={label}
        aria-live="polite"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whatever scrolls has to be reached by keys.
        tabIndex={0}
        ref={list}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div className="push" />
        {messages.map((message, index) => {
          const before = messages[index - 1];
          const day = dayText(Number(message.ts), nowMs);
          const isNewDay = before === undefined || dayText(Number(before.ts), nowMs) !== day;
          return (
            <Fragment key={keyOf(message)}>
              {isNewDay && <div className="day">{day}</div>}
              <Message
                message={message}
                replies={replies?.get(message.ts)}
                follows={!isNewDay && standsWith(message, before)}
                editing={editing === message.ts}
                setEditing={setEditing}
              />
            </Fragment>
          );
        })}
      </div>
      {hasNews && (
        <button type="button" className="news button primary" onClick={toEnd}>
          New messages ↓
        </button>
      )}
    </>
  );
}

const standsWith = (message: Sent, before: Sent | undefined): boolean =>
  before !== undefined &&
  before.user === message.user &&
  !before.ephemeral &&
  !message.ephemeral &&
  !message.broadcast &&
  before.blocks.length === 0 &&
  Number(message.ts) - Number(before.ts) < TOGETHER_S;
