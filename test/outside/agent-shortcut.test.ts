import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const NAME = 'Send to the docs agent';
const QUICKSTART = 'acme/docs @ agent/quickstart · Ready';

describe('the shortcut on a message', () => {
  const scene = stage();
  const { person, toldLast } = scene;
  const { follows, plan, finish, replies, reacted, sent, instructions, untilBelow, sendsAlone, stops } =
    agentsOn(scene);
  const uses = (
    who: 'ana' | 'ben' | 'gus',
    message: Parameters<ReturnType<typeof person>['usesShortcut']>[1],
  ) => person(who).usesShortcut(NAME, message);

  test('in a followed thread: sends it, with what was changed in the dialog', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const talk = await replies(root, 'the first table is *wrong*, @ana', { who: 'ben' });
    await reacted(talk, 'double_vertical_bar');
    await uses('ana', talk);
    expect(person('ana').fields()).toMatchObject([
      { label: 'Your request', value: 'the first table is **wrong**, @ana' },
    ]);
    await person('ana').submits({ 'Your request': 'Mend the first table' });
    expect(await sent(1)).toEqual(['Mend the first table']);
    await untilBelow(root, '⏳ Working · "Mend the first table"');
    expect(toldLast('ana')).toBe(
      'It goes to acme/docs @ agent/quickstart; the result appears in its thread.',
    );
  });

  test('elsewhere: asks which job when there are several', async () => {
    await follows();
    const other = await follows({ seed: { ref: 'agent/limits' } });
    const message = await person('ben').says('#docs', 'The limits are not documented');
    await uses('ana', message);
    expect(person('ana').fields()).toMatchObject([
      {
        label: 'Job',
        value: 'A new job, in this thread',
        options: [
          'A new job, in this thread',
          'acme/docs @ agent/limits · Ready',
          'acme/docs @ agent/quickstart · Ready',
        ],
      },
      { label: 'Your request', value: 'The limits are not documented' },
    ]);
    plan(other.jobId);
    await person('ana').submits({ Job: 'acme/docs @ agent/limits · Ready' });
    expect(await sent(1)).toEqual(['The limits are not documented']);
    expect(scene.platform.agent.messages[0]?.jobId).toBe(other.jobId);
    await untilBelow(other.card, '⏳ Working · "The limits are not documented"');
  });

  test('the very same submission twice is one instruction', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId, {});
    await uses('ana', await person('ben').says('#docs', 'The limits are not documented'));
    await person('ana').submits({ Job: QUICKSTART });
    const request = scene.slack.lastRequest;
    await sent(1);
    await scene.slack.resend(request);
    await replies(root, 'This one comes after it');
    expect(await sent(2)).toEqual(['The limits are not documented', 'This one comes after it']);
  });

  test('in a thread that follows nothing: a new job there, with its card and its replies', async () => {
    const question = await person('ben').says('#docs', 'The limits are not documented');
    const reply = await replies(question, 'Nor are the errors');
    await uses('ana', reply);
    expect(person('ana').fields()).toMatchObject([{ label: 'Your request', value: 'Nor are the errors' }]);
    scene.platform.agent.plan({ hold: true });
    await person('ana').submits({ 'Your request': 'Document the errors' });
    await sendsAlone();
    expect(await sent(1)).toEqual(['Document the errors']);
    await untilBelow(question, '⏳ Working · Document the errors', '⏳ Working · "Document the errors"');
    for (const jobId of scene.platform.agent.jobs.keys()) finish(jobId);
    await replies(question, 'With an example for each');
    expect(await sent(2)).toEqual(['Document the errors', 'With an example for each']);
    expect(scene.platform.agent.jobs.size).toBe(1);
  });

  test('on a forwarded message: the field has the quote, without a preview of what is private', async () => {
    await follows();
    const secret = await person('ben').says('#secret', 'The launch is on Monday');
    const forwarded = await person('ben').forwards(
      await person('ana').says('#elsewhere', 'The limits are not documented'),
      '#docs',
    );
    await uses('ana', forwarded);
    expect(person('ana').fields()).toContainEqual(
      expect.objectContaining({
        label: 'Your request',
        value: 'Message from "Ana Alves":\n\n> The limits are not documented',
      }),
    );
    const linked = await person('ben').forwards(secret, '#docs', 'As in', { as: 'link' });
    await uses('ana', linked);
    expect(person('ana').fields()).toContainEqual(
      expect.objectContaining({ label: 'Your request', value: expect.stringMatching(/^As in https:\S+$/) }),
    );
  });

  test('of a job that is followed no more when it is submitted: nothing is sent', async () => {
    const { card: root } = await follows();
    await uses('ana', await person('ben').says('#docs', 'The limits are not documented'));
    await stops(root, 'ben');
    await scene.slack.until(() => scene.slack.read(root).includes('Stopped following'));
    await person('ana').submits({ Job: QUICKSTART });
    await scene.slack.until(() => toldLast('ana'));
    expect(toldLast('ana')).toBe('That agent job is no longer followed, so nothing was sent.');
    expect(instructions()).toEqual([]);
  });

  test('by a guest: refused', async () => {
    await follows();
    await uses('gus', await person('ben').says('#docs', 'The limits are not documented'));
    await scene.slack.until(() => toldLast('gus'));
    expect(toldLast('gus')).toContain("You can't");
    expect(person('gus').modal()).toBeUndefined();
  });
});
