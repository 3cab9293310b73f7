import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';
import { buttonsIn } from '../support/slack/rendering.ts';

const PREVIEW = 'POST /v1/project/preview/{projectId}';
const UPDATE = 'POST /v1/project/update/{projectId}';
const STATUS = 'GET /v1/project/update-status/{statusId}';

const domain = { env: { DOCS_DOMAIN: 'docs.acme.com' } };

describe('[Preview] in a followed thread', () => {
  const scene = stage();
  const { person } = scene;
  const agents = agentsOn(scene);
  const { card, follows, untilBelow, below, plan, finish, replies } = agents;
  const builds = () => scene.platform.site.builds.map(({ branch }) => branch);

  const inThread = async (part: string) => {
    const find = () =>
      scene.slack.messages.findLast((one) => !one.deleted && agents.read(one).includes(part));
    return scene.slack.until(find, 20_000, part);
  };

  test('builds the branch of the job, edits one line, and ends with a button that opens it', async () => {
    const { card: root } = await follows();
    scene.platform.site.plan({ hold: true });
    await person('ben').clicks(root, 'Preview');
    await untilBelow(root, '⏳ Building · preview of agent/quickstart');
    scene.platform.site.finish();
    const texts = await untilBelow(root, '✅ Ready · preview of agent/quickstart', 'is ready.');
    expect(texts).toHaveLength(2);
    expect(texts[1]).toMatch(/^✅ @ben The preview of agent\/quickstart is ready\./);
    expect(builds()).toEqual(['agent/quickstart']);
    const { blocks } = await inThread('is ready.');
    const url = buttonsIn(blocks as never).find((one) => one.text.text === 'Open preview')?.url;
    expect(url).toContain('/previews/agent%2Fquickstart');
    const page = await fetch(url ?? '');
    expect(await page.text()).toContain('agent/quickstart');
    expect(scene.notified('ben')).toBe(1);
  });

  test('is older once a further round of the agent has ended, and is built again', async () => {
    const { jobId, card: root } = await follows();
    await person('ana').clicks(root, 'Preview');
    await untilBelow(root, 'is ready.');
    plan(jobId);
    await replies(root, 'Also describe the limits');
    await agents.sent(1);
    finish(jobId, 'same_pr');
    await untilBelow(root, "is older than the agent's last round");
    const older = await inThread('is older than');
    await person('ben').clicks(older, 'Refresh preview');
    const texts = await untilBelow(root, '@ben The preview of agent/quickstart is ready.');
    expect(texts.filter((text) => text.includes('is ready.'))).toHaveLength(1);
    expect(builds()).toHaveLength(2);
    await person('ana').clicks(older, 'Refresh preview');
    expect(scene.toldLast('ana')).toContain('Already handled');
    expect(builds()).toHaveLength(2);
  });

  test('stands below a pull request, and shows why a build failed', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Add a quickstart');
    await agents.sent(1);
    finish(jobId);
    const opened = await inThread('The agent opened a pull request');
    expect(agents.read(opened)).toMatch(/\[Open pull request[^\]]*\] \[Preview\]/);
    scene.platform.site.plan({
      logs: ['Error: cannot parse guides/x.mdx:12', 'at parse', 'Failed: docs.json names no page guides/y'],
    });
    await person('ana').clicks(opened, 'Preview');
    const texts = await untilBelow(root, 'failed.');
    const failed = texts.find((text) => text.includes('failed.'));
    expect(failed).toContain('Error: cannot parse guides/x.mdx:12');
    expect(failed).toContain('Failed: docs.json names no page guides/y');
    expect(failed).not.toContain('at parse');
    await person('ana').clicks(await inThread('❌ @ana'), 'Try again');
    await untilBelow(root, 'is ready.');
  });

  test('runs once, also if two people click at once', async () => {
    const { card: root } = await follows();
    scene.platform.site.plan({ hold: true });
    await Promise.all([person('ana').clicks(root, 'Preview'), person('ben').clicks(root, 'Preview')]);
    await untilBelow(root, '⏳ Building');
    expect(builds()).toHaveLength(1);
    const told = [scene.toldLast('ana'), scene.toldLast('ben')].filter((text) => text !== undefined);
    expect(told).toEqual([
      expect.stringMatching(/^The preview of agent\/quickstart is already under way, asked for by/),
    ]);
  });

  test.each([404, 405] as const)('goes away for a day if the platform answers %i', async (status) => {
    const { card: root } = await follows();
    expect(agents.read(root)).toContain('[Preview]');
    scene.platform.buildSites = status;
    await person('ana').clicks(root, 'Preview');
    await untilBelow(root, "this platform doesn't let me make previews");
    await scene.slack.until(() => !agents.read(root).includes('[Preview]'));
    const other = await follows();
    expect(agents.read(other.card)).not.toContain('[Preview]');
    // A person can still type it.
    scene.platform.buildSites = true;
    await scene.asks('/docs-site preview agent/quickstart');
    await scene.until(['is ready.']);
    expect(below(other.card)).toEqual([]);
    await card('#docs', 'Ready');
  });

  test.each([
    ['of a branch that a person typed', '/docs-site preview agent/old', 'Not found', 'no such branch, or'],
    ['that names the branch', undefined, 'No branch agent/quickstart', 'The platform said: "No branch'],
  ])('stays if the platform answers 404 %s', async (_, command, error, text) => {
    const { card: root } = await follows();
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status: 404, body: { error } });
    await (command ? scene.asks(command) : person('ana').clicks(root, 'Preview'));
    await inThread(text);
    const other = await follows();
    for (const { ts } of [root, other.card]) {
      const shown = scene.slack.messages.find((one) => one.ts === ts);
      expect(shown && agents.read(shown)).toContain('[Preview]');
    }
  });

  test('of a new job stands below its pull request, once its branch is known', async () => {
    scene.platform.agent.plan({ branch: 'agent/limits', durationMs: 100 });
    await scene.asks('/docs-agent new Describe the limits');
    await person('ana').clicks(await inThread('The agent opened a pull request'), 'Preview');
    await inThread('The preview of agent/limits is ready.');
    expect(builds()).toEqual(['agent/limits']);
  });

  test('is not shown for a job without a branch', async () => {
    const { card: root } = await follows({ seed: { ref: null } });
    expect(agents.read(root)).not.toContain('[Preview]');
  });

  test('waits for its turn when the minute has no more', async () => {
    for (let n = 0; n < 5; n += 1) await scene.asks(`/docs-site preview branch-${n}`);
    await scene.slack.until(() => builds().length === 5);
    await scene.asks('/docs-site preview one-too-many');
    await scene.until(["The platform's limit is reached; nothing is lost. I'll continue at about"]);
    expect(builds()).toHaveLength(5);
    expect(scene.platform.wire.calls.filter(({ name }) => name === PREVIEW)).toHaveLength(5);
  });
});

