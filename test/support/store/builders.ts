import { z } from 'zod';
import type { AuditEntry } from '../../../src/store/audit.ts';
import type { DeliveryChanges, MessageStore, WantedMessage } from '../../../src/store/messages.ts';
import { runBase } from '../../../src/store/runs.ts';
import type { ThreadPlace } from '../../../src/store/threads.ts';
import { NOW_MS } from '../builders.ts';

export const thread = runBase.extend({ note: z.string() });
export type Thread = z.infer<typeof thread>;

/** A run that follows a thread, as the stores see it. */
export const aThread = (changes: Partial<Thread> = {}): Thread => ({
  id: 't1',
  teamId: 'T0ACME',
  job: 'agent-thread',
  rev: 1,
  people: [],
  permanent: true,
  note: 'first',
  ...changes,
});

export const place: ThreadPlace = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1789914659.000100' };

/** A message as somebody may want it. */
export function aMessage(changes: Partial<WantedMessage> = {}): WantedMessage {
  return {
    teamId: 'T0ACME',
    place: { channel: 'C0DOCS' },
    kind: 'state',
    text: 'Running',
    blocks: [{ type: 'divider' }],
    hash: 'running',
    ...changes,
  };
}

/** Records what is known of the delivery of a message. */
export async function noteDelivery(messages: MessageStore, key: string, changes: DeliveryChanges) {
  const record = await messages.load(key);
  if (record) await messages.save(record, changes);
}

/** Ana asked for an export in #docs. */
export const anAuditEntry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  atMs: NOW_MS,
  user: { id: 'U0ANA', name: 'ana' },
  channel: 'C0DOCS',
  what: '/docs-export',
  subject: 'docs.acme.com',
  result: 'accepted',
  ...changes,
});

/** A kind of run, as the stores see one. */
export const note = runBase.extend({ note: z.string() });
export type Note = z.infer<typeof note>;
export const aNote = (changes: Partial<Note> = {}): Note => ({
  id: 'r1',
  teamId: 'T0ACME',
  job: 'export',
  rev: 1,
  claim: 'docs.acme.com',
  people: [],
  note: 'first',
  ...changes,
});
