import { describe, expect, test } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { agentsOn, LOOK, SEND } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const REFUSED =
  "You can't ask the docs agent here, so nothing was sent. Ask a full member of this workspace.";
const key = { kind: 'answer', status: 401, body: { error: 'Invalid API key' } } as const;

describe('who may not instruct the agent', () => {
  const scene = stage({ bot: { config: 'allow: { agent: [S0DOCS, U0BEN] }\n' } });
  const { asks, told, person } = scene;
  const { follows, replies, reacted, sent, instructions, note, notes, untilBelow } = agentsOn(scene);
  const ASK = "You can't ask the docs agent here, so nothing was sent. Ask @docs-admins or @ben.";

  test.each(['gus', 'sue'] as const)('%s is refused on every command, with whom to ask', async (who) => {
    const jobId = scene.platform.agent.add();
    for (const text of [`follow ${jobId}`, 'new Write a page', 'list', 'stop', 'help', ''])
      expect(told(await asks(`/docs-agent ${text}`, { who }))).toContain('Ask @docs-admins or @ben.');
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls).toEqual([]);
    expect(await scene.audit()).toEqual(
      Array.from({ length: 6 }, () => expect.stringContaining(`${who} /docs-agent`)),
    );
  });

  test('their replies are talk; with a mention they are told, and everybody else is asked from then on', async () => {
    const { card: root } = await follows();
    const talk = await replies(root, 'I am only a guest here', { who: 'gus' });
    const held = await replies(root, 'Welcome to the thread');
    await reacted(held, 'double_vertical_bar');
    await replies(root, '@Docket delete everything', { who: 'gus' });
    await note('gus', ASK);
    await replies(root, '@Docket stop', { who: 'gus' });
    await scene.slack.until(() => notes('gus').length === 2);
    await replies(root, '@Docket go on, please', { who: 'ben' });
    expect(await sent(1)).toEqual(['go on, please']);
    expect(talk.reactions).toEqual([]);
  });

  test('in mode "all" they are told once', async () => {
    const { card: root } = await follows();
    await replies(root, '@Docket all replies');
    await scene.until(['every reply in the thread goes to the agent']);
    await replies(root, 'Then delete everything', { who: 'gus' });
    await note('gus', ASK);
    await replies(root, 'Please delete everything', { who: 'gus' });
    await replies(root, 'Please delete nothing', { who: 'ben' });
    expect(await sent(1)).toEqual(['Please delete nothing']);
    expect(notes('gus')).toEqual([ASK]);
  });

  test('their clicks are refused', async () => {
    const { card: root } = await follows();
    await replies(root, 'aside hello everybody');
    for (const button of ['Listen only to @Docket', 'Stop following']) {
      await person('gus').clicks(root, button);
      expect(scene.toldLast('gus')).toContain('Ask @docs-admins or @ben.');
    }
    await replies(root, 'Still the same as before');
    expect(await sent(1)).toEqual(['Still the same as before']);
  });

  test('a mention outside, and @Docket follow, are refused privately', async () => {
    const question = await person('gus').says('#docs', '@Docket write a page about me');
    await note('gus', ASK);
    await person('gus').says('#docs', `@Docket follow ${scene.platform.agent.add()}`);
    await scene.slack.until(() => notes('gus').length === 2);
    expect(await untilBelow(question)).toEqual([]);
    expect(instructions()).toEqual([]);
    expect(scene.slack.messages.filter(({ from }) => from === 'docket')).toEqual([]);
  });
});

describe('people of another organization', () => {
  const scene = stage();
  const { follows, replies, reacted, sent, note, instructions } = agentsOn(scene);

  test('in a shared channel are refused, whatever they write', async () => {
    const { card: root } = await follows({ where: '#shared' });
    await replies(root, 'Could you add our logo?', { who: 'eve' });
    await replies(root, '@Docket add our logo', { who: 'eve' });
    await note('eve', REFUSED);
    await scene.person('eve').says('#shared', '@Docket add our logo');
    await scene.slack.until(() => scene.slack.ephemerals.length === 2);
    expect(instructions()).toEqual([]);
    const held = await replies(root, 'I will do that tomorrow');
    await reacted(held, 'double_vertical_bar');
    await replies(root, '@Docket leave the logo out');
    expect(await sent(1)).toEqual(['leave the logo out']);
  });
});

