import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { buildPage } from '../../demo/browser/build.ts';
import { type Demo, startDemo } from '../../demo/browser/start.ts';
import { browserHere } from '../../scripts/browser.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** A step of a story, on a busy machine. */
const PATIENCE_MS = 40_000;

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Runs in the page, which has no types of ours. What has not moved for ten frames stands still, also on a busy machine. */
const WATCH_CAPTIONS = `
  cancelAnimationFrame(globalThis.captionFrame);
  globalThis.captionObserver?.disconnect();
  globalThis.captionsSeen = [];
  let before = '';
  let still = 0;
  const look = () => {
    const line = document.querySelector('.caption p')?.textContent;
    let seen = captionsSeen.at(-1);
    if (seen) seen.ms = performance.now() - seen.from;
    if (line && seen?.line !== line) captionsSeen.push({ line, ms: 0, covers: false, from: performance.now() });
  };
  globalThis.captionObserver = new MutationObserver(look);
  captionObserver.observe(document.body, { subtree: true, childList: true, characterData: true });
  const frame = () => {
    globalThis.captionFrame = requestAnimationFrame(frame);
    look();
    const [box, target] = ['.caption', '.spoken-of'].map((one) => document.querySelector(one));
    const seen = captionsSeen.at(-1);
    if (!box || !target) return;
    const [a, whole] = [box, target].map((one) => one.getBoundingClientRect());
    // What is scrolled out of a list lies under nothing.
    const list = target.closest('.messages, .panel-body')?.getBoundingClientRect() ?? whole;
    const top = Math.max(whole.top, list.top);
    const b = { x: whole.x, y: top, left: whole.left, right: whole.right, top, bottom: Math.min(whole.bottom, list.bottom) };
    const now = [seen.line, a.x, a.y, b.x, b.y].join();
    const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    const isSeen = b.bottom > b.top && b.bottom > 0 && b.top < innerHeight;
    still = now === before ? still + 1 : 0;
    if (still >= 10 && !(apart && (isSeen || seen.ms > 2800))) seen.covers = true;
    before = now;
  };
  frame();
`;

/** A picture has at most so much of a thread; so much else of the page is above and below a thread. */
const PICTURE_PX = 900;
const AROUND_PX = 200;

/** What axe says of one rule that is broken. */
interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

interface Look {
  theme?: 'light' | 'dark';
  width?: number;
}

/** A caption of the tour, as it was seen. */
export interface SeenCaption {
  line: string;
  /** How long it stood; while the visitor waits for something, longer than it takes to read. */
  ms: number;
  /** It lay over what it speaks of, or that could not be seen, once both stood still. */
  covers: boolean;
}

/** The demo as `npm run demo` starts it, and a browser to look at it. */
export interface Visit {
  demo: Demo;
  /** Opens the demo for one more visitor. */
  open(look?: Look): Promise<Visitor>;
  /** A folder that is removed in the end. */
  folder: string;
  end(): Promise<void>;
}

/** Returns why no browser test can run here; undefined where it can. */
export const whyNot = (): string | undefined =>
  browserHere(root) ? undefined : 'Chromium is not here and cannot be fetched.';

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
    open: (look = {}) => openVisitor(browser, demo.url, look),
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
  /** Returns the file of a picture of the page, and the newest messages of the thread and of the channel. */
  sees(): Promise<string>;
  /** Points at nothing, and has nothing in focus. */
  rests(): Promise<void>;
  /** What buttons and headings the thread has, without what differs from one time to the next. */
  shown(): Promise<string>;
  /** Takes a picture of the thread for the README: its card and what came of it. */
  pictureForReadme(name: string): Promise<void>;
  /** Says yes if Slack asks first. */
  confirms(): Promise<void>;
  /** Folds the panel out, or in. */
  opensPanel(): Promise<void>;
  /** Begins to note the captions of the tour. Returns a function that returns those so far. */
  watchesCaptions(): Promise<() => Promise<SeenCaption[]>>;
  /** What has the focus, by its label. */
  focused(): Promise<string>;
  /** Chooses in the menu that shows up at a message. */
  chooses(message: Locator, entry: string): Promise<void>;
}

async function openVisitor(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1440 }: Look,
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width, height: width < 700 ? 844 : 900 },
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
      const words = await page.locator('.thread :is(button, a.button, h1, h2):visible').allInnerTexts();
      const lines = words.map((text) => text.replaceAll(/\s+/g, ' ').replaceAll(/\d+/g, '0').trim());
      return `${lines.map((line) => line.replace(/Last reply .*/, 'Last reply …')).join('\n')}\n`;
    },
    async pictureForReadme(name) {
      const before = page.viewportSize() ?? { width: 1440, height: 900 };
      const list = thread.getByRole('log');
      // In a window without room, the list is as high as what it holds.
      await page.setViewportSize({ width: 1440, height: AROUND_PX });
      // Compiled in the page, which has no types of ours.
      const found = `document.querySelector('aside.thread [role="log"]')`;
      const length = Number(await page.evaluate(`${found}.scrollHeight`));
      await page.setViewportSize({ width: 1440, height: Math.min(length, PICTURE_PX) + AROUND_PX });
      await page.evaluate(`${found}.scrollTo(0, 0)`);
      await list.screenshot({ path: join(root, 'docs', `${name}.png`) });
      await page.setViewportSize(before);
    },
    async confirms() {
      await page
        .locator('dialog.small footer button')
        .last()
        .click({ timeout: 500 })
        .catch(() => {});
    },
    opensPanel: () => page.getByRole('button', { name: 'Behind the scenes', exact: true }).click(),
    async watchesCaptions() {
      await page.evaluate(WATCH_CAPTIONS);
      return async () => (await page.evaluate('captionsSeen')) as SeenCaption[];
    },
    focused: () =>
      page.evaluate(
        '(document.activeElement?.ariaLabel || document.activeElement?.textContent || document.activeElement?.tagName) ?? ""',
      ),
    async sees() {
      const path = join(mkdtempSync(join(tmpdir(), 'docket-picture-')), 'page.png');
      await page.screenshot({ path });
      const texts = await Promise.all([thread, channel].map((place) => messages(place, '').allInnerTexts()));
      return [path, ...texts.flatMap((list) => list.slice(-10))].join('\n---\n');
    },
    async chooses(message, entry) {
      await message.hover();
      await message.getByRole('button', { name: 'More message actions' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    },
  };
}
