import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ExportPlan } from '../../../demo/docs-platform/export-jobs.ts';
import type { Call, Fault } from '../../../demo/wire.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { sees } from './reading.ts';
import type { PersonName, Place } from './trouble.ts';
import { createWorld, temporaryFolder, type World } from './world.ts';

/**
 * Worlds that many tests share, each test with a site and a channel of its own. More than one where many messages
 * are edited: Slack takes 50 edits a minute of a workspace.
 */
export function sharedWorlds(count: number, timing: Partial<Timing>) {
  const worlds: World[] = [];
  const folder = temporaryFolder();
  beforeAll(async () => {
    // So many exports at once must not wait for each other's looks.
    const config = join(folder.path, 'docket.yml');
    writeFileSync(config, 'limits: { exportStatusPerSecond: 100 }\n');
    worlds.push(...(await Promise.all(Array.from({ length: count }, () => createWorld()))));
    const options = { timing, env: { DOCKET_CONFIG: config } };
    await Promise.all(worlds.map((world) => world.startBot(options)));
  });
  afterAll(async () => {
    for (const world of worlds) {
      await world.close();
      const started = world.platform.starts.map(({ domain }) => domain);
      expect(started.toSorted()).toEqual([...new Set(started)].toSorted());
    }
    folder.remove();
  });
  let sites = 0;
  return (name: string) => {
    sites += 1;
    return createSite(worlds[sites % count] as World, `${name}-${sites}`);
  };
}

/** Adds a site that nobody else exports, and the channel where somebody asks for it. */
export function addSite({ slack, platform }: World, name: string, who: PersonName = 'ana'): Place {
  const domain = `${name}.acme.com`;
  const where = `#${name}`;
  platform.domains.push(domain);
  const members = new Set([slack.workspace.bot.userId, slack.person(who).id]);
  slack.workspace.addChannel({
    label: where,
    name,
    kind: 'public',
    members,
    archived: false,
    shared: false,
  });
  return { domain, where, who };
}

function createSite(world: World, name: string) {
  const { slack, platform } = world;
  const { domain, where } = addSite(world, name);
  const isMine = ({ detail }: Call) =>
    (detail.body as { domain?: string } | undefined)?.domain === domain ||
    platform.exports.get(String(detail.jobId))?.domain === domain;
  const calls = (operation: string) =>
    platform.wire.calls.filter((call) => call.name === operation && isMine(call));
  const texts = () => sees(world, where).map((text) => text.replaceAll(domain, 'SITE'));
  let broken = true;
  const starts = () => platform.starts.filter((start) => start.domain === domain).length;
  return {
    calls,
    starts,
    isStarted: () => slack.until(() => starts() > 0, 20_000, `a start of ${domain}`),
    /** The next `times` calls of the operation go wrong, for this site alone and until `repair`. */
    breaks(operation: string, fault: Fault, times = 1000) {
      platform.wire.order((call) => broken && call.name === operation && isMine(call), fault, times);
    },
    repair: () => {
      broken = false;
    },
    startsElsewhere: () => startsElsewhere(world, { domain }),
    plans: (plan: ExportPlan) => platform.plan({ ...plan, domain }),
    asks: (text = domain) => slack.person('ana').types(where, `/docs-export ${text}`),
    clicks(button: string) {
      const { id } = slack.channel(where);
      const shown = slack.messages.filter(({ channel }) => channel === id);
      const target = shown.findLast((message) => slack.read(message).includes(`[${button}]`));
      if (target === undefined) throw new Error(`Nothing in ${where} has [${button}]`);
      return slack.person('ana').clicks(target, button);
    },
    finish: () => platform.finish(domain),
    hold: (fraction: number) => platform.hold(domain, fraction),
    /** Waits until ana reads a text that begins so, and answers all of it. */
    reads: (begin: string | RegExp, except = '') =>
      slack.until(
        () => texts().find((text) => text !== except && text.search(begin) === 0),
        20_000,
        `${begin} in ${where}`,
      ),
  };
}

/** Somebody starts an export in the platform's own dashboard. Returns its job id. */
export async function startsElsewhere(
  { platform }: Pick<World, 'platform'>,
  { domain = 'docs.acme.com', apiKey = platform.apiKey } = {},
): Promise<string> {
  const answer = await platform.fetch('http://platform.invalid/v1/static-export/jobs', {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain }),
  });
  return ((await answer.json()) as { jobId: string }).jobId;
}
