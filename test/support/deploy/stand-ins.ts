import { expect, onTestFinished } from 'vitest';
import { createStandInPlatform } from '../../../demo/docs-platform/platform.ts';
import { freePort } from '../../../demo/ports.ts';
import { createStandInSlack } from '../../../demo/slack/slack.ts';

/** So long nothing has been under way: a kill then hits no work that waits for its lock. */
const QUIET_MS = 300;

/** Slack and the platform on this machine for the test, the settings that lead a Docket to them, and what people see. */
export async function standIns() {
  const port = await freePort();
  const slack = createStandInSlack({ botUrl: `http://127.0.0.1:${port}/slack/events` });
  const platform = createStandInPlatform({ exportPlan: { durationMs: 2000, holdAt: 0.5 } });
  const servers = [await slack.listen(), await platform.listen()] as const;
  onTestFinished(async () => {
    slack.stop();
    await Promise.all(servers.map(({ close }) => close()));
  });
  const lastMs = () => Math.max(...[slack, platform].map(({ wire }) => wire.calls.at(-1)?.atMs ?? 0));
  const quiet = () => expect.poll(() => Date.now() - lastMs()).toBeGreaterThan(QUIET_MS);
  const read = () => slack.messages.flatMap((one) => (one.deleted ? [] : [slack.read(one)]));
  return {
    slack,
    platform,
    env: {
      SLACK_BOT_TOKEN: slack.tokens.bot,
      SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
      SLACK_API_URL: `${servers[0].url}/api/`,
      DOCS_API_URL: servers[1].url,
      DOCS_API_KEY: platform.apiKey,
      DOCS_PROJECT_ID: platform.projectId,
      PORT: String(port),
    },
    /** Has ana ask for the export, which runs up to its half. */
    async asks() {
      const answer = await slack.person('ana').types('#docs', '/docs-export docs.acme.com');
      expect(answer).toMatchObject({ ok: true });
      await expect.poll(read).toContainEqual(expect.stringMatching(/50%/));
    },
    /** Lets the export end, and checks that it was started once, and that its card and its ending have the link. */
    async ends() {
      platform.release('docs.acme.com');
      const firsts = () => read().map((text) => text.split(' · ')[0]);
      await expect.poll(firsts).toEqual(['✅ Exported', '✅ @ana Exported']);
      await quiet();
      expect(platform.starts).toHaveLength(1);
      expect(read().filter((text) => text.includes('[Download]'))).toHaveLength(2);
      expect(slack.violations).toEqual([]);
    },
    quiet,
  };
}
