import { expect, onTestFinished, test } from 'vitest';
import { createChannelIds } from '../../src/slack/web-calls.ts';

test('the id of a channel is exchanged wherever it stands in JSON or in a form, and nothing else is', async () => {
  const ids = createChannelIds();
  onTestFinished(ids.stop);
  await ids.begin(async () => ({ C0OLD: 'C0NEW' }), 60_000);
  const text = (id: string) =>
    [
      JSON.stringify({ channel: id, text: `<#${id}|docs>\n${id}`, other: 'C0OLDER' }),
      new URLSearchParams({ value: `${id},${id}`, url: `https://a.example/?c=${id}|${id}` }).toString(),
    ].join(' ');
  expect(ids.toSlack(text('C0OLD'))).toBe(text('C0NEW'));
  expect(ids.fromSlack(text('C0NEW'))).toBe(text('C0OLD'));
});
