import { describe, expect, test } from 'vitest';
import { threadNeeds } from '../../src/jobs/agent/thread/ephemeral-view.ts';
import { anInstruction, aThread, aTrouble } from '../support/jobs/agent/builders.ts';
import { reads } from '../support/slack/rendering.ts';

const ana = { id: 'U0ANA', name: 'ana' };

describe('a thread', () => {
  test('tells nobody of somebody else’s reply', () => {
    const thread = aThread({ instructions: [anInstruction({ id: '1.1', by: ana, excerpt: 'secret' })] });
    expect(reads(threadNeeds.answered(thread, { user: 'U0BEN', id: 'held 1.1' }))).not.toContain('secret');
    const trouble = aTrouble({
      id: '1.2',
      by: ana,
      excerpt: 'secret',
      answer: { by: ana, action: 'leave' },
    });
    const need = { user: 'U0BEN', id: `send 1.2 ${trouble.attempt}` };
    expect(reads(threadNeeds.answered(aThread({ instructions: [trouble] }), need))).not.toContain('secret');
  });
});