describe('/docs-site', () => {
  const scene = stage({ bot: domain });
  const { asks, until, told, clicks, audit } = scene;
  const builds = () => scene.platform.site.builds.map(({ branch }) => branch);

  test('update: one line in the channel, the end in its thread, and an export by one click', async () => {
    scene.platform.site.plan({ hold: true });
    await asks('/docs-site update');
    await until(['⏳ Updating · update of docs.acme.com']);
    await scene.person('ana').opensHome();
    const home = await scene.slack.until(() => scene.person('ana').home());
    expect(scene.person('ana').reads(home)).toContain(
      'Previews and updates\n⏳ Updating · update of docs.acme.com',
    );
    scene.platform.site.finish();
    await until(['✅ Updated · update of docs.acme.com', '✅ @ana The update of docs.acme.com is done.']);
    expect(builds()).toEqual([undefined]);
    await clicks('ben', 'is done.', 'Export it');
    await until(['Exporting']);
    scene.platform.finish('docs.acme.com');
    await until(['is exported']);
    for (const who of ['ben', 'ana'] as const) await clicks(who, 'is done.', 'Export it');
    expect(scene.platform.starts).toMatchObject([{ domain: 'docs.acme.com' }]);
    expect(await audit()).toEqual([
      'ana /docs-site update of docs.acme.com → accepted',
      'ana site update of docs.acme.com → ended: done',
      expect.stringContaining('docs.acme.com'),
      expect.stringContaining('docs.acme.com → ended: done'),
    ]);
  });

  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('asks when the answer is lost %s the start, and starts no second one', async (when, many) => {
    scene.platform.wire.order(UPDATE, { kind: 'reset', when });
    await asks('/docs-site update');
    await until(['Did the update of docs.acme.com start?']);
    expect(builds()).toHaveLength(many);
    const { ephemeral } = await asks('/docs-site update', { who: 'ben' });
    expect(ephemeral && scene.slack.read(ephemeral)).toBe(
      "It's unclear whether the update of docs.acme.com started, so I won't start another. Ask ana to answer the question about it.",
    );
    await clicks('ana', 'Did the update', when === 'before' ? 'Start again' : 'Leave it');
    await until([when === 'before' ? 'ana started it again.' : 'ana chose not to start it again.']);
    if (when === 'before') await until(['is done.']);
    expect(builds()).toHaveLength(1);
  });

  test.each([
    [400, 'the platform refused it.\nThe platform said: "Made up"'],
    [403, "the platform doesn't allow it (403)"],
    [401, 'my platform key was rejected'],
  ])('shows why the platform refused with %i', async (status, text) => {
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status, body: { error: 'Made up' } }, 9);
    await asks('/docs-site preview main');
    await until([`The preview of main was not started: ${text}`]);
    expect(builds()).toEqual([]);
    await clicks('ana', 'was not started', 'Try again');
    await scene.slack.until(() => scene.sees().filter((one) => one.includes('was not started')).length === 2);
  });

  test('tries again after a refusal that passes', async () => {
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status: 429 }, 2);
    await asks('/docs-site preview main');
    await until(['is ready.']);
    expect(builds()).toEqual(['main']);
  });

  test('goes on if the platform does not know it yet', async () => {
    scene.platform.wire.order(STATUS, { kind: 'answer', status: 404 }, 2);
    await asks('/docs-site preview main');
    await until(['is ready.']);
  });

  test('a second question is not answered by a late click on the first', async () => {
    scene.platform.wire.order(UPDATE, { kind: 'reset', when: 'before' }, 2);
    await asks('/docs-site update');
    await until(['Did the update']);
    const first = structuredClone(scene.messageWith('Did the update'));
    await clicks('ana', 'Did the update', 'Start again');
    await until(['ana started it again.', 'Did the update']);
    await scene.person('ben').clicks(first, 'Start again');
    expect(scene.toldLast('ben')).toContain('Already handled');
    expect(scene.platform.wire.calls.filter(({ name }) => name === UPDATE)).toHaveLength(2);
  });

  test('stops when the platform no longer knows it', async () => {
    scene.platform.site.plan({ hold: true });
    await asks('/docs-site preview main');
    await until(['Building']);
    scene.platform.site.forget();
    await until(['The platform no longer knows the preview of main (404).']);
  });

  test('shows nothing that a log makes up: no mention, no link, no other line', async () => {
    const logs = [
      'Error in <!channel> guides/x.mdx \u202Egnp.exe <@U0BEN> `code` *bold*\r\n\u0007 https://x.example/?token=5ecret a.mdx failed',
    ];
    scene.platform.site.plan({ logs, previewUrl: 'javascript:alert(1)' });
    await asks('/docs-site preview main');
    const [failed = ''] = (await until(['failed.'])).filter((text) => text.includes('failed.'));
    for (const hidden of ['\u202E', '\u0007', '5ecret']) expect(failed).not.toContain(hidden);
    const message = scene.messageWith('failed.');
    expect(message.text).not.toMatch(/<!channel>|<@U0BEN>/);
    expect(scene.notified('ben')).toBe(0);
    expect(JSON.stringify(message.blocks)).toContain('<!channel> guides/x.mdx');
    expect(JSON.stringify(message.blocks)).not.toContain('"type":"broadcast"');
  });

  test.each([
    ['javascript:alert(1)'],
    ['https://docs.acme.com@evil.example/'],
    [`https://docs.acme.com/${'x'.repeat(9000)}`],
  ])('gives no button to an address that is none: %.40s', async (previewUrl) => {
    scene.platform.site.plan({ previewUrl });
    await asks('/docs-site preview main');
    const texts = await until(['is ready.']);
    expect(texts.join()).toContain('The platform gave no address of it.');
    expect(JSON.stringify(scene.messageWith('is ready.').blocks)).not.toContain(previewUrl.slice(0, 30));
  });

  test.each([
    ['/docs-site preview', 'Which branch?'],
    ['/docs-site preview a..b~1', "isn't a branch"],
    ['/docs-site preview main --project nope', 'No project "nope"'],
    ['/docs-site update nope', 'No project "nope"'],
    ['/docs-site update --project acme', 'Leave it out: /docs-site update acme'],
  ])('%s is answered privately', async (text, answer) => {
    expect(told(await asks(text))).toContain(answer);
    expect(scene.slack.messages).toEqual([]);
  });

  test('is refused where nothing can be posted', async () => {
    await asks('/docs-site update', { where: '#secret' });
    await scene.slack.until(() => scene.toldLast('ana', '#secret')?.includes('/invite @Docket'));
    expect(builds()).toEqual([]);
  });
});

