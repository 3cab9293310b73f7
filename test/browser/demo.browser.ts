import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Download } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DOMAIN } from '../../demo/browser/seed.ts';
import { unpack } from '../../demo/terminal/bundle.ts';
import { beginVisit, type Visit, type Visitor, whyNot } from './visitor.ts';

const missing = await whyNot();
if (missing) console.warn(`The demo is not tested in a browser. ${missing}`);

describe.skipIf(missing !== undefined)('a visitor of the demo', () => {
  let visit: Visit;
  let ana: Visitor;
  /** What the page itself complained about. */
  const complaints: string[] = [];
  beforeAll(async () => {
    visit = await beginVisit();
  });
  afterAll(() => visit?.end());
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.warn(`What ${task.name} saw: ${await ana?.picture()}`);
    expect(complaints).toEqual([]);
    expect(visit.demo.world.slack.violations).toEqual([]);
  });

  async function arrives(): Promise<Visitor> {
    const visitor = await visit.open();
    visitor.page.on('pageerror', (error) => complaints.push(error.message));
    visitor.page.on('console', (line) => {
      if (line.type() === 'error') complaints.push(line.text());
    });
    return visitor;
  }

  const starts = () => visit.demo.world.platform.starts.length;
  /** The next export takes so long. */
  const lasts = (durationMs: number) => visit.demo.world.platform.plan({ durationMs, pages: 128 });

  /** The README's picture of this moment; what it shows is compared, so that it cannot go stale. */
  async function pictured(visitor: Visitor, name: string): Promise<void> {
    await visitor.rests();
    await visitor.pictureForReadme(name);
    await expect(await visitor.shown()).toMatchFileSnapshot(`./shown/${name}.txt`);
  }

  test('exports from the composer, follows its progress, and unpacks the bundle', async () => {
    ana = await arrives();
    lasts(9000);
    const field = ana.channel.getByRole('combobox');
    await field.pressSequentially('/docs-exp');
    await ana.page.getByRole('option', { name: /\/docs-export/ }).waitFor();
    await field.pressSequentially(`ort ${DOMAIN} --version 4.1`);
    await field.press('Enter');
    const card = await ana.reads(ana.channel, /Exporting · docs\.acme\.com/);
    await ana.opensThread(card);
    const line = await ana.reads(ana.thread, /\d+%/);
    const seen = new Set<string>();
    const percent = async () => {
      const found = /(\d+)%/.exec((await line.textContent().catch(() => '')) ?? '')?.[1];
      if (found !== undefined) seen.add(found);
      return seen.size;
    };
    await expect.poll(percent).toBeGreaterThan(1);
    const ending = await ana.reads(ana.thread, /is exported · 128 pages/);

    // The browser opens a tab for it, which closes once it knows that it is a download.
    const downloaded = new Promise<Download>((resolve) => {
      ana.page.on('download', resolve);
      ana.page.context().on('page', (tab) => tab.on('download', resolve));
    });
    await ending.getByText('Download bundle').click();
    const download = await downloaded;
    const file = join(visit.folder, 'bundle.tar.gz');
    await download.saveAs(file);
    expect(unpack(readFileSync(file), join(visit.folder, 'bundle'))).toContain('index.html');
    expect(starts()).toBe(1);
    await ana.reads(ana.thread, /is exported · 128 pages/);
    await ana.reads(ana.channel, /exported · 128 pages/);
  });

  test('updates production in one click, and opens the site in the second', async () => {
    const ending = await ana.reads(ana.thread, /is exported/);
    await ending.getByRole('button', { name: 'Update production' }).click();
    await ana.reads(ana.thread, /production serves it since/);
    const opened = ana.page.context().waitForEvent('page');
    await ana.panel.getByRole('link', { name: '4.1' }).click();
    await (await opened).getByText(/Version 4\.1 · se_/).waitFor();
    await (await opened).close();
    await pictured(ana, 'demo-deployment');
  });

  test('gets the settings for a deployment, and a new link once the old one has ended', async () => {
    const ending = await ana.reads(ana.thread, /is exported/);
    await ending.getByRole('button', { name: 'Deployment settings' }).click();
    await expect.poll(() => ana.dialog.textContent()).toMatch(/staticExport[\s\S]*bundleUrl/);
    await ana.page.keyboard.press('Escape');
    await expect.poll(() => ana.dialog.count()).toBe(0);

    await ana.panel.getByRole('button', { name: '+1 hour' }).click();
    await ending.getByRole('button', { name: 'New link' }).click();
    await expect.poll(() => ending.getByText('Download bundle').count()).toBe(1);
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
    await ana.reads(ana.thread, /is exported/);
    await expect.poll(() => ana.messages(ana.channel, /exported · [\s\S]*killed/).count()).toBe(1);
    expect(await ana.messages(ana.thread, /is exported/).count()).toBe(1);
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

  test('instructs the docs agent in a thread; a reply that is edited before it was sent goes as it reads then', async () => {
    const { agent } = visit.demo.world.platform;
    const prompts = () => agent.messages.map(({ prompt }) => prompt);
    agent.plan({ durationMs: 2000, branch: 'agent/example' });
    await ana.types('/docs-agent new Add an example to the quickstart');
    const card = await ana.reads(ana.channel, /Docs agent · /i);
    await ana.opensThread(card);
    const pull = await ana.reads(ana.thread, /opened a pull request/);
    await pull.getByRole('button', { name: 'Preview' }).click();
    const preview = await ana.reads(ana.thread, /The preview of agent\/example is ready/);
    const opened = ana.page.context().waitForEvent('page');
    await preview.getByText('Open preview').click();
    await (await opened).getByText('docs.acme.com · agent/example').first().waitFor({ state: 'attached' });
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
    await ana.reads(ana.thread, /The agent opened a pull request[\s\S]*and 1 more/);
    expect(prompts().slice(-2)).toEqual(['Also add error handling.', 'And mention the timeouts.']);
  });

  test('sets up a weekly digest, previews it, and sees it once on Monday, with its chart', async () => {
    await ana.types('/docs-digest create');
    await ana.dialog.getByRole('button', { name: 'Set up' }).click();
    await ana.reads(ana.channel, /Only visible to you[\s\S]*first one/);
    await ana.types('/docs-digest create');
    await ana.dialog.getByRole('button', { name: 'Set up' }).click();
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
    const digests = ana.messages(ana.channel, /views/).filter({ hasNotText: 'Only visible to you' });
    await digests.first().waitFor();
    await digests.first().getByRole('figure').first().waitFor();
    expect(await digests.count()).toBe(1);
  });

  test('puts the docs agent to work on a row of the digest, and finds its pull request in that thread', async () => {
    const digest = ana.messages(ana.channel, /views/).filter({ hasNotText: 'Only visible to you' });
    await ana.opensThread(digest);
    const missed = await ana.reads(ana.thread, /Searched, nothing clicked/);
    await missed.getByRole('button', { name: 'Ask the agent' }).nth(2).click();
    await ana.dialog.getByLabel('Page').selectOption({ index: 1 });
    await ana.dialog.getByRole('button', { name: 'Next' }).click();
    await ana.dialog.getByRole('button', { name: 'Ask', exact: true }).click();
    await expect.poll(() => ana.dialog.count()).toBe(0);
    await ana.reads(ana.thread, /The agent opened acme\/docs#\d+ for/);
  });

  test('has no serious problem with the page, light and dark, that axe finds', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const other = await visit.open(theme);
      const digest = await other.reads(other.channel, /views/);
      await other.opensThread(digest);
      if (theme === 'dark') await pictured(other, 'demo-digest');
      expect(await other.problems()).toEqual([]);
      await other.panel.getByRole('tab', { name: 'Timeline' }).click();
      expect(await other.problems()).toEqual([]);
      await other.types('/docs-digest create');
      await other.dialog.getByRole('button', { name: 'Set up' }).waitFor();
      expect(await other.problems()).toEqual([]);
      await other.page.keyboard.press('Escape');
      await expect.poll(() => other.dialog.count()).toBe(0);
      await other.page.getByRole('button', { name: 'Docket Home' }).click();
      await other.page.locator('main').getByText('Docket').first().waitFor();
      expect(await other.problems()).toEqual([]);
      await other.page.context().close();
    }
  });

  test('sees with one click on the first story how a new version goes live', async () => {
    lasts(3000);
    const visitor = await arrives();
    const opened = visitor.page.context().waitForEvent('page');
    await visitor.page.getByRole('button', { name: 'An export', exact: true }).click();
    await visitor.reads(visitor.thread, /production serves it since/);
    await (await opened).getByText(/Version 4\.2 · se_/).waitFor();
    await visitor.page.getByText('production serves the new version').waitFor();
    await visitor.page.context().close();
  });

  test("sees with one click what the agent wrote, in a preview that is built again after the agent's next round", async () => {
    const visitor = await arrives();
    const opened = visitor.page.context().waitForEvent('page');
    await visitor.page.getByRole('button', { name: 'The docs agent', exact: true }).click();
    await visitor.page.getByText('The preview shows the latest work').waitFor({ timeout: 90_000 });
    await (await opened).getByText('docs.acme.com · agent/').first().waitFor({ state: 'attached' });
    const branches = visit.demo.world.platform.site.builds.map(({ branch }) => branch);
    expect(branches.slice(-2)).toEqual(['agent/quickstart-example', 'agent/quickstart-example']);
    await visitor.page.context().close();
  });

  test('sees with one click how a conversation goes along, and what the agent got', async () => {
    const visitor = await arrives();
    await visitor.page.getByRole('button', { name: 'The conversation goes along' }).click();
    await visitor.page
      .getByText('The agent knew what the conversation was about')
      .waitFor({ timeout: 90_000 });
    const { messages, jobs } = visit.demo.world.platform.agent;
    const created = [...jobs.keys()].at(-1);
    const prompt = messages.findLast(({ jobId }) => jobId === created)?.prompt;
    expect(prompt).toMatch(/^Add this to the webhooks guide\n\nQuoted messages are background/);
    await visitor.page.context().close();
  });
});
