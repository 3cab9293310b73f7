import { describe, expect, test, vi } from 'vitest';
import { stage } from '../support/flows/stage.ts';

const FORGOTTEN = 'I no longer remember this export. To start a new one, type /docs-export docs.acme.com.';

describe('export start: outcome unknown', () => {
  const scene = stage();
  const { asks, exporting, person, told, sees, until, messageWith, toldLast } = scene;
  const lose = (when: 'before' | 'after') =>
    scene.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when });
  const QUESTION =
    "❔ @ana Did the export of docs.acme.com start?\nThe platform gave no clear answer. Look in its dashboard first.\n[It started: watch it] [Start anyway] [Don't start again]";

  test('is left at that by a click, and whoever clicks later is told who did', async () => {
    lose('after');
    await asks();
    await until(['❔ @ana']);
    const before = structuredClone(messageWith('❔ @ana'));
    await person('ana').clicks(messageWith('❔ @ana'), "Don't start again");
    await until([
      "It's unclear whether the export of docs.acme.com started. ana chose not to start it again.",
    ]);
    await person('ben').clicks(before, 'Start anyway');
    expect(toldLast('ben')).toBe('ana already chose not to start it again.');
    await exporting();
    expect(scene.platform.starts).toHaveLength(2);
  });

  test('that took effect is watched once somebody gives its job id, and nothing is started again', async () => {
    lose('after');
    await asks();
    await until(['❔ @ana']);
    const [{ jobId = '' } = {}] = scene.platform.starts;
    await person('ben').clicks(messageWith('❔ @ana'), 'It started: watch it');
    await person('ben').submits({ 'Job ID': jobId });
    expect(person('ben').modal()).toBeUndefined();
    const texts = await until(['⏳ Exporting · docs.acme.com', '42%']);
    expect(texts).toEqual([
      '⏳ Exporting · docs.acme.com\nRequested by ana',
      'It was unclear whether the export of docs.acme.com had started. It had: ben found it.',
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME\njob se_…\n[Check now] [⋯ Notify me too]',
    ]);
    expect(scene.slack.read(messageWith('42%'))).toContain(`\njob ${jobId}\n`);
    expect(told(await asks(`/docs-export watch ${jobId}`, { who: 'ben' }))).toBe(
      'docs.acme.com is already being exported: 42%, requested by ana 1 s ago.\n[Open thread] [Notify me too] [Start another]',
    );
    scene.platform.finish('docs.acme.com');
    await until(['✅ @ana Exported · docs.acme.com · 12 pages', '✅ Exported · docs.acme.com']);
    expect(scene.platform.starts).toHaveLength(1);
    expect(scene.slack.messages).toHaveLength(4);
  });

  test('whose job id was wrong asks again, until it is the right one', async () => {
    lose('after');
    await asks();
    await until(['❔ @ana']);
    const [{ jobId = '' } = {}] = scene.platform.starts;
    await person('ana').clicks(messageWith('❔ @ana'), 'It started: watch it');
    await person('ana').submits({ 'Job ID': 'se_1' });
    await until(['The platform has no job with the ID se_1']);
    await expect
      .poll(() => sees())
      .toEqual([
        '❔ Needs an answer · docs.acme.com\nRequested by ana',
        QUESTION.replace('first.', 'first.\nThe platform has no job with the ID se_1.'),
        '❔ Needs an answer · docs.acme.com',
      ]);
    await person('ana').clicks(messageWith('❔ @ana'), 'It started: watch it');
    await person('ana').submits({ 'Job ID': `https://dash.example/exports/${jobId}` });
    await until(['42%', '⏳ Exporting · docs.acme.com', 'It had: ana found it.']);
    expect(scene.platform.starts).toHaveLength(1);
    expect(scene.slack.messages).toHaveLength(3);
  });

  test('is watched by nobody who comes after an answer: they are told who gave it', async () => {
    lose('after');
    await asks();
    await until(['❔ @ana']);
    const [{ jobId = '' } = {}] = scene.platform.starts;
    const before = structuredClone(messageWith('❔ @ana'));
    await person('ben').clicks(before, 'It started: watch it');
    await person('ana').clicks(messageWith('❔ @ana'), "Don't start again");
    await until(['➖ Not started again · docs.acme.com', 'ana chose not to start it again.']);
    await person('ben').submits({ 'Job ID': jobId });
    expect(toldLast('ben')).toBe('ana already chose not to start it again.');
    expect(person('ben').modal()).toBeUndefined();
    await person('ben').clicks(before, 'It started: watch it');
    expect(scene.slack.ephemerals).toHaveLength(2);
    expect(toldLast('ben')).toBe('ana already chose not to start it again.');
    expect(person('ben').modal()).toBeUndefined();
    expect(sees()[0]).toBe(
      "➖ Not started again · docs.acme.com\nIt's unclear whether the first start worked.\nRequested by ana",
    );
  });

  test('keeps others from starting the same until it is answered', async () => {
    lose('after');
    await asks();
    await until(['❔ @ana']);
    expect(told(await asks(undefined, { who: 'ben' }))).toBe(
      "It's unclear whether ana's export of docs.acme.com started, so I won't start another. Answer the question in its thread first.\n[Open thread]",
    );
  });

  test('of a conversation that the asker is not in tells whom to ask', async () => {
    lose('after');
    await asks(undefined, { where: '#private' });
    await until(['❔ @ana'], '#private');
    expect(told(await asks(undefined, { who: 'ben' }))).toBe(
      "It's unclear whether ana's export of docs.acme.com started, so I won't start another. Ask ana to answer the question about it.",
    );
    expect(told(await asks(undefined, { who: 'ben', where: '#private' }))).toContain(
      'Answer the question in its thread first.\n[Open thread]',
    );
  });
});

