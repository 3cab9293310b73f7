import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenDemo, openStandIns, type Page } from '../test-support/browser.ts';

let demo: OpenDemo;
let [ana, ben, gus]: Page[] = [];
beforeAll(async () => {
  demo = await openStandIns();
  [ana, ben, gus] = [await demo.open('ana'), await demo.open('ben'), await demo.open('gus')];
});
afterAll(() => demo.close());

const pages = () => ({ ana: ana as Page, ben: ben as Page, gus: gus as Page });
const texts = (page: Page) => page.all('message').map(({ text }) => text);
const says = (page: Page, where: string, text: string, rest = {}) =>
  page.does({ do: 'write', channel: page.channel(where), text, ...rest });

test('begins with everything, and goes on with what is different', async () => {
  const { ana: page } = pages();
  const first = page.changes[0];
  expect(first).toMatchObject({ fresh: true, gone: [] });
  expect(first?.put).toContainEqual(expect.objectContaining({ kind: 'workspace', name: 'Acme' }));
  await says(page, '#docs', 'One & two');
  await page.until(() => texts(page).includes('One &amp; two'));
  const later = page.changes.slice(1);
  expect(later.length).toBeGreaterThan(0);
  expect(later.every(({ fresh }) => !fresh)).toBe(true);
  expect(
    later.flatMap(({ put }) => put).filter(({ kind }) => kind === 'workspace' || kind === 'person'),
  ).toEqual([]);
});

describe('a person sees', () => {
  test('only conversations they are in', () => {
    const { ana: page, gus: guest } = pages();
    const labels = (of: Page) => of.all('conversation').map(({ label }) => label);
    expect(labels(page)).toEqual(expect.arrayContaining(['#docs', '#secret', '#elsewhere', '#archive']));
    expect(labels(guest)).toEqual(expect.arrayContaining(['#docs', '#private']));
    for (const hidden of ['#secret', '#elsewhere']) expect(labels(guest)).not.toContain(hidden);
  });

  test('no message, ephemeral, modal, Home or file of others', async () => {
    const { ana: page, ben: colleague, gus: guest } = pages();
    const { slack } = demo.world;
    const { workspace } = slack;
    const docs = page.channel('#docs');
    const content = { text: 'for ben alone', blocks: [] };
    workspace.addEphemeral({ ...content, channel: docs, to: slack.person('ben').id, via: 'ack' });
    await says(page, '#secret', 'the secret plan');
    await colleague.until(
      () => texts(colleague).includes('for ben alone') && texts(colleague).includes('the secret plan'),
    );
    await says(guest, '#docs', 'the last one');
    await Promise.all([page, guest].map((one) => one.until(() => texts(one).includes('the last one'))));
    const told = (of: Page) => JSON.stringify(of.changes);
    expect(told(page)).not.toContain('for ben alone');
    expect(told(guest)).not.toContain('for ben alone');
    expect(told(guest)).not.toContain('the secret plan');
    expect(told(guest)).not.toContain('#secret');
  });

  test('nothing of others by what they do', async () => {
    const { ana: page, gus: guest } = pages();
    const channel = page.channel('#secret');
    const secret = await page.until(() => page.all('message').find(({ text }) => text === 'the secret plan'));
    const place = { channel, ts: secret.ts };
    const tried = [
      await guest.does({ do: 'write', channel, text: 'hello' }),
      await guest.does({ do: 'write', channel: '#secret', text: 'hello' }),
      await guest.does({ do: 'edit', ...place, text: 'changed' }),
      await guest.does({ do: 'delete', ...place }),
      await guest.does({ do: 'react', ...place, name: 'eyes', wanted: true }),
      await guest.does({ do: 'use', target: place, blockId: 'a', actionId: 'b' }),
      await guest.does({ do: 'shortcut', name: 'Tell the docs agent', message: place }),
      await guest.does({ do: 'use', target: { view: 'V1' }, blockId: 'a', actionId: 'b' }),
    ];
    for (const outcome of tried) {
      expect(outcome).toEqual({ ok: false, problem: expect.stringMatching(/^(?!.*secret).*\.$/) });
    }
    expect(secret).toMatchObject({ text: 'the secret plan', reactions: [] });
  });
});

describe('a person', () => {
  const sent = async (page: Page, text: string) => {
    expect(await says(page, '#docs', text)).toEqual({ ok: true });
    return page.until(() => page.all('message').find((message) => message.text === text));
  };

  test('edits, deletes and reacts', async () => {
    const { ana: page, ben: colleague } = pages();
    const { channel, ts } = await sent(page, 'a first draft');
    const seen = () => colleague.all('message').find((message) => message.ts === ts);
    expect(await page.does({ do: 'edit', channel, ts, text: 'a final one' })).toEqual({ ok: true });
    await colleague.until(() => seen()?.text === 'a final one' && seen()?.edited);
    expect(await colleague.does({ do: 'edit', channel, ts, text: 'mine' })).toEqual({
      ok: false,
      problem: 'Ben did not write this.',
    });
    await colleague.does({ do: 'react', channel, ts, name: '+1', wanted: true });
    await colleague.until(() => seen()?.reactions[0]?.name === '+1');
    await colleague.does({ do: 'react', channel, ts, name: '+1', wanted: false });
    await colleague.until(() => seen()?.reactions.length === 0);
    await page.does({ do: 'delete', channel, ts });
    await colleague.until(() => seen() === undefined);
    expect(colleague.changes.flatMap(({ gone }) => gone)).toContain(`message ${channel} ${ts}`);
  });
});
