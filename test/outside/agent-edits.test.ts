import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const QUESTION = 'Is this for the agent?';

describe('what people do with their replies', () => {
  const scene = stage();
  const { person } = scene;
  const { follows, plan, finish, replies, reacted, takes, sent, note, notes, clicksNote, untilBelow, read } =
    agentsOn(scene);

  test('edited once it was sent: told privately, and nothing is sent again', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const reply = await replies(root, 'Use American spelling');
    await untilBelow(root, '⏳');
    await person('ana').edits(reply, 'Use British spelling');
    expect(read(await note('ana', 'already has this'))).toBe(
      'The agent already has this. Reply with the correction instead.',
    );
    await person('ana').edits(reply, 'Use Australian spelling');
    finish(jobId);
    await replies(root, 'Use British spelling instead');
    expect(await sent(2)).toEqual(['Use American spelling', 'Use British spelling instead']);
    expect(notes('ana')).toHaveLength(1);
  });

  test('edited while it is held: the new text is sent', async () => {
    const { card: root } = await follows();
    const held = await replies(root, 'use more exmaples', { who: 'ben' });
    await reacted(held, 'double_vertical_bar');
    await person('ben').edits(held, 'use more examples');
    await clicksNote('ben', QUESTION, 'Send');
    expect(await sent(1)).toEqual(['use more examples']);
  });

  test('edited while it is held, with the mention that was missing: it is sent', async () => {
    const { card: root } = await follows();
    const held = await replies(root, 'use more examples', { who: 'ben' });
    await reacted(held, 'double_vertical_bar');
    await person('ben').edits(held, '@Docket use more examples');
    expect(await sent(1)).toEqual(['use more examples']);
    await takes(held);
  });

  test('edited into an aside, or deleted, while it is held: withdrawn', async () => {
    const { card: root } = await follows();
    const aside = await replies(root, 'what a strange sentence', { who: 'ben' });
    const deleted = await replies(root, 'what an odd paragraph', { who: 'ben' });
    await reacted(aside, 'double_vertical_bar');
    await reacted(deleted, 'double_vertical_bar');
    await person('ben').edits(aside, 'aside: what a strange sentence');
    await person('ben').deletes(deleted);
    await reacted(aside, 'none');
    await person('ben').clicks(await note('ben', QUESTION), 'Send');
    await replies(root, '@Docket now this one', { who: 'ben' });
    expect(await sent(1)).toEqual(['now this one']);
    expect((await scene.audit()).filter((line) => line.endsWith('withdrawn · 23 characters'))).toHaveLength(
      1,
    );
  });

  test('deleted once it was sent: nothing comes of it', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const reply = await replies(root, 'Use American spelling');
    await untilBelow(root, '⏳');
    await person('ana').deletes(reply);
    plan(jobId);
    finish(jobId);
    await replies(root, 'And short sentences');
    await sent(2);
    await untilBelow(root, '⏳ Working · "And short sentences"');
    expect(notes('ana')).toEqual([]);
  });

  test('with a file: the text is sent, and its author is told that files are not', async () => {
    const { card: root } = await follows();
    const reply = await replies(root, 'Put this diagram in', { files: ['diagram.png'] });
    expect(await sent(1)).toEqual(['Put this diagram in']);
    await takes(reply);
    expect(read(await note('ana', 'files'))).toBe(
      "I'll send the text. I can't pass files or previews of private messages on to the agent.",
    );
  });

  test('a file that is held: told only once it is sent', async () => {
    const { card: root } = await follows();
    await replies(root, 'like in this picture', { who: 'ben', files: ['picture.png'] });
    await note('ben', QUESTION);
    expect(notes('ben')).toHaveLength(1);
    await clicksNote('ben', QUESTION, 'Send');
    expect(await sent(1)).toEqual(['like in this picture']);
    await note('ben', "I can't pass files or previews of private messages on to the agent.");
  });
});

describe('replies that are sent at once', () => {
  const { follows, plan, replies, sent, untilBelow, below } = agentsOn(
    stage({ bot: { config: 'whileWorking: send\n' } }),
  );

  test('written in one go: all go out, in their order', async () => {
    const { jobId, card: root } = await follows();
    const words = ['one of five', 'two of five', 'three of five', 'four of five', 'five of five'];
    for (const _ of words) plan(jobId);
    await Promise.all(words.map((text) => replies(root, text)));
    expect(await sent(5)).toEqual(words);
    await untilBelow(root, '⏳ Working · "five of five" and 4 more');
    expect(below(root).filter((text) => text.includes('⏳ Working'))).toHaveLength(1);
  });
});
