import type { ReactNode } from 'react';
import { Message, type MessageProps } from 'slack-blocks-to-jsx';
import type { Block } from '../../protocol.ts';
import { useAround } from './context.ts';
import { dateText } from './date.ts';

/** A block of Markdown, as a library draws it. */
export function LibraryBlock({ block }: { block: Block }): ReactNode {
  const { scene, nowMs } = useAround();
  const names: NonNullable<MessageProps['data']> = {
    users: [...scene.people.values()].map(({ id, realName }) => ({ id, name: realName })),
    channels: scene.conversations.map(({ id, label }) => ({ id, name: label.replace(/^#/, '') })),
  };
  const hooks: NonNullable<MessageProps['hooks']> = {
    user: ({ id, name }) => <span className="mention">@{name || id}</span>,
    channel: ({ id, name }) => <span className="mention">#{name || id}</span>,
    date: ({ timestamp, format }) => dateText(Number(timestamp), format, nowMs),
  };
  const blocks = [block] as unknown as NonNullable<MessageProps['blocks']>;
  return (
    <div className="by-library">
      <Message blocks={blocks} name="" logo="" hooks={hooks} data={names} withoutWrapper />
    </div>
  );
}
