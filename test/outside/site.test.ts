import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';
import { strikeAt } from '../support/flows/strike-at.ts';
import { buttonsIn } from '../support/slack/rendering.ts';

const PREVIEW = 'POST /v1/project/preview/{projectId}';
const UPDATE = 'POST /v1/project/update/{projectId}';
const STATUS = 'GET /v1/project/update-status/{statusId}';

const domain = { env: { DOCS_DOMAIN: 'docs.acme.com' } };

describe('[Build preview] in a followed thread', () => {
  const scene = stage();
  const { person } = scene;
  const agents = agentsOn(scene);
  const { follows, untilBelow, below, plan, finish, replies } = agents;
  const builds = () => scene.platform.site.builds.map(({ branch }) => branch);

  const inThread = async (part: string) => {
    const find = () =>
      scene.slack.messages.findLast((one) => !one.deleted && agents.read(one).includes(part));
    return scene.slack.until(find, 20_000, part);
  };

  test('builds the branch of the job: the card says so, and one post mentions whoever clicked', async () => {
    const { card: root } = await follows();
    scene.platform.site.plan({ hold: true });
    await person('ben').clicks(root, 'Build preview');
    await scene.slack.until(() => agents.read(root).includes('The preview for ben is on its way.'));
    expect(agents.read(root)).not.toContain('[Build preview]');
    await scene.slack.until(() => builds().length === 1);
    // Nothing is posted until its end.
    expect(below(root)).toEqual([]);
    scene.platform.site.finish();
    await untilBelow(root, '@ben Preview ready · agent/quickstart');
    expect(below(root)).toEqual([
      '✅ @ben Preview ready · agent/quickstart · took 1 s\nAnyone who has its address may be able to open it.\n[Open preview]',
    ]);
    await scene.slack.until(() => agents.read(root).includes('[Open preview]'));
    expect(agents.read(root)).not.toMatch(/is on its way|\[Build preview\]/);
    expect(builds()).toEqual(['agent/quickstart']);
    const { blocks } = await inThread('Preview ready · ');
    const url = buttonsIn(blocks as never).find((one) => one.text.text === 'Open preview')?.url;
    expect(url).toContain('/previews/agent%2Fquickstart');
    const page = await fetch(url ?? '');
    expect(await page.text()).toContain('agent/quickstart');
    expect(scene.notified('ben')).toBe(1);
  });

  test('is older once a further round of the agent has ended, and is built again', async () => {
    const { jobId, card: root } = await follows();
    await person('ana').clicks(root, 'Build preview');
    await untilBelow(root, 'Preview ready · ');
    plan(jobId);
    await replies(root, 'Also describe the limits');
    await agents.sent(1);
    finish(jobId, 'same_pr');
    await untilBelow(root, 'since this preview was built');
    const older = await inThread('since this preview was built');
    await person('ben').clicks(older, 'Build again');
    const texts = await untilBelow(root, '@ben Preview ready · agent/quickstart');
    expect(texts.filter((text) => text.includes('Preview ready · '))).toHaveLength(1);
    expect(builds()).toHaveLength(2);
    await person('ana').clicks(older, 'Build again');
    expect(scene.toldLast('ana')).toContain('Already handled');
    expect(builds()).toHaveLength(2);
  });

  test('stands below a pull request, and shows why a build failed', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Add a quickstart');
    await agents.sent(1);
    finish(jobId);
    const opened = await inThread('@ana Pull request · ');
    expect(agents.read(opened)).toMatch(/\[Open pull request[^\]]*\] \[Build preview\]/);
    scene.platform.site.plan({ hold: true });
    await person('ana').clicks(opened, 'Build preview');
    await scene.slack.until(() => agents.read(opened).includes('The preview for ana is on its way.'));
    await scene.slack.until(() => builds().length === 1);
    scene.platform.site.fail([
      'Error: cannot parse guides/x.mdx:12',
      'at parse',
      'Failed: docs.json names no page guides/y',
    ]);
    const texts = await untilBelow(root, 'Preview failed');
    await scene.slack.until(() => agents.read(opened).includes('[Build preview]'));
    expect(agents.read(opened)).not.toContain('is on its way');
    const failed = texts.find((text) => text.includes('Preview failed'));
    expect(failed).toContain('Error: cannot parse guides/x.mdx:12');
    expect(failed).toContain('Failed: docs.json names no page guides/y');
    expect(failed).not.toContain('at parse');
    await person('ana').clicks(await inThread('❌ @ana'), 'Try again');
    await untilBelow(root, 'Preview ready · ');
  });

  test('runs once, also if two people click at once', async () => {
    const { card: root } = await follows();
    scene.platform.site.plan({ hold: true });
    await Promise.all([
      person('ana').clicks(root, 'Build preview'),
      person('ben').clicks(root, 'Build preview'),
    ]);
    await scene.slack.until(() => agents.read(root).includes('is on its way.'));
    await scene.slack.until(() => builds().length === 1);
    const told = [scene.toldLast('ana'), scene.toldLast('ben')].filter((text) => text !== undefined);
    expect(told).toEqual([
      expect.stringMatching(/^The preview of agent\/quickstart is already under way, requested by/),
    ]);
  });

  test.each([
    [405, 'Method not allowed', "This platform doesn't let me build previews"],
    [403, 'Preview deployments are not available', "The platform doesn't allow it; "],
  ])('goes away if the platform answers %i, until a preview succeeds', async (status, error, text) => {
    const { jobId, card: root } = await follows();
    expect(agents.read(root)).toContain('[Build preview]');
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status, body: { error } });
    await person('ana').clicks(root, 'Build preview');
    await untilBelow(root, text);
    await scene.slack.until(() => !agents.read(root).includes('[Build preview]'));
    const other = await follows();
    expect(agents.read(other.card)).not.toContain('[Build preview]');
    // A person can still type it.
    await scene.asks('/docs-site preview main');
    await scene.until(['Preview ready · ']);
    expect(below(other.card)).toEqual([]);
    expect(agents.read((await follows()).card)).toContain('[Build preview]');
    // The end of the next round brings it back.
    plan(jobId);
    await replies(root, 'Also describe the limits');
    await agents.sent(1);
    finish(jobId);
    await scene.slack.until(() => agents.read(root).includes('[Build preview]'));
  });

  test.each([
    ['of a branch that a person typed', '/docs-site preview agent/old', 'Not found'],
    ['of a branch that is gone', undefined, 'Branch not found'],
  ])('stays if the platform answers 404 %s', async (_, command, error) => {
    const { card: root } = await follows();
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status: 404, body: { error } });
    await (command ? scene.asks(command) : person('ana').clicks(root, 'Build preview'));
    const text = "The platform doesn't know this branch, or doesn't let me build previews";
    expect(agents.read(await inThread(text))).toContain(`The platform said: "${error}"`);
    const other = await follows();
    for (const { ts } of [root, other.card]) {
      const shown = scene.slack.messages.find((one) => one.ts === ts);
      expect(shown && agents.read(shown)).toContain('[Build preview]');
    }
  });

  test('of a new job stands below its pull request, once its branch is known', async () => {
    scene.platform.agent.plan({ branch: 'agent/limits', durationMs: 100 });
    await scene.asks('/docs-agent new Describe the limits');
    await person('ana').clicks(await inThread('@ana Pull request · '), 'Build preview');
    await inThread('@ana Preview ready · agent/limits');
    expect(builds()).toEqual(['agent/limits']);
  });

  test('is not shown for a job without a branch', async () => {
    const { card: root } = await follows({ seed: { ref: null } });
    expect(agents.read(root)).not.toContain('[Build preview]');
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
    await until(['⏳ Updating · docs.acme.com']);
    await scene.person('ana').opensHome();
    const home = await scene.slack.until(() => scene.person('ana').home());
    expect(scene.person('ana').reads(home)).toContain('Running now\n⏳ Updating · docs.acme.com');
    scene.platform.site.finish();
    await until([
      '✅ Updated · docs.acme.com · took 1 s\nRequested by ana\n[Export it]',
      '✅ @ana Updated · docs.acme.com',
    ]);
    expect(builds()).toEqual([undefined]);
    await clicks('ben', 'Updated · docs.acme.com', 'Export it');
    await until(['Exporting']);
    scene.platform.finish('docs.acme.com');
    await until([', took']);
    expect(scene.platform.starts).toMatchObject([{ domain: 'docs.acme.com' }]);
    expect(await audit()).toEqual([
      'ana /docs-site update of docs.acme.com → accepted',
      'ana site update of docs.acme.com → ended: done',
      expect.stringContaining('docs.acme.com'),
      expect.stringContaining('docs.acme.com → ended: done'),
    ]);
  });

  test('[Export it] exports once at a time, and again after the end', async () => {
    await asks('/docs-site update');
    await until(['Updated · docs.acme.com']);
    await clicks('ben', 'Updated · docs.acme.com', 'Export it');
    await until(['42%']);
    await clicks('ana', 'Updated · docs.acme.com', 'Export it');
    expect(scene.toldLast('ana')).toContain('docs.acme.com is already being exported: 42%, requested by ben');
    expect(scene.platform.starts).toHaveLength(1);
    scene.platform.finish('docs.acme.com');
    await until([', took']);
    await clicks('ana', 'Updated · docs.acme.com', 'Export it');
    await scene.slack.until(() => scene.platform.starts.length === 2);
  });

  test('[Start anyway] starts nothing beside an update that began while the question was open for long', async () => {
    scene.platform.wire.order(UPDATE, { kind: 'reset', when: 'before' });
    await asks('/docs-site update');
    await until(['Did the update of docs.acme.com start?']);
    // A claim lives for seven hours.
    const { client } = scene.world.redis;
    await client.del(...(await client.keys('{docket}:claim:*')));
    scene.platform.site.plan({ hold: true });
    await asks('/docs-site update', { who: 'ben' });
    await until(['⏳ Updating']);
    await clicks('ana', 'Did the update', 'Start anyway');
    expect(scene.toldLast('ana')).toBe('The update of docs.acme.com is already under way, requested by ben.');
    expect(builds()).toHaveLength(1);
    scene.platform.site.finish();
    await until(['Updated · docs.acme.com']);
    await clicks('ana', 'Did the update', 'Start anyway');
    await until(['ana started it anyway.']);
    await scene.slack.until(() => builds().length === 2);
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
    await clicks('ana', 'Did the update', when === 'before' ? 'Start anyway' : "Don't start again");
    await until([when === 'before' ? 'ana started it anyway.' : 'ana chose not to start it again.']);
    if (when === 'before') await until(['Updated · docs.acme.com']);
    expect(builds()).toHaveLength(1);
  });

  test.each([
    [400, 'The platform refused it.\nThe platform said: "Made up"'],
    [403, "The platform doesn't allow it; "],
    [401, 'My access to the docs platform was rejected'],
  ])('shows why the platform refused with %i', async (status, text) => {
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status, body: { error: 'Made up' } }, 9);
    await asks('/docs-site preview main');
    await until([`Not started · preview of main\n${text}`]);
    expect(builds()).toEqual([]);
    await clicks('ana', '[Try again]', 'Try again');
    await scene.slack.until(() => scene.sees().filter((one) => one.includes('[Try again]')).length === 2);
  });

  test('tries again after a refusal that passes', async () => {
    scene.platform.wire.order(PREVIEW, { kind: 'answer', status: 429 }, 2);
    await asks('/docs-site preview main');
    await until(['Preview ready · ']);
    expect(builds()).toEqual(['main']);
  });

  test('goes on if the platform does not know it yet', async () => {
    scene.platform.wire.order(STATUS, { kind: 'answer', status: 404 }, 2);
    await asks('/docs-site preview main');
    await until(['Preview ready · ']);
  });

  test('a second question is not answered by a late click on the first', async () => {
    scene.platform.wire.order(UPDATE, { kind: 'reset', when: 'before' }, 2);
    await asks('/docs-site update');
    await until(['Did the update']);
    const first = structuredClone(scene.messageWith('Did the update'));
    await clicks('ana', 'Did the update', 'Start anyway');
    await until(['ana started it anyway.', 'Did the update']);
    await scene.person('ben').clicks(first, 'Start anyway');
    expect(scene.toldLast('ben')).toContain('Already handled');
    expect(scene.platform.wire.calls.filter(({ name }) => name === UPDATE)).toHaveLength(2);
  });

  test.each([
    ['skipped', {}],
    ['Canceled', {}],
    ['rolled_back', { endedAt: '2026-09-22T10:00:00Z' }],
  ])('ends as the platform says: %s', async (status, more) => {
    scene.platform.site.plan({ hold: true });
    scene.platform.wire.order(STATUS, { kind: 'answer', status: 200, body: { status, ...more } });
    await asks('/docs-site preview main');
    await until([`➖ ${status} · preview of main`, `➖ @ana ${status} · preview of main`, '[Try again]']);
  });

  test('goes on in a state that it does not know', async () => {
    const body = { status: 'uploading', endedAt: null };
    scene.platform.wire.order(STATUS, { kind: 'answer', status: 200, body });
    await asks('/docs-site preview main');
    await until(['Preview ready · ']);
  });

  test('stops when the platform no longer knows it', async () => {
    scene.platform.site.plan({ hold: true });
    await asks('/docs-site preview main');
    await until(['Building']);
    scene.platform.site.forget();
    await until(['The platform no longer knows this preview.']);
  });

  test('shows nothing that a log makes up: no mention, no link, no other line', async () => {
    const logs = [
      'Error in <!channel> guides/x.mdx \u202Egnp.exe <@U0BEN> `code` *bold*\r\n\u0007 https://x.example/?token=5ecret a.mdx failed',
    ];
    scene.platform.site.plan({ logs, previewUrl: 'javascript:alert(1)' });
    await asks('/docs-site preview main');
    const [failed = ''] = (await until(['@ana Preview failed'])).filter((text) =>
      text.includes('@ana Preview failed'),
    );
    for (const hidden of ['\u202E', '\u0007', '5ecret']) expect(failed).not.toContain(hidden);
    const message = scene.messageWith('@ana Preview failed');
    expect(message.text).not.toMatch(/<!channel>|<@U0BEN>/);
    expect(scene.notified('ben')).toBe(0);
    expect(JSON.stringify(message.blocks)).toContain('<!channel> guides/x.mdx');
    expect(JSON.stringify(message.blocks)).not.toContain('"type":"broadcast"');
  });

  test('says what the last commit changed, of a preview and of an update', async () => {
    const filesChanged = {
      added: ['quickstart.mdx'],
      modified: ['guides/sso.mdx'],
      removed: ['a', 'b', 'c'],
    };
    scene.platform.site.plan({ durationMs: 0, filesChanged });
    await asks('/docs-site preview main');
    await until([
      'took 1 s\nChanged in its last commit: guides/sso.mdx, quickstart.mdx (new) and 3 more\nAnyone',
    ]);
    scene.platform.site.plan({ durationMs: 0, filesChanged: { removed: ['old.mdx'] } });
    await asks('/docs-site update');
    await until(['@ana Updated · docs.acme.com · took 1 s\nChanged in its last commit: old.mdx (removed)\n']);
  });

  const picture = 'https://files.acme.com/previews/main.png';
  const endOf = async (plan: Parameters<typeof scene.platform.site.plan>[0]) => {
    scene.platform.site.plan({ durationMs: 0, ...plan });
    await asks('/docs-site preview main');
    await until(['@ana Preview ready']);
    return scene.messageWith('@ana Preview ready');
  };

  test('shows the light picture, with a text for screen readers', async () => {
    const screenshots = {
      screenshot: `${picture}2`,
      screenshotLight: picture,
      screenshotDark: `${picture}3`,
    };
    const { blocks } = await endOf({ screenshots });
    const image = { type: 'image', image_url: picture, alt_text: 'Screenshot of the preview of main' };
    expect(blocks).toContainEqual(expect.objectContaining(image));
    expect(JSON.stringify(blocks)).not.toMatch(/png[23]/);
  });

  test('comes without the picture that Slack refuses, and with all else', async () => {
    const refused = { kind: 'answer', status: 200, body: { ok: false, error: 'invalid_blocks' } } as const;
    scene.slack.wire.order(({ detail }) => JSON.stringify(detail).includes('"image"'), refused, 9);
    const { blocks } = await endOf({
      screenshots: { screenshot: picture },
      filesChanged: { added: ['a.mdx'] },
    });
    expect(JSON.stringify(blocks)).not.toContain('"image"');
    const texts = scene.sees().filter((text) => text.includes('@ana Preview ready'));
    expect(texts).toEqual([expect.stringMatching(/a\.mdx \(new\)\nAnyone.*\n\[Open preview\]$/)]);
  });

  test.each([['https://files.acme.com/a.png?X-Signature=5ecret'], ['https://platform.internal/a.png']])(
    'has no picture from %s',
    async (screenshotLight) => {
      const { blocks } = await endOf({ screenshots: { screenshotLight } });
      expect(JSON.stringify(blocks)).not.toContain('"image"');
    },
  );

  test.each([
    [
      'names that mention and link',
      ['<!channel> <@U0BEN> [x](https://evil.example/?token=5ecret)\u202Egnp.mdx'],
    ],
    [
      'names of any length',
      [`${'x'.repeat(100_000)}.mdx`, ...Array.from({ length: 50_000 }, (_, n) => `${n}`)],
    ],
  ])('shows %s as plain text, cut', async (_, added) => {
    const message = await endOf({ filesChanged: { added } });
    const read = scene.slack.read(message);
    expect(read).toContain('Changed in its last commit: ');
    expect(read.length).toBeLessThan(400);
    for (const hidden of ['\u202E', '5ecret']) expect(read).not.toContain(hidden);
    expect(message.text).not.toMatch(/<!channel>|<@U0BEN>/);
    const small = (message.blocks as { type: string; elements: object[] }[]).find(
      ({ type }) => type === 'context',
    );
    expect(small?.elements).toEqual([expect.objectContaining({ type: 'plain_text', emoji: false })]);
    expect(scene.notified('ben')).toBe(0);
  });

  test('leaves out a name that nobody can read', async () => {
    const message = await endOf({ filesChanged: { added: ['a.mdx', '\u200b', 'b.mdx'] } });
    expect(scene.slack.read(message)).toMatch(/Changed in its last commit: .*a\.mdx.*b\.mdx/);
  });

  test.each([
    ['nothing', {}],
    ['no list', { added: 'a.mdx' }],
    ['no names', { added: [7, null, ''], modified: [{}] }],
    ['only invisible names', { added: ['\u200b'] }],
    ['text', 'a.mdx'],
  ])('reads the rest of an answer whose changed files are %s', async (_, filesChanged) => {
    const message = await endOf({ filesChanged });
    expect(scene.slack.read(message)).not.toContain('Changed');
  });

  test.each([
    ['javascript:alert(1)'],
    ['https://docs.acme.com@evil.example/'],
    ['https://:x@evil.example/'],
    ['https://docs.acme.com/\u202Egnp.exe'],
    [`https://docs.acme.com/${'x'.repeat(9000)}`],
  ])('gives no button to an address that is none: %.40s', async (previewUrl) => {
    scene.platform.site.plan({ previewUrl });
    await asks('/docs-site preview main');
    await until(['The platform sent no link.']);
    expect(JSON.stringify(scene.messageWith('The platform sent no link.').blocks)).not.toContain(
      previewUrl.slice(0, 30),
    );
  });

  test.each([
    ['/docs-site preview', 'Which branch?'],
    ...['a..b', 'a//b', '@{u}', 'a.lock', 'a\u0000b'].map(
      (branch) => [`/docs-site preview ${branch}`, "isn't a branch"] as [string, string],
    ),
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
    const refused = "You can't build previews or update sites here, so nothing was started. Ask @ana.";
    expect(scene.told(await scene.asks('/docs-site update', { who: 'ben' }))).toBe(refused);
    await scene.person('ben').clicks(root, 'Build preview');
    expect(scene.toldLast('ben')).toBe(refused);
    scene.platform.wire.order(UPDATE, { kind: 'reset', when: 'before' });
    await scene.asks('/docs-site update');
    await scene.until(['Did the update']);
    await scene.clicks('ben', 'Did the update', 'Start anyway');
    expect(scene.toldLast('ben')).toBe(refused);
    expect(scene.platform.site.builds).toEqual([]);
    expect(scene.platform.wire.calls.filter(({ name }) => name === STATUS)).toEqual([]);
  });

  test('counts once more right before the start, which may have waited', async () => {
    const ana = scene.slack.workspace.users.find(({ name }) => name === 'ana');
    if (ana === undefined) throw new Error('no ana');
    // The line about it is posted after the request was accepted.
    strikeAt([scene.slack], { call: 'chat.postMessage' }, () => {
      ana.deleted = true;
    });
    await scene.asks('/docs-site update');
    await scene.until(["You can't build previews or update sites here, so nothing was started."], '@ana');
    await expect.poll(() => scene.sees()).toEqual([]);
    ana.deleted = false;
    expect(scene.platform.site.builds).toEqual([]);
  });

  test('does not keep a rejected key from the admins', async () => {
    scene.platform.wire.order(UPDATE, { kind: 'answer', status: 401, body: { error: 'Invalid API key' } });
    await scene.asks('/docs-site update');
    await scene.until(['My access to the docs platform was rejected; your Docket admins know']);
    await scene.until(['has been rejected'], '@ana');
  });
});
