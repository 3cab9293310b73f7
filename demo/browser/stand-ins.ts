import { writeFileSync } from 'node:fs';
import { createStandInPlatform } from '../docs-platform/platform.ts';
import { Interrupted, interruption } from '../interruption.ts';
import { createStandInSlack } from '../slack/slack.ts';
import { buildPage } from './build.ts';
import { DOMAIN, liveHere, openDirectMessages, PLANS, settingsFor } from './seed.ts';
import { createServer } from './server.ts';
import { createClock } from './world.ts';

/** Where things are, each time the same, so that a bot's settings stay right. */
const PORTS = { page: 8140, slack: 8141, platform: 8142, bot: 3000 };

const print = (line: string) => process.stdout.write(`${line}\n`);

/** The settings as an environment file, which is written where that is wanted. */
export function standInsText(settings: Record<string, string>, envFile: string | undefined): string {
  const text = Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
  if (envFile !== undefined) writeFileSync(envFile, text, { mode: 0o600 });
  return text;
}

/** Runs Slack and the platform alone, for a bot that somebody develops, until Ctrl-C. Returns the exit code. */
export async function standInsAlone(envFile: string | undefined): Promise<number> {
  const interrupted = interruption();
  const clock = createClock();
  // The same each time, so that a bot's settings stay right.
  const tokens = { botToken: 'xoxb-stand-in-demo', signingSecret: '57a4d1459191459ec4e757a4d1459191' };
  const slack = createStandInSlack({ now: clock.now, transport: 'http', ...tokens });
  const platform = createStandInPlatform({
    nowMs: clock.now,
    domains: [DOMAIN],
    apiKey: 'adm_0123456789abcdef0123456789abcdef',
    ...PLANS,
  });
  openDirectMessages(slack);
  liveHere(slack);
  slack.botUrl = `http://127.0.0.1:${PORTS.bot}/slack/events`;
  const closers: (() => Promise<void>)[] = [];
  try {
    const listening = async (
      port: number,
      listen: (port: number) => Promise<{ url: string; close(): Promise<void> }>,
    ) => {
      const { url, close } = await listen(port).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EADDRINUSE' ? new Error(`Port ${port} is taken by another program.`) : error;
      });
      closers.push(close);
      return url;
    };
    const urls = {
      slack: await listening(PORTS.slack, slack.listen),
      platform: await listening(PORTS.platform, platform.listen),
    };
    const settings = {
      ...settingsFor(slack, platform, urls),
      DOCS_PROJECT_ID: platform.projectId,
      PORT: String(PORTS.bot),
    };
    const text = standInsText(settings, envFile);
    const pageFolder = await Promise.race([buildPage(), interrupted]);
    const server = createServer({ slack, platform, clock }, { pageFolder });
    closers.push(server.close);
    const page = await server.listen(PORTS.page);

    print(`Slack, as people see it:  ${page}`);
    print(`Slack's Web API:          ${urls.slack}/api/`);
    print(`The docs platform:        ${urls.platform}`);
    print(`Requests go to the bot at ${slack.botUrl}.\n`);
    print(envFile === undefined ? '# .env.demo' : `# ${envFile}, written:`);
    print(text);
    print('Ctrl-C ends them.');
    return await interrupted;
  } catch (error) {
    if (!(error instanceof Interrupted))
      process.stderr.write(
        `The stand-ins failed: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    return error instanceof Interrupted ? error.exitCode : 1;
  } finally {
    slack.stop();
    await Promise.all(closers.map((close) => close()));
  }
}
