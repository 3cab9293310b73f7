import { describe, expect, test } from 'vitest';
import { ana, docs, message, workspace } from '../../test-support/page.tsx';
import type { Entity } from '../protocol.ts';
import { applied, NOTHING } from './state/reducer.ts';
import { newestTs, sceneOf } from './state/scene.ts';

const fresh = (...put: Entity[]) => applied(NOTHING, { fresh: true, put, gone: [] });

describe('changes', () => {
  test('what is put replaces what had the same key, and what is gone is gone', () => {
    const world = fresh(ana, docs, message('1.0'), message('2.0'));
    const after = applied(world, {
      fresh: false,
      put: [message('1.0', { text: 'edited' })],
      gone: ['message C0DOCS 2.0'],
    });

    expect(sceneOf(after).messages.get('C0DOCS')).toEqual([message('1.0', { text: 'edited' })]);
    expect(sceneOf(world).messages.get('C0DOCS')).toHaveLength(2);
  });

  test('a connection that begins anew forgets what was shown before', () => {
    const after = applied(fresh(ana, docs, message('1.0')), { fresh: true, put: [workspace], gone: [] });

    expect([...after.values()]).toEqual([workspace]);
  });

  test('an ephemeral and a message of the same time are two', () => {
    const world = fresh(message('1.0'), message('1.0', { ephemeral: true }));

    expect(sceneOf(world).messages.get('C0DOCS')).toHaveLength(2);
  });
});

describe('the scene', () => {
  const root = message('1.0');
  const reply = message('2.0', { threadTs: '1.0' });
  const broadcast = message('3.0', { threadTs: '1.0', broadcast: true });
  const whisper = message('4.0', { threadTs: '1.0', ephemeral: true });
  const other = message('10.0', { user: 'U0BEN' });
  const all = [root, reply, broadcast, whisper, other];

  test('what one wrote oneself is nothing new', () => {
    expect(newestTs(all, 'U0ANA')).toBe('10.0');
    expect(newestTs(all, 'U0BEN')).toBe('3.0');
    expect(newestTs([], 'U0BEN')).toBe('0');
  });
});
