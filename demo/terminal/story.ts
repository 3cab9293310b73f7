// npm run demo -- --terminal: one export in a Slack on this machine, from the command to the unpacked bundle, one
// request to the docs agent, and one digest whose numbers lead to another.
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createStandInPlatform } from '../docs-platform/platform.ts';
import { Interrupted, interruption } from '../interruption.ts';
import { freePort } from '../ports.ts';
import { clickableIn } from '../slack/clickable.ts';
import { createStandInSlack } from '../slack/slack.ts';
import type { SentMessage } from '../slack/workspace.ts';
import { LABELS, SAYS, TERMINAL } from '../words.ts';
import { showAgentThread } from './agent-thread.ts';
import { createBot } from './bot.ts';
import { downloadBundle, unpack } from './bundle.ts';
import { showDigest } from './digest.ts';
import { printMessages } from './messages.ts';
import { createScreen } from './print.ts';

const DOMAIN = 'docs.acme.com';
const COMMAND = `/docs-export ${DOMAIN}`;
/** Far more than a slow machine needs. Work that a kill hits in the act goes on after about 35 s. */
const WAIT_MS = 90_000;
/** After so long without a call, the bot is executing nothing. */
const QUIET_MS = 300;
const FILES_SHOWN = 4;

const slack = createStandInSlack();
const platform = createStandInPlatform({
  domains: [DOMAIN],
  // For the test of a demo that fails: an organization that may not export.
  enterprise: process.env.DEMO_WITHOUT_PLAN === undefined,
  // It holds before its end until the bot is back, so that the demo is the same on a slow machine.
  exportPlan: { durationMs: 7000, pages: 128, holdAt: 0.8 },
});
const [slackServer, platformServer, port] = await Promise.all([
  slack.listen(),
  platform.listen(),
  freePort(),
]);

const interrupted = interruption();
const folder = mkdtempSync(join(tmpdir(), 'docket-demo-'));
const dataFolder = join(folder, 'data');
const bundleFolder = join(folder, DOMAIN);
const bot = createBot(
  {
    HOST: '127.0.0.1',
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    SLACK_API_URL: `${slackServer.url}/api/`,
    DOCS_API_URL: platformServer.url,
    DOCS_API_KEY: platform.apiKey,
    DOCS_PROJECT_ID: platform.projectId,
    DOCS_DOMAIN: DOMAIN,
  },
  port,
  dataFolder,
);
slack.botUrl = bot.url;
const screen = createScreen(process.stdout, Date.now);

/** What the demo waits for, named when it fails. */
let awaited = 'Docket to be ready';

process.exit(await demo());

/** Runs the demo and removes everything but the bundle. Returns the exit code. */
async function demo(): Promise<number> {
  try {
    introduce();
    const files = await Promise.race([story(), bot.died, interrupted]);
    await stopAll(dataFolder);
    conclude(files);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted) screen.print('\nStopping…');
    else reportFailure(error);
    await stopAll(folder).then(
      () => screen.print('Everything is stopped, and nothing is left behind.'),
      (trouble) => screen.print(String(trouble)),
    );
    return error instanceof Interrupted ? error.exitCode : 1;
  }
}

function introduce(): void {
  screen.print(
    'an export, the docs agent, and a digest of how the docs are read. Nothing leaves this machine.\n',
    'Docket demo: ',
  );
  screen.print('two people of a stand-in Slack workspace, in its channel #docs', '  Ana, Ben  ');
  screen.print('the real bot, as a process of its own with its own Redis', '  Docket    ');
  screen.print(
    `a stand-in docs platform that hosts ${DOMAIN}, with its docs agent and page views\n`,
    '  Platform  ',
  );
}

