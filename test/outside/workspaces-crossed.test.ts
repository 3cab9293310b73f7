import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SentMessage } from '../../demo/slack/workspace.ts';
import { listenLocally } from '../../demo/wire.ts';
import { registry } from '../../src/commands/index.ts';
import { keys } from '../../src/store/keys.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { dayAfter, digestsOn } from '../support/flows/digest-stage.ts';
import { plain } from '../support/flows/reading.ts';
import type { Stage } from '../support/flows/stage.ts';
import { createTwoWorkspaces, GLOBEX, type TwoWorkspaces } from '../support/flows/workspaces.ts';
import { buttonsIn, menuButtonsIn } from '../support/slack/rendering.ts';

const DAY_MS = 86_400_000;
/** The Sunday after now, 12:00: Redis' own clock must not be ahead, or it drops links. */
const SUNDAY_MS = Math.ceil(Date.now() / (7 * DAY_MS)) * 7 * DAY_MS + 3.5 * DAY_MS;

/** Texts that only people of acme may read. */
const OF_ACME = /acme|limits|production|pull request|\baj_|\bse_/i;

/** A submission of a form once more, from this team. Only Docket knows where its answer would go. */
function forgedFrom(body: string, team: string): string {
  const payload = JSON.parse(new URLSearchParams(body).get('payload') ?? '{}');
  const { responseUrl: _, ...origin } = JSON.parse(payload.view.private_metadata);
  const view = { ...payload.view, id: `${payload.view.id}F`, private_metadata: JSON.stringify(origin) };
  const text = JSON.stringify({ ...payload, view }).replaceAll('T0ACME', team);
  return new URLSearchParams({ payload: text }).toString();
}

const GONE = expect.stringMatching(/no longer|already removed|another workspace/);

/** Buttons that name no record. */
const NAME_NOTHING =
  /^(?:agent\.instruct|digest\.set_up|export\.(?:ask|start_another|use_domain|use_typed)|status\.\w+|welcome\.how)$/;

