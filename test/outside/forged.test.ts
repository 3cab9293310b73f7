import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStandInGitHost } from '../../demo/git-host/git-host.ts';
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
  'export_schedule.set_up',
  'site.ask',
  'status.audit',
  'status.details',
  'welcome.how',
];

/** Their buttons carry what those beside them do not. */
const OF_THEIR_OWN = [
  ...['agent.dismiss', 'agent.start_alone', 'agent.start_new', 'agent.start_with_background'],
  ...['digest.ask_agent', 'deployment.more', ...updateActions],
];

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

/** The checks of each pull request have failed before anybody looks. */
const host = createStandInGitHost();
host.wire.onCall(({ name, detail }, at) => {
  if (name === 'GitHub pulls/{number}' && at === 'before')
    host.check(host.pull(String(detail.repository), Number(detail.number)), { build: 'failed' });
});
let hostServer: Awaited<ReturnType<typeof host.listen>>;
beforeAll(async () => {
  hostServer = await host.listen();
});
afterAll(() => hostServer.close());

const deployments = () => {
  const { port } = receiver.address() as AddressInfo;
  const webhook = `{ url: http://127.0.0.1:${port}, secret: { env: DEPLOY_SECRET } }`;
  return updateActions.map((_, n) => `      d${n}: { webhook: ${webhook} }`).join('\n');
};

