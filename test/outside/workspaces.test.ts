import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { plain } from '../support/flows/reading.ts';
import { type Stage, stageOf } from '../support/flows/stage.ts';
import { createTwoWorkspaces, GLOBEX, type TwoWorkspaces } from '../support/flows/workspaces.ts';
import { type Bot, createWorld, type World } from '../support/flows/world.ts';
import { buttonsIn, menuButtonsIn } from '../support/slack/rendering.ts';

const ACME_ALONE = /docs\.acme\.com|T0ACME|acme\.slack\.com|project docs/;

/** The problems that a bot reports to operators. */
async function problemsOf(bot: Bot | undefined): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${bot?.port}/readyz`);
  return ((await answer.json()) as { problems: unknown }).problems;
}

/** The runs of a workspace, with what waits for them. */
async function recordsOf({ redis: { client } }: World, teamId: string) {
  const found = await client.keys(keys.run('*'));
  const ids = found.toSorted().map((key) => key.slice(keys.run('').length));
  const records = ids.map(async (id) => ({
    id,
    run: await client.hgetall(keys.run(id)),
    inbox: await client.lrange(keys.inbox(id), 0, -1),
  }));
  return (await Promise.all(records)).filter(({ run }) => run.team === teamId);
}

describe('two workspaces with the same ids of people and channels', () => {
  let two: TwoWorkspaces;
  let acme: Stage;
  let globex: Stage;
  beforeAll(async () => {
    two = await createTwoWorkspaces();
    ({ acme, globex } = two);
    await two.startBot();
  });
  afterEach(() => two.forget());
  afterAll(() => two.close());

  const home = async ({ person, slack }: Stage) => {
    const before = person('ana').home();
    await person('ana').opensHome();
    const view = await slack.until(() => {
      const now = person('ana').home();
      return now !== before && now;
    });
    return { view, text: plain(person('ana').reads(view)) };
  };

  /** What ana reads in answers, on Home and in channels. */
  async function readsEverywhere(scene: Stage) {
    const { asks, told, sees } = scene;
    const commands = ['/docs-export status', '/docs-status', '/docs-agent list', '/docs-digest list'];
    const answers: (string | undefined)[] = [];
    for (const command of commands) answers.push(told(await asks(command)));
    return [...answers, (await home(scene)).text, ...sees(), ...sees('@ana')].join('\n');
  }

  /** All that is kept of a workspace, and what the platform was asked to do. */
  const state = async (teamId: string) => ({
    own: await recordsOf(two.world, teamId),
    starts: acme.platform.starts.length,
    sent: agentsOn(acme).instructions(),
    builds: acme.platform.site.builds.length,
  });

  test('an export of each is shown there alone', async () => {
    await acme.exporting('/docs-export docs.acme.com');
    await acme.asks('/docs-site preview main');
    await acme.until(['Preview ready · main']);
    await globex.exporting('/docs-export docs.globex.com');
    const [inAcme, inGlobex] = [await readsEverywhere(acme), await readsEverywhere(globex)];
    expect(inAcme).toContain('docs.acme.com');
    expect(inAcme).not.toContain('globex');
    expect(inGlobex).toContain('docs.globex.com');
    expect(inGlobex).not.toMatch(ACME_ALONE);
    expect(globex.sees().join('\n')).not.toContain('preview');
    expect(globex.told(await globex.asks('/docs-export docs.acme.com'))).not.toMatch(/started|Exporting/);
    acme.platform.finish('docs.acme.com');
    await acme.until([', took', '[Download]']);
    expect(globex.sees().join('\n')).not.toContain(', took');
    expect(await two.keysOfNoWorkspace()).toEqual([]);
    expect(await globex.audit()).not.toContainEqual(expect.stringContaining('acme'));
    expect(await acme.audit()).not.toContainEqual(expect.stringContaining('globex'));
  });

  test('people have the permissions of their own workspace', async () => {
    expect(globex.told(await globex.asks('/docs-export docs.globex.com', { who: 'ben' }))).toContain(
      "can't start exports",
    );
    await acme.exporting('/docs-export docs.acme.com', { who: 'ben' });
    const details = async ({ asks, person, toldLast }: Stage) => {
      const { ephemeral } = await asks('/docs-status');
      if (ephemeral === undefined) throw new Error('no answer');
      await person('ana').clicks(ephemeral, 'Details');
      return toldLast('ana');
    };
    expect(await details(acme)).toContain('[Audit log]');
    expect(await details(globex)).toContain('Limit');
    expect(await details(globex)).not.toMatch(/\[Audit log\]|Queue/);
  });

  test('a channel that is private in one is not public because it is in the other', async () => {
    globex.slack.channel('#docs').kind = 'private';
    await globex.exporting('/docs-export docs.globex.com');
    await acme.exporting('/docs-export docs.acme.com');
    const listed = async ({ asks, told }: Stage) =>
      told(await asks('/docs-status', { who: 'ben', where: '#elsewhere' }));
    expect(await listed(acme)).toContain('docs.acme.com');
    expect(await listed(globex)).not.toContain('docs.globex.com');
  });

  test('a request that is signed for one is refused at the address of the other', async () => {
    await acme.asks('/docs-export status');
    const { headers = {}, body = '' } = acme.slack.lastRequest ?? {};
    const send = (url = '') => fetch(url, { method: 'POST', headers, body }).then(({ status }) => status);
    expect(await send(globex.slack.botUrl)).toBe(401);
    expect(await send(acme.slack.botUrl)).toBe(200);
    expect(await send(acme.slack.botUrl?.replace('/acme/', '/'))).toBe(404);
  });

  test('buttons and replies of one do nothing in the other', async () => {
    const agents = agentsOn(acme);
    await acme.exporting('/docs-export docs.acme.com');
    const { card } = await agents.follows();
    await acme.person('ben').says('#docs', 'Also describe the limits', { threadTs: card.ts });
    await agents.note('ben', 'Is this for the agent?');
    acme.platform.finish('docs.acme.com');
    await acme.until([', took', '[Download]']);
    acme.platform.site.plan({ logs: ['Error in guides/x.mdx'] });
    await acme.asks('/docs-site preview main');
    await acme.until(['❌ @ana Preview failed · main\nError in guides/x.mdx']);
    await acme.asks('/docs-export schedule');
    await acme.person('ana').submits({ Channel: '#docs', Day: 'Saturday' });
    await acme.slack.until(() =>
      acme.slack.ephemerals.some((one) => acme.slack.read(one).includes('scheduled')),
    );
    await expect.poll(async () => (await state('T0ACME')).own.length).toBeGreaterThan(2);
    // A new schedule first looks whether its channel takes posts.
    await expect.poll(async () => JSON.stringify((await state('T0ACME')).own)).not.toContain('testing');
    const before = await state('T0ACME');
    const ids = before.own.map(({ id }) => id);
    const shown = [...acme.slack.ephemerals, ...acme.slack.messages, (await home(acme)).view];
    const carried = new Map(
      shown
        .flatMap(({ blocks }) => [...buttonsIn(blocks as never), ...menuButtonsIn(blocks as never)])
        .flatMap(({ action_id: action, value = '' }) =>
          ids.some((id) => value.includes(id)) ? [[action, value] as const] : [],
        ),
    );
    expect(carried.size).toBeGreaterThan(10);
    expect([...carried.keys()]).toEqual(expect.arrayContaining(['agent.preview', 'site.try_again']));
    const { view } = await home(globex);
    for (const [action, value] of carried) {
      const text = { type: 'plain_text', text: 'Forged' };
      const button = { type: 'button', action_id: action, value, text };
      const blocks = [{ type: 'actions', block_id: 'forged', elements: [button] }];
      await globex.person('ana').clicks({ ...view, blocks } as typeof view, 'Forged');
      const modal = globex.person('ana').modal();
      const said = modal === undefined ? '' : plain(globex.person('ana').reads(modal));
      while (globex.person('ana').modal()) await globex.person('ana').closes();
      expect.soft([action, said]).toEqual([action, expect.stringMatching(/no longer|already removed/)]);
      expect.soft({ action, state: await state('T0ACME') }).toEqual({ action, state: before });
    }
    // The same channel, thread and person.
    const { id: channel } = globex.slack.channel('#docs');
    const ts = `${Number(card.ts) + 1}.000100`;
    const reply = {
      type: 'message',
      channel,
      channel_type: 'channel',
      user: 'U0ANA',
      text: 'Add a page',
      ts,
    };
    await globex.slack.sendEvent({ ...reply, thread_ts: card.ts, event_ts: ts });
    expect(await state('T0ACME')).toEqual(before);
  });

  test('a key of one that is rejected alerts nobody in the other, and is no problem there', async () => {
    const rejected = { status: 401, body: { error: 'Invalid API key' } };
    acme.platform.wire.order('POST /v1/static-export/jobs', { kind: 'answer', ...rejected });
    await globex.asks('/docs-export docs.globex.com');
    await globex.until([
      '❌ @ana Not started · docs.globex.com\nMy access to the docs platform was rejected; ask your Docket admins.',
    ]);
    expect(globex.told(await globex.asks('/docs-status'))).toMatch(
      /My access to the docs platform is rejected/,
    );
    expect(acme.told(await acme.asks('/docs-status'))).toContain('All good');
    // Only there is ana an admin.
    expect(acme.sees('@ana')).toEqual([]);
    await acme.exporting('/docs-export docs.acme.com');
    acme.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'answer', ...rejected }, 1000);
    await acme.until(['DOCS_API_KEY has been rejected'], '@ana');
    expect(globex.sees('@ana')).toEqual([]);
    expect(globex.told(await globex.asks('/docs-status'))).not.toContain('DOCS_API_KEY');
  });

  test('a limit of one holds up no message of the other', async () => {
    const full = { status: 429, headers: { 'retry-after': '60' }, body: { ok: false, error: 'ratelimited' } };
    globex.slack.wire.order('chat.postMessage', { kind: 'answer', ...full }, Infinity);
    await globex.asks('/docs-export docs.globex.com');
    await globex.slack.until(() => globex.slack.wire.calls.some(({ name }) => name === 'chat.postMessage'));
    await acme.exporting('/docs-export docs.acme.com');
    expect(globex.sees()).toEqual([]);
    const told = async ({ told, asks }: Stage) => told(await asks('/docs-status'));
    expect(await told(acme)).not.toContain('429');
  });

  test('a token that one withdraws stops that one alone', async () => {
    await globex.exporting('/docs-export docs.globex.com');
    await acme.exporting('/docs-export docs.acme.com');
    await acme.slack.uninstall();
    acme.platform.finish('docs.globex.com');
    await globex.until([', took', '[Download]']);
    expect(globex.told(await globex.asks('/docs-status'))).not.toMatch(/token/i);
    expect(acme.told(await acme.asks('/docs-status'))).toMatch(/token/i);
    expect(await problemsOf(two.world.bots[0])).toMatchObject([
      { name: 'slack_token', text: expect.stringContaining('ACME_BOT_TOKEN') },
    ]);
  });
});

test('one workspace may be reached over Socket Mode, and the other over HTTP', async () => {
  const two = await createTwoWorkspaces({ transport: 'socket' });
  const { acme, globex } = two;
  await two.startBot();
  await acme.slack.until(() => acme.slack.sockets.open === 2);
  await acme.exporting('/docs-export docs.acme.com');
  await globex.exporting('/docs-export docs.globex.com');
  expect(acme.told(await acme.asks('/docs-export status'))).not.toContain('globex');
  await two.close();
});

describe('a workspace that the settings no longer have', () => {
  test('keeps its work: it goes to no other workspace', async () => {
    const two = await createTwoWorkspaces();
    const { acme, globex } = two;
    const bot = await two.startBot();
    await globex.exporting('/docs-export docs.globex.com');
    await bot.end();
    const before = await recordsOf(two.world, GLOBEX.id);
    const alone = await two.startBot({ only: 'acme' });
    acme.platform.finish('docs.globex.com');
    await expect
      .poll(() => problemsOf(alone), { timeout: 10_000 })
      .toMatchObject([{ name: 'workspace_gone', text: expect.stringContaining(GLOBEX.id) }]);
    await acme.exporting('/docs-export docs.acme.com');
    expect(acme.sees().join('\n')).not.toContain('globex');
    expect(before).toHaveLength(1);
    expect(await recordsOf(two.world, GLOBEX.id)).toEqual(before);
    await two.close();
  });
});

describe('a project that the settings give to another workspace', () => {
  test('is asked for nothing more in the name of the first one', async () => {
    const two = await createTwoWorkspaces();
    const { acme } = two;
    const bot = await two.startBot();
    await acme.exporting('/docs-export docs.acme.com');
    await bot.end();
    const edit = (config: string) =>
      config.replace('workspaces: [globex]', 'workspaces: [acme, globex]').replace('[acme]', '[globex]');
    await two.startBot({ edit });
    await acme.until(['My settings no longer have the project docs.']);
    await two.close();
  });
});

describe('a project of two workspaces', () => {
  test('has exports of each, and instructions of the people who may in their own', async () => {
    const two = await createTwoWorkspaces();
    const { acme, globex } = two;
    const edit = (config: string) =>
      config.replace('[acme]', '[acme, globex]').replace('deploy: [', 'agent: [U0SUE], deploy: [');
    await two.startBot({ edit });
    await acme.exporting('/docs-export docs.acme.com');
    await globex.exporting('/docs-export docs.acme.com');
    expect(acme.platform.starts).toHaveLength(2);
    await acme.person('ben').says('#docs', '@Docket add a page about limits');
    await agentsOn(acme).note('ben', 'Start an agent job');
    await globex.person('ben').says('#docs', '@Docket add a page about limits');
    await agentsOn(globex).note('ben', "You can't");
    await two.close();
  });

  test('has one update of its site at a time; exports follow it, and threads hear of instructions, in both', async () => {
    const two = await createTwoWorkspaces();
    const { acme, globex } = two;
    await two.startBot({ edit: (config) => config.replace('[acme]', '[acme, globex]') });
    await globex.asks('/docs-export schedule');
    const fields = {
      Domain: 'docs.acme.com',
      Channel: '#docs',
      Day: 'After each site update started in Slack',
    };
    expect((await globex.person('ana').submits(fields)).errors).toBeUndefined();
    await globex.until(['🕒 Not exported yet · docs.acme.com', '[⋯ Pause]']);
    acme.platform.site.plan({ hold: true });
    await acme.asks('/docs-site update');
    await acme.until(['⏳ Updating']);
    const second = globex.told(await globex.asks('/docs-site update docs'));
    expect(second).toContain('is already under way, requested by somebody in another workspace.');
    acme.platform.site.finish();
    await globex.until(['⏳ Exporting · docs.acme.com']);

    const { jobId, card } = await agentsOn(acme).follows();
    await agentsOn(globex).follows({ jobId: `${jobId} --project docs` });
    await acme.person('ana').says('#docs', 'Also mention the limits', { threadTs: card.ts });
    await globex.until(['⏳ Working · acme/docs @ agent/quickstart']);
    expect(globex.sees().join('\n')).not.toContain('limits');
    await two.close();
  });
});

describe('while Slack is down at the start', () => {
  test('the platform is asked about the work of named workspaces nevertheless', async () => {
    const two = await createTwoWorkspaces();
    const { globex, world } = two;
    const bot = await two.startBot();
    await globex.exporting('/docs-export docs.globex.com');
    await expect.poll(() => world.redis.client.keys(keys.team('*'))).toHaveLength(2);
    // Events that come while Slack is down are left to its retries.
    await globex.slack.until(() => globex.slack.events.every(({ attempts }) => attempts.length > 0));
    await bot.end();
    const failure = { kind: 'answer', status: 503, body: {} } as const;
    const orders = [two.acme, globex].map(({ slack }) => slack.wire.order(() => true, failure, Infinity));
    const polls = () => world.platform.wire.calls.filter(({ name }) => name.startsWith('GET ')).length;
    const before = polls();
    const isWho = ({ name }: { name: string }) => name === 'auth.test';
    const known = () =>
      [two.acme, globex].every(({ slack }) => slack.wire.calls.findLast(isWho)?.outcome === '200');
    await two.startBot();
    await expect.poll(polls, { timeout: 10_000 }).toBeGreaterThan(before);
    for (const order of orders) order.takeBack();
    // Until Docket knows who it is, events are left to Slack's retries, too.
    await globex.slack.until(known);
    world.platform.finish('docs.globex.com');
    await globex.until(['Exported · docs.globex.com · 12 pages, ']);
    await two.close();
  });
});

describe('two apps of the settings in one workspace of Slack', () => {
  test('are a problem that operators see', async () => {
    const two = await createTwoWorkspaces();
    const body = {
      ok: true,
      team_id: 'T0ACME',
      user_id: 'U0DOCKET',
      bot_id: 'B0DOCKET',
      url: 'https://acme.slack.com/',
    };
    two.globex.slack.wire.order('auth.test', { kind: 'answer', status: 200, body }, Infinity);
    const bot = await two.startBot();
    await expect.poll(() => problemsOf(bot)).toMatchObject([{ name: 'workspace_twice' }]);
    await two.close();
  });
});

describe('an app that is installed for a whole organization', () => {
  test('is refused with a sentence, to people and to operators', async () => {
    const world = await createWorld();
    const body = { ok: true, is_enterprise_install: true, enterprise_id: 'E0ACME', user_id: 'U0DOCKET' };
    world.slack.wire.order('auth.test', { kind: 'answer', status: 200, body }, Infinity);
    const bot = await world.startBot();
    const { asks, told } = stageOf(() => world);
    expect(told(await asks())).toContain("I'm installed for the whole organization");
    expect(await problemsOf(bot)).toMatchObject([{ name: 'slack_org_wide' }]);
    expect(bot.output()).toContain('Install it in one workspace');
    expect(world.platform.starts).toEqual([]);
    await world.close();
  });
});