describe('what people of one workspace have set up', () => {
  const deployment = createServer((_, response) => void response.writeHead(204).end());
  let [two, acme, globex]: [TwoWorkspaces, Stage, Stage] = [] as never;
  let root: SentMessage;
  let card: SentMessage;
  let offer: SentMessage;
  let reply: SentMessage;
  /** What acme's buttons carry, by action. */
  let carried: Map<string, string>;
  /** The submissions of acme's modals that name a record, as Slack sent them. */
  const submissions: Record<string, string> = {};
  let agentJob: string;

  /** All that is kept of acme, and what came of it. */
  async function state(): Promise<unknown> {
    const { client } = two.world.redis;
    const found = (await client.keys(keys.run('*'))).toSorted();
    const runs = await Promise.all(found.map((key) => client.hgetall(key)));
    const own = runs.filter(({ json = '' }) => json.includes('"teamId":"T0ACME"'));
    const inboxes = await client.keys(keys.inbox('*'));
    const sent = agentsOn(acme).instructions();
    return { own, inboxes, sent, starts: acme.platform.starts.length, shown: acme.sees() };
  }

  /** Waits until nothing of acme changes any more. */
  async function settled() {
    const seen: string[] = [];
    const isSame = async () => {
      seen.push(JSON.stringify(await state()));
      return seen.at(-1) === seen.at(-2);
    };
    await expect.poll(isSame, { interval: 300, timeout: 20_000 }).toBe(true);
  }

  /** Checks that nothing of acme changes. */
  async function changesNothing(what: string, act: () => Promise<unknown>) {
    const before = await state();
    await act();
    expect.soft({ what, state: await state() }).toEqual({ what, state: before });
  }

  /** What somebody reads in answer to the newest request: a modal, or a private answer. */
  function answered(scene: Stage, before: number): string {
    const modal = scene.person('ana').modal();
    if (modal !== undefined) return plain(scene.person('ana').reads(modal));
    const notes = scene.slack.ephemerals.slice(before);
    return notes.map((note) => plain(scene.slack.read(note))).join('\n');
  }

  async function closesAll({ person }: Stage) {
    while (person('ana').modal()) await person('ana').closes();
  }

  /** Opens a form with a button of acme, submits it, and keeps the request. */
  async function keepSubmission(name: string, open: () => Promise<unknown>, values: object) {
    await open();
    await acme.slack.until(() => acme.person('ana').modal(), 20_000, `the form ${name}`);
    await acme.person('ana').submits(values as never);
    submissions[name] = acme.slack.lastRequest?.body ?? '';
    await closesAll(acme);
  }

  beforeAll(async () => {
    const { url } = await listenLocally(deployment);
    two = await createTwoWorkspaces({
      startMs: SUNDAY_MS,
      production: `{ webhook: { url: ${url}, secret: { env: DEPLOY_SECRET } } }`,
      env: { DEPLOY_SECRET: `whsec_${randomBytes(24).toString('base64')}` },
    });
    ({ acme, globex } = two);
    await two.startBot();
  });
  /** What acme has of everything, and globex of scheduled exports. */
  async function tellStories() {
    const [agents, digests] = [agentsOn(acme), digestsOn(acme)];
    const week = dayAfter(new Date(SUNDAY_MS).toISOString().slice(0, 10), -6);
    digests.reads('/quickstart', week, { human: 770, ai: 140 });
    // Of each workspace, so that both do their own at the same time.
    for (const scene of [acme, globex]) {
      await scene.asks('/docs-export schedule');
      const answer = await scene
        .person('ana')
        .submits({ Channel: '#docs', Day: 'Every day', Time: '06:00', 'Time zone': 'UTC' });
      expect(answer.errors).toBeUndefined();
      await scene.until(['Not exported yet']);
    }
    const list = await digests.creates();
    await acme.exporting();
    acme.platform.finish('docs.acme.com');
    await acme.until([', took']);
    await acme.clicks('ana', ', took', 'Deploy to production');
    await acme.until(['Sent to production', "production hasn't confirmed that it's live"]);
    ({ card, jobId: agentJob } = await agents.follows({ seed: { ref: 'agent/limits' } }));
    reply = await acme.person('ben').says('#docs', 'Also describe the limits', { threadTs: card.ts });
    await agents.note('ben', 'Is this for the agent?');
    offer = await acme.person('ana').says('#docs', '@Docket add a page about limits');
    await agents.note('ana', 'Start an agent job');
    for (const domain of ['docs.acme.com', 'docs.globex.com']) acme.platform.plan({ domain, durationMs: 40 });
    await digests.toBerlin(1, '09:00');
    root = await digests.digest('', { has: ['Ask the agent'] });
    await acme.until(['✅ Exported TIME · docs.acme.com']);
    await globex.until(['✅ Exported TIME · docs.globex.com']);
    const scheduled = await acme.asks('/docs-export schedule list');
    if (scheduled.ephemeral === undefined) throw new Error('no list');
    const { ephemeral } = scheduled;
    await keepSubmission('export schedule', () => acme.person('ana').clicks(ephemeral, 'Change'), {
      Time: '07:00',
    });
    await keepSubmission('digest', () => acme.person('ana').clicks(list, 'Change'), { Time: '10:00' });
    await keepSubmission('ask', () => digests.asksAgent('ana', root, 'pages'), {});
    await keepSubmission(
      'instruction',
      () => acme.person('ana').usesShortcut('Send to the docs agent', reply),
      {
        'Your request': 'Describe the limits',
      },
    );
    await agents.sent(1);
    await digests.settled();
    await acme.until(['.csv]', 'Pull request · ']);
    await settled();
    const shown = [list, ephemeral, ...acme.slack.ephemerals, ...acme.slack.messages];
    carried = new Map(
      shown
        .flatMap(({ blocks }) => [...buttonsIn(blocks as never), ...menuButtonsIn(blocks as never)])
        .flatMap(({ action_id: action, value }) => (value === undefined ? [] : [[action, value] as const])),
    );
  }

  afterAll(async () => {
    await two.close();
    deployment.close();
  });

  test('was done there alone: each got its own export, and acme its digest', async () => {
    await tellStories();
    expect(acme.sees().join('\n')).not.toContain('globex');
    const [{ jobId: ownJob } = expect.fail('no export')] = globex.platform.starts.filter(
      ({ domain }) => domain === 'docs.globex.com',
    );
    const { sees } = globex.person('ana');
    const seen = ['#docs', '@ana']
      .flatMap((where) => sees(where))
      .map((text) => plain(text.replaceAll(ownJob, 'its own')))
      .join('\n');
    expect(seen).toContain('Scheduled by ana · job its own · ');
    expect(seen).toContain('✅ Exported TIME · docs.globex.com');
    expect(seen).not.toMatch(OF_ACME);
  });

  test('is under keys that name its workspace, its record, or a thing that workspaces share', async () => {
    expect(await two.keysOfNoWorkspace()).toEqual([]);
  });

  test('is in no list, count, Home tab or audit line of the other', async () => {
    for (const command of [
      ...['/docs-export status', '/docs-export schedule list', '/docs-agent list', '/docs-digest list'],
      ...['/docs-status', '/docs-agent stop'],
    ]) {
      const answer = globex.told(await globex.asks(command)) ?? '';
      expect.soft([command, answer]).toEqual([command, expect.not.stringMatching(OF_ACME)]);
    }
    const { ephemeral = expect.fail('no answer') } = await globex.asks('/docs-status');
    await globex.person('ana').clicks(ephemeral, 'Details');
    expect(globex.toldLast('ana')).toContain('Agent threads — none followed');
    expect(globex.toldLast('ana')).not.toMatch(OF_ACME);
    await globex.person('ana').opensHome();
    const home = await globex.slack.until(() => globex.person('ana').home());
    const text = plain(globex.person('ana').reads(home));
    expect(text).toContain('docs.globex.com');
    expect(text).not.toMatch(/acme|Needs you|You follow/);
    expect((await globex.audit()).join('\n')).not.toMatch(/acme|digest|agent|deployment/);
    expect((await acme.audit()).join('\n')).not.toContain('globex');
  });

  test('is reached by no command that is typed in the other, also not by its id', async () => {
    const [exported] = acme.platform.exports.keys();
    const project = 'docs';
    for (const command of [
      ...['pause', 'resume', 'run', 'preview', 'remove'].map((verb) => `/docs-digest ${verb}`),
      ...[`/docs-agent stop ${agentJob}`, `/docs-agent stop ${agentJob} --project ${project}`],
      ...[`/docs-agent follow ${agentJob} --project ${project} Improve it`],
      ...[`/docs-agent follow ${agentJob.slice(0, 6)}…${agentJob.slice(-4)} Improve it`],
      ...[`/docs-export watch ${exported?.slice(0, 7)}…${exported?.slice(-4)}`],
      ...[`/docs-export watch ${exported} --project ${project}`],
      ...[`/docs-export docs.acme.com`, `/docs-export docs.acme.com --project ${project}`],
      ...[`/docs-digest create --project ${project}`, `/docs-digest last week --project ${project}`],
    ])
      await changesNothing(command, async () => {
        const told = globex.told(await globex.asks(command));
        expect
          .soft([command, told])
          .toEqual([command, expect.stringMatching(/^(?:No|There|I don't|This|Project|docs\.acme)/)]);
      });
    // The platform knows no such job of the other project.
    for (const command of [`/docs-export watch ${exported}`, `/docs-agent follow ${agentJob} Improve it`])
      await changesNothing(command, async () => {
        await globex.asks(command);
        await globex.slack.until(
          () => /with the ID|no longer|doesn't know/i.test(globex.toldLast('ana') ?? ''),
          10_000,
          command,
        );
      });
  });

  test('is paused and begun there alone', async () => {
    const list = async (scene: Stage) => scene.told(await scene.asks('/docs-export schedule list'));
    await acme.asks('/docs-export schedule pause');
    expect(await list(acme)).toContain('paused by you');
    expect(await list(globex)).toContain('next TIME');
    await acme.asks('/docs-export schedule resume');
    acme.platform.plan({ domain: 'docs.acme.com', durationMs: 40 });
    const before = acme.platform.starts.length;
    await acme.asks('/docs-export schedule run');
    await acme.slack.until(() => acme.sees().filter((text) => text.includes(', took')).length === 2);
    expect(acme.platform.starts.slice(before).map(({ domain }) => domain)).toEqual(['docs.acme.com']);
    expect(globex.sees().filter((text) => text.includes(', took'))).toHaveLength(1);
    await settled();
  });

  test('is moved by no button of it in the other', async () => {
    const forged = registry.buttons
      .map(({ action }) => action)
      .filter((action) => carried.has(action) && !NAME_NOTHING.test(action));
    expect(forged.length).toBeGreaterThan(20);
    await globex.person('ana').opensHome();
    const view = await globex.slack.until(() => globex.person('ana').home());
    for (const action of forged) {
      const button = {
        type: 'button',
        action_id: action,
        value: carried.get(action),
        text: { type: 'plain_text', text: 'Forged' },
      };
      const blocks = [{ type: 'actions', block_id: 'forged', elements: [button] }];
      await changesNothing(action, async () => {
        const before = globex.slack.ephemerals.length;
        await globex.person('ana').clicks({ ...view, blocks } as typeof view, 'Forged');
        expect.soft([action, answered(globex, before)]).toEqual([action, GONE]);
        await closesAll(globex);
      });
    }
  });

  test('is changed by no form of it in the other', async () => {
    for (const [name, body] of Object.entries(submissions)) {
      for (const team of ['T0ACME', 'T0GLOBEX'])
        await changesNothing(`${name} as of ${team}`, async () => {
          const { body: answer } = await globex.slack.sendRaw({ body: forgedFrom(body, team) });
          expect.soft([name, team, answer]).toEqual([name, team, GONE]);
        });
    }
  });

  test('is not offered by the shortcut on a message with the same channel and time', async () => {
    for (const message of [card, reply, root]) {
      const own = { ...message, text: 'Good morning', blocks: [], attachments: [] };
      await globex.person('ana').usesShortcut('Send to the docs agent', own);
      await globex.slack.until(() => globex.person('ana').modal());
      const fields = globex.person('ana').fields();
      expect(JSON.stringify(fields)).not.toMatch(/acme|agent\/limits/);
      await closesAll(globex);
    }
  });

  test('is not moved by messages and reactions with the same channel and times', async () => {
    const { id: channel } = globex.slack.channel('#docs');
    const base = { type: 'message', channel, channel_type: 'channel', user: 'U0BEN' };
    const [ts, later] = [`${Number(card.ts) + 1}.000100`, `${Number(card.ts) + 2}.000100`];
    const edited = {
      ...base,
      ts: reply.ts,
      thread_ts: card.ts,
      text: 'Rather not',
      edited: { user: 'U0BEN', ts: later },
    };
    await changesNothing('messages', async () => {
      for (const event of [
        { ...base, ts, thread_ts: card.ts, parent_user_id: 'U0DOCKET', text: 'Add a page', event_ts: ts },
        {
          ...base,
          subtype: 'message_changed',
          message: edited,
          previous_message: { ...edited, edited: undefined, text: 'Also' },
          ts: later,
          event_ts: later,
        },
        {
          ...base,
          subtype: 'message_deleted',
          deleted_ts: offer.ts,
          previous_message: { ...base, ts: offer.ts, text: 'x' },
          ts: later,
          event_ts: later,
        },
      ])
        await globex.slack.sendEvent(event);
    });
  });

  test('is not reached by requests that name its workspace, but are signed by the other app', async () => {
    const { id: channel } = globex.slack.channel('#docs');
    const ts = `${Number(card.ts) + 3}.000100`;
    const event = {
      ...{ type: 'message', channel, channel_type: 'channel', user: 'U0ANA', text: '<@U0DOCKET> Add a page' },
      ...{ ts, thread_ts: card.ts, event_ts: ts },
    };
    const named = { team_id: 'T0ACME', context_team_id: 'T0ACME', authorizations: [{ team_id: 'T0ACME' }] };
    const envelope = {
      type: 'event_callback',
      api_app_id: 'A0DOCKET',
      event_id: 'EvFORGED',
      event,
      ...named,
    };
    await changesNothing('an event', async () => {
      const contentType = 'application/json';
      const { status } = await globex.slack.sendRaw({ body: JSON.stringify(envelope), contentType });
      expect(status).toBe(200);
    });
    await globex.asks('/docs-digest list', { who: 'ben' });
    const { body = '' } = globex.slack.lastRequest ?? {};
    await changesNothing('a command', async () => {
      const answer = await globex.slack.sendRaw({ body: body.replaceAll('T0GLOBEX', 'T0ACME') });
      expect(answer.body).toContain('belongs to another workspace');
    });
  });
});

describe('a channel that two workspaces share', () => {
  test('hears each app in its own workspace: people of the other one instruct nobody', async () => {
    const two = await createTwoWorkspaces();
    const { acme, globex } = two;
    await two.startBot();
    const agents = agentsOn(acme);
    const { card, jobId } = await agents.follows({ where: '#shared' });
    agents.plan(jobId);
    const ts = `${Number(card.ts) + 1}.000100`;
    const event = {
      ...{ type: 'message', channel: card.channel, channel_type: 'channel', user: 'U0CARL' },
      ...{ text: 'Also describe the limits', ts, thread_ts: card.ts, event_ts: ts },
      ...{ user_team: GLOBEX.id, team: GLOBEX.id },
    };
    // Slack sends it to both apps.
    for (const { slack } of [acme, globex]) await slack.sendEvent(event, { shared: true });
    await agents.replies(card, '@Docket describe the errors');
    expect(await agents.sent(1)).toEqual(['describe the errors']);
    expect(agents.below(card).join('\n')).not.toContain('limits');
    expect(globex.slack.messages).toEqual([]);
    expect(await globex.audit()).toEqual([]);
    await two.close();
  });
});

test('a token of one that Slack refuses from the start stops that one alone, and its work continues with a new one', async () => {
  const two = await createTwoWorkspaces();
  const { acme, globex, world } = two;
  const bot = await two.startBot();
  await globex.exporting('/docs-export docs.globex.com');
  await bot.end();
  const withOld = await two.startBot({ env: { GLOBEX_BOT_TOKEN: 'xoxb-that-was-revoked' } });
  world.platform.finish('docs.globex.com');
  await acme.exporting('/docs-export docs.acme.com');
  world.platform.finish('docs.acme.com');
  await acme.until(['Exported · docs.acme.com · 12 pages, ']);
  expect(globex.told(await globex.asks('/docs-status'))).toContain("I can't reach Slack's API");
  expect(globex.sees().join('\n')).not.toContain(', took');
  const answer = await fetch(`http://127.0.0.1:${withOld.port}/readyz`);
  const { problems } = (await answer.json()) as { problems: { name: string; text: string }[] };
  expect(problems).toEqual([
    { name: 'slack_token', level: 'error', text: expect.stringContaining('GLOBEX_BOT_TOKEN') },
  ]);
  await withOld.end();
  await two.startBot();
  await globex.until(['Exported · docs.globex.com · 12 pages, ']);
  expect(acme.sees().join('\n')).not.toContain('globex');
  await two.close();
});
