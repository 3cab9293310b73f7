import type { ReactNode } from 'react';
import { type Conversation, VISITORS } from '../../protocol.ts';
import { Avatar, DocketMark } from './mark.tsx';
import { usePage } from './page-context.ts';
import { useUnread } from './use-unread.ts';

const ROLES = { ana: 'admin', ben: 'colleague', gus: 'guest' };

export function Sidebar(): ReactNode {
  const page = usePage();
  const { scene, place } = page;
  const unread = useUnread(page);
  const channels = scene.conversations.filter(({ type }) => type === 'public' || type === 'private');
  const direct = scene.conversations.filter(({ type }) => type === 'im' || type === 'mpim');
  const link = (one: Conversation) => {
    const isOpen = place !== 'home' && place?.conversation === one.id;
    const isNew = unread.has(one.id);
    return (
      <li key={one.id}>
        <button
          type="button"
          className={isNew ? 'unread' : ''}
          aria-current={isOpen ? 'page' : undefined}
          onClick={() => page.go({ conversation: one.id })}
        >
          <span className="kind" aria-hidden="true">
            {KINDS[one.type]}
          </span>
          {one.label.replace(/^#/, '')}
          {one.archived && <small>archived</small>}
          {isNew && <span className="unseen"> (new messages)</span>}
        </button>
      </li>
    );
  };
  return (
    <nav className="sidebar" aria-label="Workspace">
      <div className="workspace-name">{scene.workspace?.name ?? '…'}</div>
      <People />
      <ul>
        <li>
          <button
            type="button"
            aria-current={place === 'home' ? 'page' : undefined}
            onClick={() => page.go('home')}
          >
            <span className="kind">
              <DocketMark />
            </span>
            Docket Home
          </button>
        </li>
      </ul>
      <h2>Channels</h2>
      <ul>{channels.map(link)}</ul>
      {direct.length > 0 && <h2>Direct messages</h2>}
      <ul>{direct.map(link)}</ul>
    </nav>
  );
}

const KINDS = { public: '#', private: '🔒', im: '●', mpim: '●' };

/** Whom the visitor speaks as. */
function People(): ReactNode {
  const { scene, as, speakAs } = usePage();
  const people = [...scene.people.values()];
  return (
    <fieldset className="people">
      <legend>You speak as</legend>
      {VISITORS.map((visitor) => {
        const name = people.find((person) => person.name === visitor)?.realName ?? visitor;
        return (
          <label key={visitor}>
            <input
              type="radio"
              name="visitor"
              value={visitor}
              checked={as === visitor}
              onChange={() => speakAs(visitor)}
            />
            <Avatar name={name} bot={false} />
            <span>
              {name.split(' ')[0]}
              <small>{ROLES[visitor]}</small>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
