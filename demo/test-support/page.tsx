import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Blocks } from '../browser/page/blocks/blocks.tsx';
import { type Around, AroundContext } from '../browser/page/blocks/context.ts';
import type { Block, Conversation, Entity, PersonHere } from '../browser/protocol.ts';

const person = (name: string, realName: string, rest: Partial<PersonHere> = {}): PersonHere => ({
  kind: 'person',
  id: `U0${name.toUpperCase()}`,
  name,
  realName,
  isBot: false,
  isGuest: false,
  ...rest,
});

const conversation = (id: string, label: string, type: Conversation['type'] = 'public'): Conversation => ({
  kind: 'conversation',
  id,
  label,
  type,
  archived: false,
  hasBot: true,
});

const ana = person('ana', 'Ana Alves');
const ben = person('ben', 'Ben Brandt');
const docket = person('docket', 'Docket', { isBot: true });
const docs = conversation('C0DOCS', '#docs');
const secret = conversation('G0SECRET', '#secret', 'private');

const workspace: Entity & { kind: 'workspace' } = {
  kind: 'workspace',
  name: 'Acme',
  me: { id: 'U0ANA', name: 'ana' },
  bot: 'U0DOCKET',
  commands: [
    { command: '/docs-export', description: 'Export a site', usageHint: '[domain]' },
    { command: '/docs-status', description: 'See what runs', usageHint: '' },
  ],
  messageShortcuts: [],
  globalShortcuts: [],
};

const NOW_MS = Date.UTC(2026, 8, 20, 14);

const around: Around = {
  scene: {
    workspace,
    conversations: [docs, secret],
    people: new Map([ana, ben, docket].map((one) => [one.id, one])),
  },
  nowMs: NOW_MS,
  use: () => {},
  openThread: () => {},
};

export const drawn = (inside: ReactNode): string =>
  renderToStaticMarkup(<AroundContext value={around}>{inside}</AroundContext>);

export const drawnBlock = (block: Block): string => drawn(<Blocks blocks={[block]} />);
