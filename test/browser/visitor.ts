import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { buildPage } from '../../demo/browser/build.ts';
import { type Demo, startDemo } from '../../demo/browser/start.ts';
import { browserHere, fetchBrowser } from '../../scripts/browser.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** A step of a story, on a busy machine. */
const PATIENCE_MS = 40_000;

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What axe says of one rule that is broken. */
interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** The demo as `npm run demo` starts it, and a browser to look at it. */
export interface Visit {
  demo: Demo;
  /** Opens the demo for one more visitor. */
  open(theme?: 'light' | 'dark'): Promise<Visitor>;
  /** A folder that is removed in the end. */
  folder: string;
  end(): Promise<void>;
}

/** Returns why no browser test can run here; undefined where it can. */
export async function whyNot(): Promise<string | undefined> {
  if (browserHere(root) === undefined) await fetchBrowser(root);
  return browserHere(root) ? undefined : 'Chromium is not here and cannot be fetched.';
}

/** Starts the demo and a browser. */
export async function beginVisit(): Promise<Visit> {
  const parts = browserHere(root);
  if (parts === undefined) throw new Error('There is no browser here.');
  const folder = mkdtempSync(join(tmpdir(), 'docket-visit-'));
  const [pageFolder, browser] = await Promise.all([
    buildPage(),
    chromium.launch({
      executablePath: parts.executablePath,
      env: { ...process.env, ...parts.env } as Record<string, string>,
    }),
  ]);
  const demo = await startDemo({ pageFolder, port: 0, searchPath: process.env.PATH });
  return {
    demo,
    folder,
    open: (theme = 'light') => openVisitor(browser, demo.url, theme),
    async end() {
      await browser.close();
      await demo.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Somebody at the page, who does what a person can: look, type, click. */
export interface Visitor {
  page: Page;
  /** The open conversation, and the thread at its side. */
  channel: Locator;
  thread: Locator;
  /** The modal or the dialog on top. */
  dialog: Locator;
  panel: Locator;
  /** Goes on as `Ana`, `Ben` or `Gus`. */
  speaksAs(name: string): Promise<void>;
  goesTo(conversation: string): Promise<void>;
  types(text: string): Promise<void>;
  /** Replies in the open thread. Returns the message. */
  replies(text: string): Promise<Locator>;
  /** The messages there that say this. */
  messages(place: Locator, says: string | RegExp): Locator;
  /** Resolves once there is such a message; the newest of them. */
  reads(place: Locator, says: string | RegExp): Promise<Locator>;
  opensThread(message: Locator): Promise<void>;
  /** What axe finds that is serious or worse, and where. */
  problems(): Promise<string[]>;
  /** Takes a picture of the page into a temporary folder that stays. Returns its file. */
  picture(): Promise<string>;
  /** Points at nothing, and has nothing in focus. */
  rests(): Promise<void>;
  /** What buttons and headings are on the page, without what differs from one time to the next. */
  shown(): Promise<string>;
  /** Takes the picture of this name for the README, when those are to be made anew. */
  pictureForReadme(name: string): Promise<void>;
  /** Chooses in the menu that shows up at a message. */
  chooses(message: Locator, entry: string): Promise<void>;
}

async function openVisitor(browser: Browser, url: string, theme: 'light' | 'dark'): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    acceptDownloads: true,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(url);
  const channel = page.locator('main.conversation');
  const thread = page.locator('aside.thread');
  await channel.waitFor();

  const write = async (place: Locator, text: string) => {
    const field = place.getByRole('combobox');
    await field.click();
    await field.pressSequentially(text);
    await field.press('Enter');
  };
  const messages = (place: Locator, says: string | RegExp) =>
    place.locator('article').filter({ hasText: says });
  return {
    page,
    channel,
    thread,
    dialog: page.locator('dialog').last(),
    panel: page.locator('aside.panel'),
    async speaksAs(name) {
      await page.locator('.people label').filter({ hasText: name }).click();
      await page.getByRole('radio', { name }).and(page.locator(':checked')).waitFor({ state: 'attached' });
      await channel.waitFor();
    },
    async goesTo(conversation) {
      await page
        .getByRole('navigation')
        .getByRole('button', { name: new RegExp(`^${conversation}( \\(new messages\\))?$`) })
        .click();
    },
    types: (text) => write(channel, text),
    async replies(text) {
      await write(thread, text);
      const own = thread.locator('article').filter({ has: page.getByText(text, { exact: true }) });
      await own.waitFor();
      return own;
    },
    messages,
    async reads(place, says) {
      const found = messages(place, says).last();
      await found.waitFor();
      return found;
    },
    async opensThread(message) {
      await message.locator('button.summary').click();
      await thread.waitFor();
    },
    async problems() {
      await page.evaluate(AXE);
      const found = await page.evaluate(
        // Compiled in the page, which has no types of ours.
        'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)',
      );
      return (found as Violation[])
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    },
    async rests() {
      await page.mouse.move(0, 0);
      await page.evaluate('document.activeElement?.blur()');
    },
    async shown() {
      const words = await page
        .locator('button:visible, a.button:visible, h1:visible, h2:visible')
        .allInnerTexts();
      const lines = words.map((text) => text.replaceAll(/\s+/g, ' ').replaceAll(/\d+/g, '0').trim());
      return `${lines.map((line) => line.replace(/Last reply .*/, 'Last reply …')).join('\n')}\n`;
    },
    async pictureForReadme(name) {
      if (process.env.SCREENSHOTS === undefined) return;
      await page.screenshot({ path: join(root, 'docs', `${name}.png`) });
    },
    async picture() {
      const path = join(mkdtempSync(join(tmpdir(), 'docket-picture-')), 'page.png');
      await page.screenshot({ path });
      return path;
    },
    async chooses(message, entry) {
      await message.hover();
      await message.getByRole('button', { name: 'More message actions' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    },
  };
}