/** As in production: a call is not made when the save before it took longer, which on a busy machine it does. */
const callMarginMs = 2000;

describe('trouble with the platform', () => {
  const scene = stage({
    bot: { config: 'allow: { admin: [U0BEN] }\n', timing: { giveUpMs: 1200, callMarginMs } },
  });
  const { clicks } = scene;
  const { follows, plan, replies, takes, sent, untilBelow } = agentsOn(scene);

  test('a rejected key: not sent, the admins are told, and it can be sent again', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    scene.platform.wire.order(SEND, key);
    const reply = await replies(root, 'Mend the headings');
    await untilBelow(
      root,
      '❌ @ana Not sent · "Mend the headings"\nMy access to the docs platform was rejected; your Docket admins know.\n[Try again]',
    );
    await scene.until(['🔑 DOCS_API_KEY has been rejected since TIME'], '@ben', 'ben');
    await takes(reply);
    await clicks('ben', 'Not sent', 'Try again');
    expect(await sent(1)).toEqual(['Mend the headings']);
    await untilBelow(root, "This request wasn't sent at first. ben sent it again.");
  });

  test('a key that is rejected when the job is looked at: the card says so', async () => {
    scene.platform.wire.order(LOOK, key, 1000);
    await follows({ state: 'Checking…' });
    await scene.until(['My access to the docs platform was rejected']);
  });

  test.each([
    [
      400,
      { error: 'Prompt <!channel> & too long' },
      'The platform refused this request.\nThe platform said: "Prompt <!channel> & too long"',
    ],
    [403, {}, "The platform doesn't let me ask the agent in this job.\nHTTP 403"],
    [422, {}, 'The platform refused this request.'],
  ])('%i: not sent, with the reason', async (status, body, why) => {
    const { card: root } = await follows();
    scene.platform.wire.order(SEND, { kind: 'answer', status, body });
    await replies(root, 'Mend the headings');
    await untilBelow(root, `❌ @ana Not sent · "Mend the headings"\n${why}\n[Try again]`);
    await replies(root, 'The next one goes out');
    expect(await sent(1)).toEqual(['The next one goes out']);
  });

  test('one that says "Retry-After: 0" is not hammered', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    scene.platform.wire.order(SEND, { kind: 'answer', status: 429, headers: { 'retry-after': '0' } }, 3);
    await replies(root, 'Mend the headings');
    expect(await sent(1)).toEqual(['Mend the headings']);
    await untilBelow(root, '⏳');
  });
});

const port = await freePort();

describe('a platform that is away', () => {
  const scene = stage({
    bot: {
      env: { DOCS_API_URL: `http://127.0.0.1:${port}` },
      timing: { giveUpMs: 1500, callMarginMs },
    },
  });
  const { follows, plan, replies, takes, sent, untilBelow } = agentsOn(scene);

  test('is tried again, told, then "not sent", which can be sent again', async () => {
    const { close } = await scene.platform.listen(port);
    const { jobId, card: root } = await follows();
    plan(jobId);
    await close();
    const reply = await replies(root, 'Mend the headings');
    await untilBelow(
      root,
      '🕒 Not sent yet · "Mend the headings"\nThe docs platform isn\'t answering. I\'ll keep trying.',
    );
    await untilBelow(
      root,
      '❌ @ana Not sent · "Mend the headings"\nThe docs platform isn\'t answering. Try again in a little while.\n[Try again]',
      'Not sent · ',
    );
    await takes(reply);
    const back = await scene.platform.listen(port);
    await scene.clicks('ana', 'Not sent', 'Try again');
    expect(await sent(1)).toEqual(['Mend the headings']);
    await back.close();
  });
});

describe('a project without an id', () => {
  const scene = stage({ bot: { env: { DOCS_PROJECT_ID: '' } } });

  test('says what to set, and calls nobody', async () => {
    const text =
      "I don't know the project's id, so nothing was sent. Ask your Docket admins to set DOCS_PROJECT_ID.";
    const { asks, told, person } = scene;
    expect(told(await asks('/docs-agent follow aj_1'))).toBe(text);
    expect(told(await asks('/docs-agent new Write a page'))).toBe(text);
    await person('ana').says('#docs', '@Docket follow aj_1');
    const { note } = agentsOn(scene);
    await note('ana', text);
    expect(scene.platform.wire.calls).toEqual([]);
  });
});
