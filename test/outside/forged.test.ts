import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SentMessage } from '../../demo/slack/workspace.ts';
import { registry } from '../../src/commands/index.ts';
import { updateActions } from '../../src/jobs/deployment/record.ts';
import { keys } from '../../src/store/keys.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { dayAfter, digestsOn, digestWorld } from '../support/flows/digest-stage.ts';
import { plain } from '../support/flows/reading.ts';
import { stage } from '../support/flows/stage.ts';
import { buttonsIn, menuButtonsIn } from '../support/slack/rendering.ts';

type Clicker = 'ben' | 'gus' | 'eve';
const CLICKERS: readonly Clicker[] = ['ben', 'gus', 'eve'];

/** They name no record: each opens a modal, or shows or starts what its clicker could type as well. */
const NAME_NOTHING = [
  'agent.instruct',
  'digest.set_up',
  'export.ask',
  'export.start_another',
  'export.use_domain',
  'export.use_typed',
  'status.audit',
  'status.details',
  'welcome.how',
];

/** Their buttons carry what those beside them do not. */
const OF_THEIR_OWN = ['agent.start_new', 'digest.ask_agent', ...updateActions];

/** Guests and other organizations are named here, so that nothing but what they can see stands in their way. */
const everybody =
  'allow: { export: [everyone, U0GUS, U0EVE], agent: [everyone, U0GUS, U0EVE], digest: [everyone, U0GUS, U0EVE], deploy: [everyone, U0GUS, U0EVE] }\n';

const REFUSED = expect.stringMatching(
  /somebody else's|n.t yours|[Oo]nly (?:whoever|the author)|Only \S+ can answer|can't see|another workspace|no longer (?:know|have)/,
);

