import { expect, test } from 'vitest';
import { visibleThread } from '../../../src/jobs/agent/thread/record.ts';
import { canSee, filterVisible, type Viewer } from '../../../src/jobs/shared/origin.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';
import { aRun } from '../../support/jobs/export/builders.ts';

const ben: Viewer = { user: { id: 'U0BEN', fullMember: true }, channel: { id: 'C0ELSE' } };
const inDocs = { channel: 'C0DOCS', joinable: true, isPublic: true };

/** A Slack in which these channels are public now; `asked` has those that were asked about. */
function publicNow(...channels: string[]) {
  const asked: string[] = [];
  const isPublic = async (channel: string) => {
    asked.push(channel);
    return channels.includes(channel);
  };
  return { isPublic, asked };
}

test.each([
  ['a thread', visibleThread(aThread({ asked: inDocs }))],
  ['an export', aRun({ asked: inDocs })],
])('%s of a channel that was public is seen from elsewhere only while it still is', async (_, run) => {
  const now = publicNow('C0DOCS');
  const later = publicNow();
  expect(await canSee(run, ben, now.isPublic)).toBe(true);
  expect(await canSee(run, ben, later.isPublic)).toBe(false);
  expect(await canSee(run, { ...ben, channel: { id: 'C0DOCS' } }, later.isPublic)).toBe(true);
  expect(await canSee(run, { ...ben, user: { id: 'U0ANA', fullMember: false } }, later.isPublic)).toBe(true);
  expect([now.asked, later.asked]).toEqual([['C0DOCS'], ['C0DOCS']]);
});

test('Slack is not asked where nothing depends on it', async () => {
  const { isPublic, asked } = publicNow('C0DOCS');
  const sees = (thread: Parameters<typeof aThread>[0], viewer = ben) =>
    canSee(visibleThread(aThread({ asked: inDocs, ...thread })), viewer, isPublic);
  expect(await sees({ asked: { ...inDocs, isPublic: false } })).toBe(false);
  expect(await sees({ inDirectMessage: true })).toBe(false);
  expect(await sees({}, { ...ben, user: { id: 'U0GUS', fullMember: false } })).toBe(false);
  expect(asked).toEqual([]);
});

test('of a list, the first thirty channels are asked about, and the rest counts as private', async () => {
  const channels = Array.from({ length: 40 }, (_, n) => `C0N${n}`);
  const { isPublic, asked } = publicNow(...channels);
  const place = (channel: string) => ({ asked: { ...inDocs, channel }, place: { channel, rootTs: '1.1' } });
  const threads = [...channels, ...channels].map((channel) => aThread(place(channel)));
  const seen = await filterVisible(threads, visibleThread, ben, isPublic);
  expect(new Set(asked)).toEqual(new Set(channels.slice(0, 30)));
  expect(seen).toEqual([...threads.slice(0, 30), ...threads.slice(40, 70)]);
});