describe('who may', () => {
  const config = 'allow: { agent: [everyone], site: [U0ANA], admin: [U0ANA] }\n';
  const scene = stage({ bot: { ...domain, config, timing: { permissionCacheMs: 0 } } });
  const agents = agentsOn(scene);

  test('is set apart from the agent, and counts at each click', async () => {
    const { card: root } = await agents.follows();
    const refused = "You can't preview or update sites here, so nothing was started. Ask @ana.";
    expect(scene.told(await scene.asks('/docs-site update', { who: 'ben' }))).toBe(refused);
    await scene.person('ben').clicks(root, 'Preview');
    expect(scene.toldLast('ben')).toBe(refused);
    scene.platform.wire.order(UPDATE, { kind: 'reset', when: 'before' });
    await scene.asks('/docs-site update');
    await scene.until(['Did the update']);
    await scene.clicks('ben', 'Did the update', 'Start again');
    expect(scene.toldLast('ben')).toBe(refused);
    expect(scene.platform.site.builds).toEqual([]);
    expect(scene.platform.wire.calls.filter(({ name }) => name === STATUS)).toEqual([]);
  });

  test('counts once more right before the start, which may have waited', async () => {
    const ana = scene.slack.workspace.users.find(({ name }) => name === 'ana');
    if (ana === undefined) throw new Error('no ana');
    // The line about it is posted after the request was accepted.
    const stop = scene.slack.wire.onCall(({ name }) => {
      if (name === 'chat.postMessage') ana.deleted = true;
      return undefined;
    });
    await scene.asks('/docs-site update');
    await scene.until(["You can't preview or update sites here, so nothing was started."]);
    stop();
    ana.deleted = false;
    expect(scene.platform.site.builds).toEqual([]);
  });

  test('does not keep a rejected key from the admins', async () => {
    scene.platform.wire.order(UPDATE, { kind: 'answer', status: 401, body: { error: 'Invalid API key' } });
    await scene.asks('/docs-site update');
    await scene.until(['my platform key was rejected; the admins have been told']);
    await scene.until(['has been rejected'], '@ana');
  });
});