/** It takes every webhook. */
const receiver = createServer((_, response) => void response.writeHead(204).end());
beforeAll(() => once(receiver.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => receiver.close());

const deployments = () => {
  const { port } = receiver.address() as AddressInfo;
  const webhook = `{ url: http://127.0.0.1:${port}, secret: { env: DEPLOY_SECRET } }`;
  return updateActions.map((_, n) => `      d${n}: { webhook: ${webhook} }`).join('\n');
};

describe('an id that somebody made up', () => {
  const scene = stage({
    ...digestWorld,
    bot: ({ platform }) => ({
      env: { DOCS_DOMAIN: 'docs.acme.com', DEPLOY_SECRET: `whsec_${randomBytes(24).toString('base64')}` },
      config: `limits: { analyticsPerHour: 10000 }
${everybody}projects:
  acme:
    projectId: ${platform.projectId}
    domains: [docs.acme.com]
    deployments:
${deployments()}
`,
    }),
  });
  const { person, asks, exporting, until } = scene;
  const agents = agentsOn(scene);
  const digests = digestsOn(scene);
  /** What buttons carry that were shown to those who are in #private, by action. */
  let carried: Map<string, string>;

  /** All that can be known of what is kept and of what was done. */
  async function state(): Promise<unknown> {
    const { client } = scene.world.redis;
    const found = await client.keys(keys.run('*'));
    const inboxes = await client.keys(keys.inbox('*'));
    const runs = await Promise.all(found.toSorted().map((key) => client.hgetall(key)));
    const waiting = await Promise.all(inboxes.toSorted().map((key) => client.lrange(key, 0, -1)));
    const shown = scene.slack.messages.map((message) => scene.slack.read(message));
    return { runs, waiting, shown, starts: scene.platform.starts.length, sent: agents.instructions() };
  }

  async function home(who: Clicker) {
    if (person(who).home() === undefined) {
      await person(who).opensHome();
      await scene.slack.until(() => person(who).home());
    }
    const view = person(who).home();
    if (view === undefined) throw new Error('no Home');
    return view;
  }

  /** What somebody reads after a click that no client would offer, on Home. */
  async function clicks(who: Clicker, action: string, value: string): Promise<string> {
    const button = { type: 'button', action_id: action, value, text: { type: 'plain_text', text: 'Forged' } };
    const blocks = [{ type: 'actions', block_id: 'forged', elements: [button] }];
    const view = await home(who);
    await person(who).clicks({ ...view, blocks } as typeof view, 'Forged');
    const modal = person(who).modal();
    const read = modal === undefined ? '' : plain(person(who).reads(modal));
    while (person(who).modal()) await person(who).closes();
    return read;
  }

  /** What there is to be seen in #private, after which only ana is left in it. */
  async function tellStories() {
    const week = await digests.toSunday();
    digests.reads('/quickstart', week, { human: 770, ai: 140 });
    await exporting('/docs-export docs.acme.com --private', { where: '#private' });
    scene.platform.finish('docs.acme.com');
    await digests.post('I sent you the link privately', '#private');
    await person('ana').clicks(await digests.post('Update d0', '#private'), 'Update d0');
    await digests.post('d0 notified', '#private');
    await asks('/docs-export docs.acme.com --private --version next', { where: '#private', who: 'ben' });
    await until(['next', '42%'], '#private');
    scene.platform.finish('docs.acme.com');
    await person('ana').clicks(
      await digests.post('docs.acme.com (next) is exported', '#private'),
      'Get my own link',
    );
    await until(['New link', '(next)'], '@ana');
    scene.platform.site.plan({ logs: ['Error in guides/x.mdx'] });
    await asks('/docs-site preview main', { where: '#private' });
    await digests.post('The preview of main failed', '#private');
    const { card } = await agents.follows({ where: '#private' });
    await person('ben').says('#private', 'Also describe the limits', { threadTs: card.ts });
    await agents.note('ben', 'Is this for the agent?');
    const talk = await person('ben').says('#private', 'The limits are not described');
    await agents.replies(talk, '@Docket add a page about limits');
    await agents.note('ana', 'Start a new one');
    const list = await digests.creates({}, { where: '#private' });
    await asks('/docs-export schedule', { where: '#private' });
    await person('ana').submits({ Channel: '#private', Day: 'Saturday' });
    await digests.note('ana', 'Set up · scheduled export');
    await digests.toBerlin(1, '09:00');
    const root = await digests.digest('14–20 Sep 2026', { where: '#private', has: ['Ask the agent'] });
    expect(dayAfter(week, 7)).toBe('2026-09-21');

    // Of several that carry the same, ana's own came first.
    const shown = [
      root,
      list,
      ...scene.slack.ephemerals,
      ...scene.slack.messages.toReversed(),
    ] as SentMessage[];
    carried = new Map(
      shown
        .flatMap(({ blocks }) => [...buttonsIn(blocks as never), ...menuButtonsIn(blocks as never)])
        .flatMap(({ action_id: action, value }) => (value === undefined ? [] : [[action, value] as const])),
    );
    for (const who of CLICKERS) scene.slack.channel('#private').members.delete(person(who).id);
    await digests.settled();
    // The digest's file comes last.
    await expect.poll(async () => JSON.stringify(await state())).toMatch(/lastWeek.*\.csv\]/s);
  }

  /** What a forged button carries: what a real one did, else what one beside it did. */
  function carriedBy(action: string): string {
    const [feature = ''] = action.split('.');
    const sibling = [...carried].find(
      ([other]) => other.startsWith(`${feature}.`) && ![...NAME_NOTHING, ...OF_THEIR_OWN].includes(other),
    );
    const value = carried.get(action) ?? sibling?.[1];
    if (value === undefined)
      throw new Error(`Nothing shown carries what ${action} takes: add a story that shows it`);
    return value;
  }

  const forged = registry.buttons
    .map(({ action }) => action)
    .filter((action) => !NAME_NOTHING.includes(action));

  test('every action but those that name nothing is forged', () => {
    const known = registry.buttons.map(({ action }) => action);
    expect(NAME_NOTHING.filter((action) => !known.includes(action))).toEqual([]);
    expect(forged.length).toBeGreaterThan(20);
  });

  test('in a button does nothing for those who are not in the channel', async () => {
    await tellStories();
    for (const action of forged) {
      const value = action === 'home.answer' ? answerOf(carriedBy('agent.send')) : carriedBy(action);
      const before = await state();
      for (const who of CLICKERS)
        expect.soft([action, who, await clicks(who, action, value)]).toEqual([action, who, REFUSED]);
      expect.soft({ action, state: await state() }).toEqual({ action, state: before });
    }
  });

  const answerOf = (threadValue: string) => {
    const { run, about } = JSON.parse(threadValue);
    return JSON.stringify({ v: 1, run, need: `held ${about[0]}` });
  };

  test('in a form reaches no thread that its maker cannot see', async () => {
    const runOf = ({ blocks }: SentMessage): string => {
      const buttons = [...buttonsIn(blocks as never), ...menuButtonsIn(blocks as never)];
      return JSON.parse(buttons.find(({ value }) => value?.includes('run'))?.value ?? '').run;
    };
    const hidden = runOf((await agents.follows({ where: '#private' })).card);
    scene.slack.channel('#private').members.delete(person('ben').id);
    const { card } = await agents.follows();
    await person('ben').usesShortcut(
      'Send to the docs agent',
      await agents.replies(card, 'aside: who mends it?'),
    );
    await person('ben').submits({ Instruction: 'Mend the first table' });
    expect(await agents.sent(1)).toEqual(['Mend the first table']);
    const { body = '' } = scene.slack.lastRequest ?? {};
    const [view] = /V[A-Z0-9]+/.exec(body) ?? [];
    const forge = (thread: string, id: string) =>
      scene.slack.sendRaw({ body: body.replaceAll(`${view}`, id).replaceAll(runOf(card), thread) });
    await forge(hidden, 'VFORGED1');
    await agents.note('ben', 'no longer followed');
    // The same form reaches the thread that its maker can see, and nothing else was sent.
    await forge(runOf(card), 'VFORGED2');
    expect(await agents.sent(2)).toEqual(['Mend the first table', 'Mend the first table']);
  });

  test('in a form sets up no digest where its maker is not', async () => {
    await asks('/docs-digest create', { who: 'ben' });
    await person('ben').submits({ Channel: '#docs', Time: '00:30', 'Time zone': 'UTC' });
    const { body = '' } = scene.slack.lastRequest ?? {};
    const { id } = scene.slack.channel('#docs');
    const { secret, direct } = {
      secret: scene.slack.channel('#secret'),
      direct: scene.slack.channel('@ana'),
    };
    scene.slack.channel('#private').members.delete(person('ben').id);
    for (const other of [scene.slack.channel('#private').id, secret.id, direct.id, person('ana').id]) {
      const forgedBody = body
        .replace(`%22selected_conversation%22%3A%22${id}`, `%22selected_conversation%22%3A%22${other}`)
        .replace('00%3A30', '09%3A00');
      const { body: answer } = await scene.slack.sendRaw({ body: forgedBody });
      expect(JSON.parse(answer)).toEqual({
        response_action: 'errors',
        errors: { channel: expect.stringMatching(/^I can't see you in that channel/) },
      });
    }
    expect(await state()).toMatchObject({ runs: [], shown: [] });
  });
});
