import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const QUESTION = 'Is this for the agent?';
const FOR_ALL = 'Your answer applies to all your held replies here.';
const BUTTONS = "[Send] [Don't send] [Always send mine]";

describe('which replies are instructions', () => {
  const scene = stage();
  const { clicks, person } = scene;
  const { follows, plan, replies, reacted, takes, sent, instructions, note, notes, clicksNote, card, read } =
    agentsOn(scene);

  test('the owner alone: every reply counts, with names for mentions and links kept', async () => {
    const { card: root } = await follows();
    await replies(root, 'Like @Docket did in #docs: see <https://acme.com/style?a=1&amp;b=2|the guide>');
    expect(await sent(1)).toEqual(['Like did in #docs: see [the guide](https://acme.com/style?a=1&b=2)']);
    expect(notes('ana')).toEqual([]);
  });

  test('"aside" never counts, in any words around it', async () => {
    const { card: root } = await follows();
    const asides = [];
    for (const text of ['aside who is on call?', 'Aside: lunch at noon', '@Docket aside, just us'])
      asides.push(await replies(root, text));
    await replies(root, 'Asides belong into footnotes');
    expect(await sent(1)).toEqual(['Asides belong into footnotes']);
    for (const aside of asides) expect(aside.reactions).toEqual([]);
  });

  test('the owner alone who mentions somebody else is asked for that reply alone', async () => {
    const { card: root } = await follows();
    const asked = await replies(root, '@ben what about the second part?');
    await reacted(asked, 'double_vertical_bar');
    expect(read(await note('ana', QUESTION))).toBe(
      `⏸ ${QUESTION} · "@ben what about the second part?"\n${BUTTONS}`,
    );
    const clear = await replies(root, 'Rewrite the first part');
    expect(await sent(1)).toEqual(['Rewrite the first part']);
    await takes(clear);
    await clicksNote('ana', QUESTION, 'Send');
    expect((await sent(2))[1]).toBe('@ben what about the second part?');
    await takes(asked);
    await replies(root, 'And the third part, too');
    await sent(3);
  });

  test('once somebody else has written, each is asked once, and what is held holds up nobody', async () => {
    const { card: root } = await follows();
    const first = await replies(root, 'looks good, but what about v2?', { who: 'ben' });
    await reacted(first, 'double_vertical_bar');
    expect(read(await note('ben', QUESTION))).toBe(
      `⏸ ${QUESTION} · "looks good, but what about v2?"\n${FOR_ALL}\n${BUTTONS}`,
    );
    await replies(root, 'we could do that later', { who: 'ben' });
    const owners = await replies(root, 'I think so as well');
    await reacted(owners, 'double_vertical_bar');
    await note('ana', '"I think so as well"');
    await scene.until(['3 replies are held. Their authors can add @Docket to send them, or delete them.']);
    await replies(root, '@Docket add v2 to the table', { who: 'ben' });
    expect(await sent(1)).toEqual(['add v2 to the table']);
    expect(notes('ben')).toHaveLength(1);
    expect(notes('ana')).toHaveLength(1);

    await clicksNote('ben', QUESTION, 'Send');
    expect((await sent(3)).slice(1)).toEqual(['looks good, but what about v2?', 'we could do that later']);
    await note('ben', 'From now on, mention @Docket when your reply is for it.');
    const talk = await replies(root, 'nice, that was quick', { who: 'ben' });
    await clicksNote('ana', QUESTION, 'Always send mine');
    await sent(4);
    await replies(root, 'Now shorten the table');
    expect((await sent(5)).slice(3)).toEqual(['I think so as well', 'Now shorten the table']);
    expect(talk.reactions).toEqual([]);
    await takes(owners);
  });

  test("[Don't send] drops what is held, and its author is not asked again", async () => {
    const { card: root } = await follows();
    const held = await replies(root, 'what do you all think of it?', { who: 'ben' });
    await reacted(held, 'double_vertical_bar');
    await clicksNote('ben', QUESTION, "Don't send");
    await reacted(held, 'none');
    const talk = await replies(root, 'I like the new structure', { who: 'ben' });
    await replies(root, '@Docket keep the new structure', { who: 'ben' });
    expect(await sent(1)).toEqual(['keep the new structure']);
    expect(talk.reactions).toEqual([]);
    expect(notes('ben').filter((text) => text.includes(QUESTION))).toEqual([]);
    expect(await scene.audit()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^ben instruction aj_\w+ → not for the agent · 28 characters$/),
      ]),
    );
  });

  test('a question is for its author alone, and is answered once', async () => {
    const { card: root } = await follows();
    await replies(root, 'is that really so simple?', { who: 'ben' });
    const asked = await note('ben', QUESTION);
    await expect(person('ana').clicks(asked, 'Send')).rejects.toThrow('does not see this message');
    await Promise.all([person('ben').clicks(asked, 'Send'), person('ben').clicks(asked, 'Send')]);
    expect(await sent(1)).toEqual(['is that really so simple?']);
    await scene.slack.until(() => notes('ben').some((text) => text.includes('It goes to the agent.')));
  });

  test('only with a mention, or all of them: by button and by word', async () => {
    const { card: root } = await follows();
    // Slack shows no private answer in a thread without replies.
    await replies(root, 'aside this is the thread');
    await clicks('ben', 'Details]', 'Listen only to @Docket');
    await scene.until([
      'Followed by ana · mention @Docket in the thread to ask the agent\n',
      '[Open pull request] [Build preview] [⋯ Details] [⋯ Listen to all replies] [⋯ Stop following]',
    ]);
    await note('ben', 'From now on, only replies that mention @Docket go to the agent.');
    const talk = await replies(root, 'nobody hears this sentence');
    await replies(root, '@Docket but this one, please');
    expect(await sent(1)).toEqual(['but this one, please']);
    expect(talk.reactions).toEqual([]);
    await clicks('ana', 'Details]', 'Listen to all replies');
    await scene.until(['every reply in the thread goes to the agent']);
    await replies(root, 'everybody hears this one', { who: 'ben' });
    expect((await sent(2))[1]).toBe('everybody hears this one');
    await replies(root, '@Docket only when mentioned', { who: 'ben' });
    await scene.until(['mention @Docket in the thread to ask the agent']);
    await replies(root, '@docket All replies!');
    await scene.until(['every reply in the thread goes to the agent']);
    expect(instructions()).toHaveLength(2);
  });

  test('in mode "all", mentions of others count too, and only "aside" does not', async () => {
    const { card: root } = await follows();
    await replies(root, '@Docket all replies');
    await scene.until(['every reply in the thread goes to the agent']);
    await replies(root, 'as @ben said: shorter', { who: 'ben' });
    await replies(root, 'aside thanks @ana, see you', { who: 'ben' });
    await replies(root, 'and <!here> is no word for it', { who: 'ana' });
    expect(await sent(2)).toEqual(['as @ben said: shorter', 'and @here is no word for it']);
    expect(notes('ben')).toEqual([]);
  });

  test('@Docket help is answered privately; longer words are an instruction', async () => {
    const { card: root } = await follows();
    await replies(root, '@Docket help');
    expect(read(await note('ana', 'Mention @Docket with what'))).toContain(
      '@Docket only when mentioned — ignore other replies',
    );
    await replies(root, '@Docket stop using tabs in samples');
    expect(await sent(1)).toEqual(['stop using tabs in samples']);
    await card('#docs', 'Working');
  });

  test.each([
    ['auto', undefined],
    ['all', 'Listen to all replies'],
    ['mention', 'Listen only to @Docket'],
  ])('greetings, thanks and emoji are never instructions: mode %s', async (_mode, entry) => {
    const { card: root } = await follows();
    if (entry !== undefined) await clicks('ana', 'Details]', entry);
    const talk = [];
    for (const text of [
      'thanks!',
      'hi',
      '👍',
      ':tada:',
      'ok',
      'Great work, thank you so much @ben 🙏',
      'ok, +1 :)',
      ...['tks', 'wfm', 'same', 'same here!'],
    ])
      for (const to of ['', '@Docket ']) talk.push(await replies(root, `${to}${text}`));
    await replies(root, '@Docket thanks, now also fix the typo');
    expect(await sent(1)).toEqual(['thanks, now also fix the typo']);
    expect(talk.flatMap(({ reactions }) => reactions)).toEqual([]);
    expect(notes('ana').filter((text) => !text.startsWith('From now on'))).toEqual([]);
  });

  test.each([
    ['auto', undefined],
    ['all', 'Listen to all replies'],
  ])('courtesies of a few words are held, and their author is asked: mode %s', async (_mode, entry) => {
    const { card: root } = await follows();
    if (entry !== undefined) await clicks('ana', 'Details]', entry);
    const talk = await replies(root, '@Docket thank you for fixing it!');
    await reacted(talk, 'double_vertical_bar');
    await note('ana', `${QUESTION} · "thank you for fixing it!"`);
    const same = await replies(root, 'same for the API page');
    await reacted(same, 'double_vertical_bar');
    for (const work of ['ok, add a quickstart', 'yes please fix the typo', 'Good examples are missing'])
      await replies(root, work);
    expect(await sent(3)).toEqual([
      'ok, add a quickstart',
      'yes please fix the typo',
      'Good examples are missing',
    ]);
    await scene.person('ana').edits(same, '@Docket same for the API page');
    expect((await sent(4))[3]).toBe('same for the API page');
    await clicksNote('ana', 'thank you for fixing it!', "Don't send");
    await reacted(talk, 'none');
    await replies(root, 'Every later reply still counts');
    expect(await sent(5)).toHaveLength(5);
  });

  test('for whom every reply counts, it still does after an answer about a courtesy', async () => {
    const { card: root } = await follows();
    await replies(root, 'what about the second version?', { who: 'ben' });
    await clicksNote('ben', QUESTION, 'Always send mine');
    await sent(1);
    await replies(root, 'thank you for fixing it', { who: 'ben' });
    const question = await note('ben', '"thank you for fixing it"');
    expect(read(question)).not.toContain('Always send mine');
    await person('ben').clicks(question, "Don't send");
    expect(read(await note('ben', 'Not sent.'))).toBe('Not sent.');
    await replies(root, 'Now shorten the table', { who: 'ben' });
    expect((await sent(2))[1]).toBe('Now shorten the table');
  });

  test('"status?" is answered from what is known, only to the person who asked', async () => {
    const { jobId, card: root } = await follows();
    await replies(root, 'status?', { who: 'ben' });
    expect(read(await note('ben', 'Ready'))).toMatch(
      /^✅ Ready · .*\nlast checked .*\n\[Open pull request\] \[Check now\]$/,
    );
    plan(jobId);
    await replies(root, '@Docket Rewrite the intro');
    await sent(1);
    await card('#docs', 'Working');
    await replies(root, '@Docket any update?');
    await note('ana', 'Working on "Rewrite the intro"');
    expect(instructions()).toEqual(['Rewrite the intro']);
    expect(notes('ben')).toHaveLength(1);
  });

  test('"status?" is answered in every mode, also to those whose replies need a mention', async () => {
    const { card: root } = await follows();
    await replies(root, 'nice, that was quick, but is it right?', { who: 'ben' });
    await clicksNote('ben', QUESTION, "Don't send");
    await replies(root, 'status?', { who: 'ben' });
    await note('ben', 'last checked');
    await replies(root, '@Docket only when mentioned');
    await scene.slack.until(() => read(root).includes('mention @Docket in the thread to ask the agent'));
    await replies(root, 'status?');
    await note('ana', 'last checked');
    expect(instructions()).toEqual([]);
  });

  test('@Docket and no word is answered, and nothing is sent', async () => {
    const { card: root } = await follows();
    await replies(root, '@Docket');
    await note('ana', 'That has no text, so nothing was sent.');
    await replies(root, 'Now with some words');
    expect(await sent(1)).toEqual(['Now with some words']);
  });
});