describe('an id that somebody made up', () => {
  const scene = stage({
    ...digestWorld,
    // Forged clicks have no trigger for a form.
    mayViolate: /^views\.open: invalid_trigger_id/,
    bot: ({ platform }) => ({
      env: {
        DOCS_DOMAIN: 'docs.acme.com',
        DEPLOY_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
        GIT_TOKEN: host.token,
      },
      config: `limits: { analyticsPerHour: 10000 }
${everybody}projects:
  acme:
    projectId: ${platform.projectId}
    domains: [docs.acme.com]
    pullRequests: { github: { token: { env: GIT_TOKEN }, apiUrl: "${hostServer.url}/api/v3" } }
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
    const exported = await digests.post('link sent privately\n[Get my own link] [Deploy to d0]', '#private');
    // A deployment that has it is no longer offered.
    await person('ana').clicks(exported, 'More deployments');
    const form = await scene.slack.until(() => person('ana').modal());
    const offered = [structuredClone(exported), structuredClone(form)];
    await person('ana').closes();
    await person('ana').clicks(exported, 'Deploy to d0');
    await digests.post("d0 hasn't confirmed that it's live", '#private');
    await exporting('/docs-export docs.acme.com --private --version next', { where: '#private', who: 'ben' });
    scene.platform.finish('docs.acme.com');
    await person('ana').clicks(
      await digests.post('Exported · docs.acme.com next · 12 pages, ', '#private'),
      'Get my own link',
    );
    await until(['Your own link · docs.acme.com next', 'New link'], '@ana');
    scene.platform.site.plan({ logs: ['Error in guides/x.mdx'] });
    await asks('/docs-site preview main', { where: '#private' });
    await digests.post('❌ @ana Preview failed · main\nError in guides/x.mdx', '#private');
    const { card } = await agents.follows({ where: '#private' });
    await person('ben').says('#private', 'Also describe the limits', { threadTs: card.ts });
    await agents.note('ben', 'Is this for the agent?');
    const seed = { repository: `${hostServer.url}/acme/docs`, prLink: null };
    const opened = await agents.follows({ where: '#private', seed });
    await agents.replies(opened.card, 'Also describe the errors');
    await agents.untilBelow(opened.card, 'Checks failed · ');
    const talk = await person('ben').says('#private', 'The limits are not described');
    await agents.replies(talk, '@Docket add a page about limits');
    await agents.note('ana', 'Start an agent job');
    await person('ana').says('#private', '@Docket add a page about retries');
    await agents.note('ana', '[Start a job]');
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
      ...offered,
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

  test('in a button does nothing for those who are not in the channel, and breaks nothing', async () => {
    await tellStories();
    for (const action of forged) {
      const value = shownFor(action);
      const before = await state();
      for (const who of CLICKERS)
        expect.soft([action, who, await clicks(who, action, value)]).toEqual([action, who, REFUSED]);
      expect.soft({ action, state: await state() }).toEqual({ action, state: before });
    }
    await breaksNothing();
  });

  const shownFor = (action: string) => {
    if (!/^home\.(?:answer|fix)$/.test(action)) return carriedBy(action);
    const { run, about } = JSON.parse(carriedBy('agent.send'));
    return JSON.stringify({ v: 1, run, need: `held ${about[0]}` });
  };

  /** What nobody's client sends as an id, a name, a time or a number. */
  const ODD = [
    '__proto__',
    'constructor',
    '',
    'x'.repeat(2900),
    '\u202E',
    '-1',
    -1,
    1e300,
    null,
    true,
    [],
    {},
  ];
  let odd = 0;
  const nextOdd = () => ODD[odd++ % ODD.length];

  /** An object with the id of its run as this one. */
  const withId = (shown: object, id: string) =>
    Object.fromEntries(Object.entries(shown).map(([key, part]) => [key, isRunId(part) ? id : part]));
  const isRunId = (part: unknown) => /^[0-9a-f]{24}$/.test(String(part));

  /** Sends payloads in the name of ana, who may do everything. */
  async function sends(payloads: readonly object[]) {
    const { id, private: channel } = { id: scene.slack.team.id, private: scene.slack.channel('#private').id };
    const base = {
      ...{ team: { id }, user: { id: person('ana').id, team_id: id } },
      channel: { id: channel, name: 'privategroup' },
    };
    const left = [...payloads.entries()];
    async function work() {
      for (let next = left.pop(); next; next = left.pop()) {
        const payload = JSON.stringify({ ...base, trigger_id: `forged ${next[0]}`, ...next[1] });
        const { status } = await scene.slack.sendRaw({ body: new URLSearchParams({ payload }).toString() });
        expect.soft([status, payload]).toEqual([200, payload]);
      }
    }
    await Promise.all(Array.from({ length: 10 }, work));
  }

  /** What a button or a form that names something else does: nothing that a log of errors knows. */
  async function breaksNothing() {
    const { client } = scene.world.redis;
    const kinds = new Map<string, string>();
    for (const key of await client.keys(keys.run('*'))) {
      const { job, id } = JSON.parse((await client.hget(key, 'json')) ?? '');
      kinds.set(job, id);
    }
    expect(kinds.size).toBeGreaterThan(6);
    const ids = [...kinds.values()];
    const [id] = ids;

    await sends(
      registry.buttons.flatMap(({ action }) => {
        const shown = NAME_NOTHING.includes(action) ? { v: 1 } : JSON.parse(shownFor(action));
        const parts = Object.keys(shown);
        const part = parts[odd % parts.length] ?? 'v';
        const values = [...ids.map((id) => withId(shown, id)), { ...shown, [part]: nextOdd() }, nextOdd()];
        return [...values.map((one) => JSON.stringify(one)), '{', undefined].map((value) => ({
          ...{ type: 'block_actions', actions: [{ type: 'button', action_id: action, value }] },
        }));
      }),
    );

    /** The subjects and the fields of all forms together: each takes what it knows. */
    const about = {
      ...{ v: 1, run: id, to: id, schedule: id, digest: id, attempt: 1, resumed: 0, domain: 'docs.acme.com' },
      ...{ about: 'pages', entry: '/x', under: { rootTs: '1.1', ts: '1.1', before: '2.1' } },
    };
    const fields = {
      ...{ text: 'Add a page', thread: id, job: id, where: id, project: 'acme', path: '/x', entry: '/x' },
      ...{ channel: scene.slack.channel('#docs').id, day: '1', time: '09:00', zone: 'UTC' },
      ...{ domain: 'docs.acme.com', version: 'v', paths: '/x', link: 'thread' },
    };
    const { id: channel } = scene.slack.channel('#private');
    const form = (callback: string, n: number, subject: unknown, values: object) => ({
      type: 'view_submission',
      view: {
        ...{ id: `V${callback}${n}`, callback_id: callback, type: 'modal', title: { text: 'Forged' } },
        private_metadata: JSON.stringify({ channel: { id: channel, name: 'privategroup' }, about: subject }),
        state: {
          values: Object.fromEntries(
            Object.entries(values).map(([block, value]) => [block, { input: { value } }]),
          ),
        },
      },
    });
    await sends(
      registry.modals.flatMap(({ callbackId }) => {
        const odds = Object.keys(about).map((key) => ({ ...about, [key]: nextOdd() }));
        const subjects = [
          ...ids.map((id) => withId(about, id)),
          ...odds,
          ...ids.slice(0, 2),
          nextOdd(),
          undefined,
        ];
        const forms = [
          ...subjects.map((subject) => [subject, fields] as const),
          ...Object.keys(fields).map(
            (key, n) => [n % 2 === 0 ? about : undefined, { ...fields, [key]: nextOdd() }] as const,
          ),
        ];
        return forms.map(([subject, values], n) => form(callbackId, n, subject, values));
      }),
    );
    const lines = scene.world.bots.flatMap((bot) => bot.output().split('\n'));
    expect(lines.filter((line) => /"level":(?:50|60)/.test(line))).toEqual([]);
  }

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
    await person('ben').submits({ 'Your request': 'Mend the first table' });
    expect(await agents.sent(1)).toEqual(['Mend the first table']);
    const { body = '' } = scene.slack.lastRequest ?? {};
    const { view } = JSON.parse(new URLSearchParams(body).get('payload') ?? '');
    const forge = (thread: string, id: string) =>
      scene.slack.sendRaw({ body: body.replaceAll(view.id, id).replaceAll(runOf(card), thread) });
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