/** Returns the names of the files in the bundle. */
async function story(): Promise<string[]> {
  const [ana, ben] = [slack.person('ana'), slack.person('ben')];
  await bot.start();

  screen.startClock();
  printMessages(slack, screen);
  screen.printEvent('types', 'Ana types', [COMMAND]);
  await answered(ana.types('#docs', COMMAND));
  await until('progress in the thread', () => reads(SAYS.progress));
  screen.printEvent('types', 'Ben types', [COMMAND]);
  await answered(ben.types('#docs', COMMAND));

  await until('the middle of the export', () => reads(/[3-8]\d%/) && isQuiet());
  await bot.kill();
  screen.printEvent('trouble', 'We kill Docket', [`kill -9 ${bot.pid}, in the middle of the export`]);
  awaited = 'Docket to be back';
  await bot.start();
  screen.printEvent('trouble', 'We start it', [
    'A new process on the same data goes on, and nobody asks again.',
  ]);
  platform.release(DOMAIN);

  const ending = await until('the end of the export', () => written().find(isEnding));
  const { url } = clickableIn(ending.blocks, LABELS.download).element;
  await until(
    'the result on the card, and the end of its progress',
    () => reads(TERMINAL.exportCardDone) && !reads(SAYS.progress),
  );
  screen.printEvent('clicks', 'Ana clicks', [`[${LABELS.download}]`]);
  awaited = 'the bundle';
  await answered(ana.clicks(ending, LABELS.download));
  const files = unpack(await downloadBundle(String(url)), bundleFolder);
  screen.printMore(`Unpacked into ${bundleFolder}:`);
  screen.printMore(
    ...files.slice(0, FILES_SHOWN).map((name) => `  ${name}`),
    `  … and ${files.length - FILES_SHOWN} more`,
  );
  await showAgentThread(slack, platform, screen, until);
  await showDigest(slack, platform, screen, until);
  checkPromises();
  return files;
}

function until<T>(what: string, check: () => T | undefined | false): Promise<T> {
  awaited = what;
  return slack.until(() => {
    const ending = written().find(isEnding);
    const isRefused = slack.ephemerals.some((one) => slack.read(one).startsWith('❌'));
    if (isRefused || (ending && !SAYS.exported.test(slack.read(ending))))
      throw new Error('The export ended in another way.');
    return check();
  }, WAIT_MS);
}

function written(): SentMessage[] {
  return slack.messages.filter(({ from }) => from === 'docket');
}

function reads(pattern: RegExp): boolean {
  return written().some((message) => !message.deleted && pattern.test(slack.read(message)));
}

function isEnding({ notifies }: SentMessage): boolean {
  return notifies.length > 0;
}

/** Throws when Slack would show its own error to the person. */
async function answered(answer: Promise<{ ok: boolean; failed?: string; status: number }>): Promise<void> {
  const { ok, failed, status } = await answer;
  if (!ok) throw new Error(`Docket did not answer Slack as it should: ${failed ?? `HTTP status ${status}`}.`);
}

/** Returns whether no call is under way: work that a kill interrupts waits until its lock expires. */
function isQuiet(): boolean {
  const lastCallsMs = [slack.wire, platform.wire].map(({ calls }) => calls.at(-1)?.atMs ?? 0);
  return Date.now() - Math.max(...lastCallsMs) > QUIET_MS;
}

/** Throws unless each call and message happened once, though two people asked and the bot was killed. */
function checkPromises(): void {
  awaited = 'everything exactly once';
  const counts = {
    starts: platform.starts.length,
    messages: written().length,
    mentions: written().flatMap(({ notifies }) => notifies).length,
  };
  const { starts, messages, mentions } = counts;
  if (starts !== 1 || messages !== TERMINAL.posts || mentions !== TERMINAL.mentions)
    throw new Error(
      `1 start, ${TERMINAL.posts} messages and ${TERMINAL.mentions} mentions were promised; there are ${JSON.stringify(counts)}.`,
    );
  const objections = [...slack.violations, ...slack.limited.map(({ name }) => `${name}: called too often`)];
  if (objections.length > 0) throw new Error(`Slack would have objected:\n  ${objections.join('\n  ')}`);
}

async function stopAll(leftover: string): Promise<void> {
  try {
    await bot.stop();
  } finally {
    slack.stop();
    await Promise.all([slackServer.close(), platformServer.close()]);
    await rm(leftover, { recursive: true, force: true, maxRetries: 5 });
  }
}

function conclude(files: string[]): void {
  const index = pathToFileURL(join(bundleFolder, 'index.html')).href;
  screen.print('');
  screen.print(
    `1 start and 2 agent requests at the platform, ${TERMINAL.posts} messages, ${TERMINAL.mentions} mentions; killed once.`,
    'Seen    ',
  );
  screen.print(`${files.length} files, to look at in a browser: ${index}`, 'Bundle  ');
  screen.print('npm test; then README.md, for a Slack workspace of your own.', 'Next    ');
}

function reportFailure(error: unknown): void {
  const log = bot.lastLines();
  screen.print('');
  screen.print(`waited for ${awaited}.`, 'The demo failed: ');
  screen.print(error instanceof Error ? error.message : String(error));
  screen.print(log.length === 0 ? 'nothing.' : log.join('\n'), 'Docket wrote: ');
}