describe('after a quiet day', () => {
  const scene = stage({ startMs: Date.now() + 3_600_000 });
  const { person } = scene;
  const { follows, replies, reacted, sent, note, notes, clicksNote, read } = agentsOn(scene);

  test('the owner is asked once, and then counts again, until somebody else writes', async () => {
    const { card: root } = await follows();
    await replies(root, 'looks good, but what about v2?', { who: 'ben' });
    await replies(root, 'I think so as well');
    await clicksNote('ana', QUESTION, "Don't send");
    await replies(root, 'nobody is asked about this one');
    await scene.world.jumpTo(scene.world.now() + 23 * 3_600_000);
    await replies(root, 'it was a quiet day', { who: 'ben' });
    await replies(root, 'nor about this one');
    await scene.world.jumpTo(scene.world.now() + 25 * 3_600_000);
    await replies(root, 'thanks!');
    const asked = await replies(root, 'Add v2 to the table');
    await reacted(asked, 'double_vertical_bar');
    const question = await note('ana', '"Add v2 to the table"');
    expect(read(question)).not.toContain(FOR_ALL);
    await replies(root, 'And sort it');
    expect(await sent(1)).toEqual(['And sort it']);
    await person('ana').clicks(question, 'Send');
    await sent(2);
    await replies(root, 'is that it?', { who: 'ben' });
    await replies(root, 'I hope so');
    await note('ana', '"I hope so"');
    expect(notes('ana').filter((text) => text.includes(QUESTION))).toHaveLength(1);
    expect(await sent(2)).toEqual(['And sort it', 'Add v2 to the table']);
  });
});

describe('with the setting replies', () => {
  const scene = stage({ bot: { config: 'replies: mention\n' } });
  const { follows, replies, sent, read } = agentsOn(scene);

  test('mention, a thread begins so', async () => {
    const { card: root } = await follows();
    expect(read(root)).toContain('mention @Docket in the thread to ask the agent');
    await replies(root, 'this is talk among people');
    await replies(root, '@Docket and this is not');
    expect(await sent(1)).toEqual(['and this is not']);
  });
});
