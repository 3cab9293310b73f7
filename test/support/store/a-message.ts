import type { WantedMessage } from '../../../src/store/messages.ts';

/** A message as somebody may want it. */
export function aMessage(changes: Partial<WantedMessage> = {}): WantedMessage {
  return {
    v: 1,
    teamId: 'T0ACME',
    place: { channel: 'C0DOCS' },
    kind: 'state',
    text: 'Running',
    blocks: [{ type: 'divider' }],
    hash: 'running',
    ...changes,
  };
}
