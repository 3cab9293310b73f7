import type { ElementHandle, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { contrastOf, kindOf, linesIn, widerThanScreen } from './in-page.mjs';
import { beginVisit, type Visit, type Visitor, whyNot } from './visitor.ts';

const missing = await whyNot();
const THEMES = ['light', 'dark'] as const;
const MIN_CONTRAST = 4.5;
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
    const table = ana.thread.locator('section.table').first();
    await table.waitFor();
    for (const cell of await table.locator('th, td').all())
      expect(await cell.evaluate(linesIn), (await cell.textContent()) ?? '').toBeLessThanOrEqual(2);
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

  /** Points at it. Returns the contrast; nothing where Docket has sent another in its place meanwhile. */
  async function contrastAt(button: ElementHandle): Promise<number | undefined> {
    try {
      await button.scrollIntoViewIfNeeded();
      await button.hover({ force: true });
      return await button.evaluate(contrastOf);
    } catch (error) {
      if (await button.evaluate('(one) => one.isConnected')) throw error;
      return undefined;
    }
  }

  /** Points at one of each kind of button that can be seen there. Returns the contrast of each kind. */
  async function pointedAt(place: Locator): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const buttons = place.locator(
      ':is(button, a.button, [role="option"], .people label):visible:not(:disabled)',
    );
    // Pointing at a message shows more buttons, so that their numbers would change.
    for (const button of await buttons.elementHandles()) {
      const kind = await button.evaluate(kindOf);
      if (found.has(kind)) continue;
      const contrast = await contrastAt(button);
      if (contrast !== undefined) found.set(kind, contrast);
    }
    return found;
  }

  test.each(THEMES)(
    'the words of every kind of button can be read while one points at it: %s',
    async (theme) => {
      const other = await visit.open({ theme });
      const { page, channel, thread, panel, dialog } = other;
      const contrasts = new Map<string, number>();
      const looksAt = async (place: Locator) => {
        for (const [kind, contrast] of await pointedAt(place)) contrasts.set(kind, contrast);
      };
      await opensDigest(other);
      await channel.getByRole('combobox').fill('/docs');
      await looksAt(page.locator('#page'));
      await channel.getByRole('combobox').fill('thanks!');
      await looksAt(channel.locator('.composer'));
      await channel.getByRole('combobox').press('Enter');
      await panel.getByRole('tab', { name: 'Timeline' }).click();
      await looksAt(panel);

      const own = other.messages(channel, 'thanks!').last();
      await own.hover();
      await looksAt(own);
      await own.getByRole('button', { name: 'More message actions' }).click();
      await looksAt(page.getByRole('menu'));
      await page.getByRole('menuitem', { name: 'Delete message' }).click();
      await looksAt(dialog);
      await dialog.getByRole('button', { name: 'Delete' }).click();

      await other.types('/docs-digest create');
      await dialog.getByRole('button', { name: 'Set up' }).waitFor();
      await looksAt(dialog);
      await page.keyboard.press('Escape');
      await expect.poll(() => dialog.count()).toBe(0);
      await page.getByRole('button', { name: 'Docket Home' }).click();
      await looksAt(channel);
      expect(await thread.count()).toBe(0);

      expect([...contrasts.keys()]).toEqual(
        expect.arrayContaining([
          'button',
          'button primary',
          'button danger',
          'button danger full',
          'send',
          'icon',
        ]),
      );
      expect([...contrasts].filter(([, contrast]) => contrast < MIN_CONTRAST)).toEqual([]);
      await page.context().close();
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