describe('asked for again', () => {
  // Two exports that run: polls of one, which seems to be near its end, are to leave slots of the limit for the other.
  const scene = stage({ bot: { timing: { pollMinMs: 400, pollMaxMs: 400 } } });
  const { asks, exporting, person, told, sees, until, messageWith, notified } = scene;
  const ben = { who: 'ben' } as const;

  async function asksAgain(text?: string) {
    const answer = await asks(text, ben);
    if (!answer.ephemeral) throw new Error('ben was told nothing');
    return answer.ephemeral;
  }

  test('an export that runs already is told privately, with the way to it', async () => {
    await exporting();
    const answer = await asks(undefined, ben);
    expect(told(answer)).toBe(
      'docs.acme.com is already being exported: 42%, requested by ana 1 s ago.\n[Open thread] [Notify me too] [Start another]',
    );
    expect(await person('ben').clicks(answer.ephemeral as never, 'Open thread')).toMatchObject({ ok: true });
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('with another version or other pages it is another export', async () => {
    await exporting();
    for (const options of ['--version 2', '--paths /guides', '--version 2 --paths /guides'])
      expect(told(await asks(`/docs-export docs.acme.com ${options}`, ben))).toBeUndefined();
    await scene.slack.until(() => scene.platform.starts.length === 4);
    expect(told(await asks('/docs-export docs.acme.com --version 2', ben))).toMatch(
      /^docs\.acme\.com 2 is already being exported: (\d+%, )?requested by you 1 s ago\.\n\[Open thread\] \[Notify me too\] \[Start another\]$/,
    );
  });

  test('from elsewhere, no way into a conversation that the asker may not see is shown', async () => {
    await exporting(undefined, { where: '#private' });
    expect(told(await asks(undefined, ben))).toBe(
      'docs.acme.com is already being exported: 42%, requested by ana 1 s ago.\n[Start another]',
    );
  });

  test('whoever wants to be told too is mentioned in the ending, once, however often they click', async () => {
    await exporting();
    await person('ben').clicks(await asksAgain(), 'Notify me too');
    await person('ben').clicks(messageWith('42%'), 'Notify me too');
    const answers = scene.slack.ephemerals.filter(({ text }) => text === "I'll mention you when it ends.");
    // Under a command in the channel; under a message of a thread in there.
    expect(answers.map(({ threadTs }) => threadTs)).toEqual([undefined, messageWith('42%').threadTs]);
    scene.platform.finish('docs.acme.com');
    const texts = await until([', took', '✅ Exported · docs.acme.com']);
    expect(texts.at(-1)).toContain('✅ @ana @ben Exported · docs.acme.com');
    expect(notified('ben')).toBe(1);
    expect(notified('ana')).toBe(1);
    expect(scene.slack.messages).toHaveLength(3);
  });

  test('another one is started by a click, once, like the first and without disturbing it', async () => {
    const command = '/docs-export docs.acme.com --version 1.2 --paths /guides';
    await exporting(command);
    const ephemeral = await asksAgain(command);
    await Promise.all([
      person('ben').clicks(ephemeral, 'Start another'),
      person('ben').clicks(ephemeral, 'Start another'),
    ]);
    await scene.slack.until(() => sees().filter((text) => text.includes('42%')).length === 2);
    expect(scene.platform.starts).toHaveLength(2);
    expect(scene.platform.starts[1]).toMatchObject({ version: '1.2', paths: ['guides'] });
    expect(told(await asks(command))).toContain(
      'docs.acme.com 1.2, only /guides, is already being exported: 42%, requested by you 1 s ago.\n[Open thread] [Notify me too] [Start another]',
    );
    for (const { jobId } of scene.platform.starts) scene.platform.finish(jobId);
    await scene.slack.until(() => sees().filter((text) => text.includes(', took')).length === 2);
  });

  test('another one has the privacy that its asker typed, not that of the running one', async () => {
    await exporting();
    const ephemeral = await asksAgain('/docs-export docs.acme.com --private');
    await person('ben').clicks(ephemeral, 'Start another');
    await scene.slack.until(() => scene.platform.starts.length === 2);
    scene.platform.finish(scene.platform.starts[1]?.jobId ?? '');
    await scene.slack.until(() =>
      person('ben')
        .sees('@ben')
        .some((text) => text.includes(', took')),
    );
    expect(sees().filter((text) => text.includes('Download'))).toEqual([]);
  });

  test('after its end it is a new export', async () => {
    for (const count of [1, 2]) {
      await asks();
      await scene.slack.until(() => scene.platform.starts.length === count);
      scene.platform.finish('docs.acme.com');
      await scene.slack.until(() => sees().filter((text) => text.includes(', took')).length === count);
    }
  });
});

describe('with seldom looks', () => {
  const scene = stage({ bot: { timing: { pollMinMs: 60_000, pollMaxMs: 60_000 } } });
  const { asks, clicks, until, toldLast } = scene;

  test('[Check now] looks at once, and a second click right after it only says what it found', async () => {
    const looks = () => scene.platform.wire.calls.filter(({ name }) => name.startsWith('GET')).length;
    scene.platform.plan({ holdAt: 0.1, durationMs: 1 });
    await asks();
    await until(['[Check now]']);
    const atMs = Date.now();
    scene.platform.hold('docs.acme.com', 0.8);
    // The answer to the start says how it is, too: the click counts once that is two seconds old.
    await vi.waitFor(() => expect(Date.now() - atMs).toBeGreaterThan(2100), 5000);
    await clicks('ben', '[Check now]', 'Check now');
    await until(['80%']);
    expect(toldLast('ben')).toBeUndefined();
    await clicks('ben', '80%', 'Check now');
    expect(toldLast('ben')).toBe('Still 80%, checked just now.');
    expect(looks()).toBe(1);
    const accepted = (await scene.audit()).filter((line) => line.includes('export.refresh'));
    expect(accepted).toEqual(['ben export.refresh docs.acme.com → accepted']);
  });
});

describe('once the record of the run is gone', () => {
  const scene = stage({ bot: { timing: { watchMs: 3000 } } });
  const { asks, exporting, clicks, until, toldLast } = scene;

  /** What is left after a month. */
  async function forgets() {
    const { client } = scene.world.redis;
    await client.del(...(await client.keys('{docket}:run:*')), ...(await client.keys('{docket}:alias:*')));
  }

  test.each([
    ['New link', '', 'finish', ', took'],
    ['Get my own link', ' --private', 'finish', 'link sent privately\n[Get'],
    ['Try again', '', 'fail', 'at 42%, after'],
    ['Check now', '', undefined, 'I stopped watching'],
  ] as const)('[%s] tells what to type', async (button, options, end, ending) => {
    await exporting(`/docs-export docs.acme.com${options}`);
    if (end !== undefined) scene.platform[end]('docs.acme.com');
    await until([ending]);
    await forgets();
    await clicks('ben', ending, button);
    expect(toldLast('ben')).toBe(FORGOTTEN);
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('[Start another] starts one: it carries what was asked for', async () => {
    await exporting();
    const { ephemeral } = await asks();
    await forgets();
    await scene.person('ana').clicks(ephemeral as never, 'Start another');
    await expect.poll(() => scene.platform.starts.length).toBe(2);
  });
});
