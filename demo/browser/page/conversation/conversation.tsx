import { type ReactNode, useState } from 'react';
import type { Message } from '../../protocol.ts';
import { Back, BackToList } from '../shell/back.tsx';
import { PageContext, usePage } from '../shell/page-context.ts';
import { inChannel, inThread, repliesByRoot } from '../state/scene.ts';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';

const lastOwn = (messages: Message[], me: string) =>
  messages.findLast(({ user, deleted, ephemeral }) => user === me && !deleted && !ephemeral)?.ts;

/** `children` stand above its messages. */
export function Conversation({ id, children }: { id: string; children?: ReactNode }): ReactNode {
  const { scene, me } = usePage();
  const [editing, setEditing] = useState<string>();
  const conversation = scene.conversations.find((one) => one.id === id);
  if (!conversation) return null;
  const all = scene.messages.get(id) ?? [];
  const messages = inChannel(all);
  const { label, archived, hasBot, type } = conversation;
  return (
    <main className="conversation">
      <header className="pane-head">
        <BackToList />
        <h1>{label}</h1>
        <span>{noteOn(type, hasBot)}</span>
      </header>
      {children}
      <MessageList
        messages={messages}
        label={`Messages in ${label}`}
        replies={repliesByRoot(all)}
        editing={editing}
        setEditing={setEditing}
      />
      {messages.length === 0 && !children && <p className="empty">Nothing was written in {label} yet.</p>}
      {archived ? (
        <p className="archived">{label} is archived: nobody can write here.</p>
      ) : (
        <Composer
          channel={id}
          placeholder={`Message ${label}`}
          onEditLast={() => setEditing(lastOwn(messages, me))}
        />
      )}
    </main>
  );
}

function noteOn(type: string, hasBot: boolean): string {
  if (type === 'im' || type === 'mpim') return '';
  return hasBot ? 'Docket is here' : 'Docket is not here: /invite @docket';
}

/** The pane at the side, with one thread. */
export function Thread({ channel, root }: { channel: string; root: string }): ReactNode {
  const page = usePage();
  const { scene, me, closeThread } = page;
  const [editing, setEditing] = useState<string>();
  const messages = inThread(scene.messages.get(channel) ?? [], root);
  const conversation = scene.conversations.find((one) => one.id === channel);
  return (
    <aside className="thread" aria-label="Thread">
      <header className="pane-head">
        <Back to={`Back to ${conversation?.label}`} onClick={closeThread} />
        <h2>Thread</h2>
        <span>{conversation?.label}</span>
        <button type="button" className="close" aria-label="Close the thread" onClick={closeThread}>
          ✕
        </button>
      </header>
      <PageContext value={{ ...page, act: (deed) => page.act(deed, root) }}>
        <MessageList
          key={root}
          messages={messages}
          label="Messages in the thread"
          editing={editing}
          setEditing={setEditing}
        />
        {!conversation?.archived && (
          <Composer
            channel={channel}
            threadTs={root}
            placeholder="Reply…"
            onEditLast={() => setEditing(lastOwn(messages, me))}
          />
        )}
      </PageContext>
    </aside>
  );
}
