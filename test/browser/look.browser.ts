import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { beginVisit, type Visit, type Visitor, whyNot } from './visitor.ts';

const missing = await whyNot();
const THEMES = ['light', 'dark'] as const;
/** Run in the page: on how many lines the words of a cell stand at most, and whether one has to scroll sideways. */
const mostLines = `Math.max(...Array.from(document.querySelectorAll('aside.thread :is(th, td)'), (cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
}))`;
const widerThanScreen = 'document.documentElement.scrollWidth > innerWidth';
/** Of a test with many steps, on a busy machine. */
const LONG_MS = 240_000;

/** How the page looks and where it shows things, on a desk and on a phone. */
describe.skipIf(missing !== undefined)('the look of the demo', () => {
  let visit: Visit;
  let ana: Visitor;
  beforeAll(async () => {
    visit = await beginVisit();
    ana = await visit.open({ width: 1400 });
  });
  afterAll(() => visit?.end());
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.warn(`What ${task.name} saw: ${await ana?.picture()}`);
  });

  /** Opens the thread of the week's digest, which has what readers looked for and all its buttons. */
  async function opensDigest(visitor: Visitor): Promise<void> {
    const digest = await visitor.reads(visitor.channel, /docs\.acme\.com[\s\S]*views[\s\S]*replies/);
    await visitor.opensThread(digest);
    await visitor.reads(visitor.thread, /Ask the agent/);
  }

  test('an empty channel names the tour where it is', async () => {
    await expect.poll(() => ana.channel.textContent()).toMatch(/let the tour above type it for you/);
  });

  test('what a command came to is said where it was typed, also beside an open thread', async () => {
    await ana.types('/docs-digest last week');
    await opensDigest(ana);
    await ana.types('/docs-nothing');
    await ana.channel
      .getByRole('alert')
      .filter({ hasText: '/docs-nothing is not a valid command' })
      .waitFor();
    expect(await ana.thread.getByRole('alert').count()).toBe(0);

    await ana.channel.getByRole('combobox').fill('');
    const field = ana.thread.getByRole('combobox');
    await field.fill('/docs-export');
    await field.press('Enter');
    await ana.thread.getByRole('alert').filter({ hasText: 'not supported in threads' }).waitFor();
    expect(await ana.channel.getByRole('alert').count()).toBe(0);
    await field.fill('');
  });

  test('a table stays readable beside everything else, and scrolls in its own box', async () => {
    await ana.thread.locator('section.table').first().waitFor();
    expect(await ana.page.evaluate(mostLines)).toBeLessThanOrEqual(2);
    expect(await ana.page.evaluate(widerThanScreen)).toBe(false);
  });

  test('what worked is not shown as wrong in the timeline', async () => {
    await ana.panel.getByRole('button', { name: '+1 hour' }).click();
    await ana.panel.getByRole('tab', { name: 'Timeline' }).click();
    const row = ana.panel.getByRole('listitem').filter({ hasText: 'done' }).first();
    await row.waitFor();
    expect(await row.getAttribute('class')).not.toContain('wrong');
    await ana.panel.getByRole('tab', { name: 'Trouble' }).click();
  });

  test(
    'a follow-up updates the pull request of its job; a reply that is held has ⏸',
    async () => {
      await ana.types('/docs-agent new Add an example to the quickstart');
      const job = /docs agent · [\s\S]*repl/i;
      await ana.opensThread(await ana.reads(ana.channel, job));
      await ana.reads(ana.thread, /opened a pull request/);
      await ana.replies('Also add error handling.');
      const ending = await ana.reads(ana.thread, /same pull request/);
      expect(await ending.textContent()).toContain('acme/docs#101');

      const ben = await visit.open();
      await ben.speaksAs('Ben');
      await ben.opensThread(await ben.reads(ben.channel, job));
      const held = await ben.replies('What would you say?');
      const reaction = held.getByRole('button', { name: /^double_vertical_bar: / });
      await reaction.waitFor();
      expect(await reaction.textContent()).toMatch(/^⏸/);
      await ben.page.context().close();
    },
    LONG_MS,
  );

  test.each(THEMES)(
    'a phone shows one pane at a time, each with a way back: %s',
    async (theme) => {
      const phone = await visit.open({ theme, width: 390, height: 844 });
      const { page, channel, thread, panel } = phone;
      const list = page.getByRole('navigation');
      const shows = async (pane: Locator) => {
        await pane.waitFor();
        const visible = [list, channel, thread, panel].map((one) => one.isVisible());
        expect((await Promise.all(visible)).filter(Boolean)).toHaveLength(1);
        expect((await pane.boundingBox())?.width).toBe(390);
        expect(await page.evaluate(widerThanScreen)).toBe(false);
        expect(await phone.problems()).toEqual([]);
      };
      await shows(channel);
      await opensDigest(phone);
      await shows(thread);
      await thread.getByRole('button', { name: 'Back to #docs' }).click();
      await shows(channel);
      await channel.getByRole('button', { name: 'All conversations' }).click();
      await shows(list);
      await phone.goesTo('shared');
      await shows(channel);
      await channel.getByRole('button', { name: 'All conversations' }).click();
      await page.getByRole('button', { name: 'Docket Home' }).click();
      await shows(channel);
      await page.getByRole('button', { name: 'Behind the scenes' }).click();
      await shows(panel);
      await panel.getByRole('button', { name: 'End the links now' }).click();
      await panel.getByRole('button', { name: 'Hide this panel' }).click();
      await shows(channel);
      await page.context().close();
    },
    LONG_MS,
  );
});
