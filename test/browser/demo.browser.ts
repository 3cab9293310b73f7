import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Download, Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { DOMAIN } from '../../demo/browser/seed.ts';
import { unpack } from '../../demo/terminal/bundle.ts';
import { LABELS, SAYS } from '../../demo/words.ts';
import { describeVisit } from './describe-visit.ts';
import type { Visitor } from './visitor.ts';

describeVisit('a visitor of the demo', (shared) => {
  const { arrives } = shared;
  let ana: Visitor;

  /** Chooses it in the menu behind the three dots of the message's own buttons. */
  async function choosesIn(message: Locator, entry: string): Promise<void> {
    await message.getByRole('button', { name: 'More actions', exact: true }).click();
    await message.getByRole('menuitem', { name: entry }).click();
  }

  const starts = () => shared.visit.demo.world.platform.starts.length;
  /** The next export takes so long. */
  const lasts = (durationMs: number) => shared.visit.demo.world.platform.plan({ durationMs, pages: 128 });

  /** The README's picture of this moment; what it shows is compared, so that it cannot go stale. */
  async function pictured(visitor: Visitor, name: string): Promise<void> {
    await visitor.rests();
    if (process.env.SCREENSHOTS !== undefined) await visitor.pictureForReadme(name);
    await expect(await visitor.shown()).toMatchFileSnapshot(`./shown/${name}.txt`);
  }

  test('exports from the composer, follows its progress, and unpacks the bundle', async () => {
    ana = await arrives();
    expect(await ana.panel.count()).toBe(0);
    await ana.opensPanel();
    lasts(9000);
    const field = ana.channel.getByRole('combobox');
    await field.pressSequentially('/docs-exp');
    await ana.page.getByRole('option', { name: /\/docs-export/ }).waitFor();
    await field.pressSequentially(`ort ${DOMAIN} --version 4.1`);
    await field.press('Enter');
    const card = await ana.reads(ana.channel, SAYS.exporting);
    await ana.opensThread(card);
    const line = await ana.reads(ana.thread, /\d+%/);
    const seen = new Set<string>();
    const percent = async () => {
      const found = /(\d+)%/.exec((await line.textContent().catch(() => '')) ?? '')?.[1];
      if (found !== undefined) seen.add(found);
      return seen.size;
    };
    await expect.poll(percent).toBeGreaterThan(1);
    const ending = await ana.reads(ana.thread, SAYS.exported);

    // The browser opens a tab for it, which closes once it knows that it is a download.
    const downloaded = new Promise<Download>((resolve) => {
      ana.page.on('download', resolve);
      ana.page.context().on('page', (tab) => tab.on('download', resolve));
    });
    await ending.getByText(LABELS.download, { exact: true }).click();
    const download = await downloaded;
    const file = join(shared.visit.folder, 'bundle.tar.gz');
    await download.saveAs(file);
    expect(unpack(readFileSync(file), join(shared.visit.folder, 'bundle'))).toContain('index.html');
    expect(starts()).toBe(1);
    await ana.reads(ana.thread, SAYS.exported);
    await ana.reads(ana.channel, SAYS.exportedCard);
  });

  test('deploys to production in one click, and opens the site in the second: it looks like docs', async () => {
    const ending = await ana.reads(ana.thread, SAYS.exported);
    await ending.getByRole('button', { name: LABELS.deploy }).click();
    await ana.confirms();
    await ana.reads(ana.thread, SAYS.live);
    const opened = ana.page.context().waitForEvent('page');
    await ana.panel.getByRole('link', { name: '4.1' }).click();
    const site = await opened;
    await site.getByRole('heading', { name: 'Version 4.1' }).waitFor();
    await site.getByRole('heading', { name: 'What changed' }).waitFor();
    await site.getByText(/Version 4\.1 · se_/).waitFor();
    await site.getByRole('navigation').getByRole('link', { name: 'Quickstart' }).click();
    await site.getByRole('heading', { name: 'Quickstart' }).waitFor();
    await site.close();
    // The line above the ending is deleted once the ending is there.
    const again = ana.thread.getByRole('button', { name: 'Deploy again' });
    await expect.poll(() => again.count()).toBe(1);
    await pictured(ana, 'demo-deployment');
  });

  test('has the focus where it was, once a form is closed', async () => {
    const ending = await ana.reads(ana.thread, SAYS.exported);
    await choosesIn(ending, LABELS.helmValues);
    await ana.dialog.waitFor();
    await ana.page.keyboard.press('Escape');
    await expect.poll(() => ana.dialog.count()).toBe(0);
    await expect.poll(() => ana.focused()).toBe('More actions');
    await ana.types('/docs-digest create');
    await ana.dialog.getByRole('button', { name: LABELS.setUp }).waitFor();
    await ana.page.keyboard.press('Escape');
    await expect.poll(() => ana.focused()).toBe('Message #docs');
  });

  test('gets the Helm values, and a new link once the old one has expired', async () => {
    const ending = await ana.reads(ana.thread, SAYS.exported);
    await choosesIn(ending, LABELS.helmValues);
    await expect.poll(() => ana.dialog.textContent()).toMatch(/staticExport[\s\S]*bundleUrl/);
    await ana.page.keyboard.press('Escape');
    await expect.poll(() => ana.dialog.count()).toBe(0);

    await ana.panel.getByRole('button', { name: '+1 hour' }).click();
    const over = await ana.reads(ana.thread, /Link expired/);
    await over.getByRole('button', { name: LABELS.newLink }).click();
    await expect.poll(() => ending.getByText(LABELS.download, { exact: true }).count()).toBe(1);
  });

  test('finds what is new below the fold, and reads the answer to what was asked', async () => {
    const ben = await arrives();
    await ben.speaksAs('Ben');
    await ana.page.setViewportSize({ width: 1440, height: 480 });
    for (let n = 1; n <= 10; n += 1) await ben.types(`Line ${n}`);
    await ana.reads(ana.channel, 'Line 10');
    const log = ana.channel.getByRole('log');
    await log.hover();
    await ana.page.mouse.wheel(0, -5000);
    await ben.types('The newest line');
    const news = ana.channel.getByRole('button', { name: 'New messages' });
    await news.click();
    await expect.poll(() => news.count()).toBe(0);
    const newest = ana.channel.getByText('The newest line');
    await expect.poll(() => newest.isVisible()).toBe(true);
    await ana.page.mouse.wheel(0, -5000);
    await ana.types('/docs-export help');
    const help = await ana.reads(ana.channel, /Only visible to you[\s\S]*docs-export/);
    await expect.poll(async () => ((await help.boundingBox())?.y ?? 900) < 400).toBe(true);
    await ana.page.setViewportSize({ width: 1440, height: 900 });
    await ben.page.context().close();
  });

  test('has the theme that was chosen the last time, and the time of the demo everywhere', async () => {
    const visitor = await arrives();
    const theme = () => visitor.page.evaluate('document.documentElement.dataset.theme');
    await visitor.page.getByRole('button', { name: 'Use the dark theme' }).click();
    await visitor.page.reload();
    await expect.poll(theme).toBe('dark');
    await visitor.opensPanel();
    await visitor.panel.getByRole('button', { name: '+1 hour' }).click();
    const limited = visitor.panel.getByRole('switch', { name: /^429 for a minute/ });
    await limited.click();
    const endsAt = visitor.panel.getByText(/^until \d/);
    const minutes = (text: string | null) => {
      const [, hour = 0, minute = 0] = /(\d\d):(\d\d)/.exec(text ?? '') ?? [];
      return Number(hour) * 60 + Number(minute);
    };
    const clock = visitor.panel.locator('.clock b');
    const [end, now] = [await endsAt.textContent(), await clock.textContent()].map(minutes);
    expect((((end ?? 0) - (now ?? 0) + 1440) % 1440) - 1).toBeLessThanOrEqual(1);
    await limited.click();
    await visitor.page.context().close();
  });

  test('kills Docket in the middle of an export, which finishes once', async () => {
    lasts(7000);
    const before = starts();
    await ana.types(`/docs-export ${DOMAIN} --version killed`);
    const card = await ana.reads(ana.channel, /Exporting[\s\S]*killed/);
    await ana.opensThread(card);
    await ana.reads(ana.thread, /\d+%/);
    await ana.panel.getByRole('button', { name: 'kill -9' }).click();
    await ana.panel.getByText('1 × restarted').waitFor();
    await ana.reads(ana.thread, SAYS.exported);
    await expect.poll(() => ana.messages(ana.channel, /Exported · [\s\S]*killed/).count()).toBe(1);
    expect(await ana.messages(ana.thread, SAYS.exported).count()).toBe(1);
    expect(starts() - before).toBe(1);
  });

  test('stops Redis and starts it; people read what it could not do until then, as long as that counts', async () => {
    await ana.panel.getByRole('button', { name: 'Stop Redis' }).click();
    await ana.panel.getByRole('button', { name: 'Start Redis' }).waitFor();
    await ana.panel.getByRole('button', { name: '+1 hour' }).click();
    const problem = ana.page.getByText('Redis is stopped, so nothing could be woken');
    await expect.poll(() => problem.count()).toBe(1);
    await ana.panel.getByRole('button', { name: 'Start Redis' }).click();
    await ana.panel.getByRole('button', { name: 'Stop Redis' }).waitFor();
    await expect.poll(() => problem.count()).toBe(0);
  });

  test('is refused as a guest, whom nobody else hears', async () => {
    const gus = await arrives();
    await gus.speaksAs('Gus');
    const before = starts();
    await gus.types(`/docs-export ${DOMAIN}`);
    const refusal = await gus.reads(gus.channel, /Only visible to you/);
    expect(await refusal.textContent()).toMatch(/You can't start exports here/);
    expect(await ana.messages(ana.channel, /can't start exports/).count()).toBe(0);
    expect(starts()).toBe(before);
    await gus.page.context().close();
  });

  test('asks the docs agent in a thread; a reply that is edited before it was sent goes as it reads then', async () => {
    const { agent } = shared.visit.demo.world.platform;
    const prompts = () => agent.messages.map(({ prompt }) => prompt);
    agent.plan({ durationMs: 2000, branch: 'agent/example' });
    await ana.types('/docs-agent new Add an example to the quickstart');
    const card = await ana.reads(ana.channel, SAYS.agentCard);
    await ana.opensThread(card);
    const pull = await ana.reads(ana.thread, SAYS.pullRequest);
    await pull.getByRole('button', { name: LABELS.buildPreview }).click();
    const preview = await ana.reads(ana.thread, SAYS.previewReady);
    const opened = ana.page.context().waitForEvent('page');
    await preview.getByText(LABELS.openPreview).click();
    await (await opened).getByRole('heading', { name: 'Preview of agent/example' }).waitFor();
    await (await opened).close();

    // While the platform takes no more requests, replies wait: 👀 says that they were seen.
    const limited = ana.panel.getByRole('switch', { name: /^429 for a minute/ });
    await limited.click();
    const first = await ana.replies('Also add error handling.');
    await first.getByRole('button', { name: /^eyes: / }).waitFor();
    await ana.chooses(await ana.replies('And mention the tiemouts.'), 'Edit message');
    const edit = ana.thread.getByRole('textbox', { name: 'Edit the message' });
    await edit.fill('And mention the timeouts.');
    await edit.press('Enter');
    await ana.reads(ana.thread, /And mention the timeouts\.[\s\S]*\(edited\)/);
    for (let left = 2; left > 0; left -= 1) agent.plan({ durationMs: 1500 });
    await limited.click();
    await ana.panel.getByRole('button', { name: '+1 hour' }).click();
    await ana.reads(ana.thread, /Pull request[\s\S]*mention the timeouts/);
    expect(prompts().slice(-2)).toEqual(['Also add error handling.', 'And mention the timeouts.']);
  });

  test('sets up a weekly digest, previews it, and sees it once on Monday, with its chart', async () => {
    await ana.types('/docs-digest create');
    await ana.dialog.getByRole('button', { name: LABELS.setUp }).click();
    await ana.reads(ana.channel, SAYS.digestSetUp);
    await ana.types('/docs-digest create');
    await ana.dialog.getByRole('button', { name: LABELS.setUp }).click();
    const refusals = ana.dialog.getByRole('alert');
    await refusals.waitFor();
    await ana.dialog.getByLabel('Channel').selectOption({ label: '#shared' });
    await expect.poll(() => refusals.count()).toBe(0);
    await ana.page.keyboard.press('Escape');
    await expect.poll(() => ana.dialog.count()).toBe(0);
    await ana.types('/docs-digest preview');
    await ana.goesTo('Docket');
    await ana.reads(ana.channel, /Preview[\s\S]*views/);
    await ana.goesTo('docs');
    await ana.panel.getByRole('button', { name: 'To Monday 9:01' }).click();
    const digests = ana.messages(ana.channel, SAYS.digest).filter({ hasNotText: 'Only visible to you' });
    await digests.first().waitFor();
    await digests.first().getByRole('figure').first().waitFor();
    expect(await digests.count()).toBe(1);
  });

  test('puts the docs agent to work on a row of the digest, and finds its pull request in that thread', async () => {
    const digest = ana.messages(ana.channel, SAYS.digest).filter({ hasNotText: 'Only visible to you' });
    await ana.opensThread(digest);
    const missed = await ana.reads(ana.thread, SAYS.searched);
    await missed.getByRole('button', { name: LABELS.askAgent }).last().click();
    await ana.dialog.getByLabel(/^Page/).selectOption({ index: 1 });
    await ana.dialog.getByRole('button', { name: 'Next' }).click();
    await ana.dialog.getByRole('button', { name: LABELS.ask, exact: true }).click();
    await expect.poll(() => ana.dialog.count()).toBe(0);
    await ana.reads(ana.thread, SAYS.pullRequestOfRow);
  });

  test('has no serious problem with the page, light and dark, that axe finds', {
    timeout: 180_000,
  }, async () => {
    for (const theme of ['light', 'dark'] as const) {
      const other = await shared.visit.open({ theme });
      await other.page.getByRole('region', { name: 'Welcome' }).waitFor();
      expect(await other.problems()).toEqual([]);
      const digest = await other.reads(other.channel, SAYS.digest);
      await other.opensThread(digest);
      if (theme === 'dark') await pictured(other, 'demo-digest');
      expect(await other.problems()).toEqual([]);
      await other.opensPanel();
      expect(await other.problems()).toEqual([]);
      await other.panel.getByRole('tab', { name: 'Timeline' }).click();
      expect(await other.problems()).toEqual([]);
      await other.types('/docs-digest create');
      await other.dialog.getByRole('button', { name: LABELS.setUp }).waitFor();
      expect(await other.problems()).toEqual([]);
      await other.page.keyboard.press('Escape');
      await expect.poll(() => other.dialog.count()).toBe(0);
      await other.page.getByRole('button', { name: 'Docket Home' }).click();
      await other.page.locator('main').getByText('Docket').first().waitFor();
      expect(await other.problems()).toEqual([]);
      await other.page.context().close();
    }
  });
});
