import type { InputBlock } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { sendModal, sendModalView } from '../../../src/commands/agent/modal.ts';
import { threadClaim } from '../../../src/store/threads.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, aProject, ben, noDetails } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anInstruction, aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { now: () => NOW_MS },
);

const threads = (many: number) => Array.from({ length: many }, (_, index) => aThread({ id: `run${index}` }));
const newJob = { projects: [aProject({ name: 'acme', projectId: 'prj_1' })], project: 'acme' };
const fieldsOf = (what: Parameters<typeof sendModalView>[0]) => {
  const view = sendModalView(what);
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
  const blocks = view.blocks.filter(({ type }) => type === 'input');
  // biome-ignore lint/suspicious/noExplicitAny: read as a test wants it
  return blocks.map((block) => (block as InputBlock).element as any);
};

describe('the modal', () => {
  test('has the thread where it was opened chosen, else a new job there', () => {
    const many = threads(3);
    expect(fieldsOf({ threads: many, here: many[2], text: '' })[0].initial_option.value).toBe('run2');
    const [choice] = fieldsOf({ threads: many, here: undefined, newJob, text: '' });
    expect(choice.options[0]).toMatchObject({ text: { text: 'A new job, in this thread' } });
    expect(choice.initial_option.value).toBe('new');
  });

  test('keeps to the limits of Slack', () => {
    const seen = {
      status: 'completed',
      rawStatus: 'completed',
      ref: 'x'.repeat(200),
      repository: 'acme/docs',
      atMs: 1,
    } as const;
    const many = threads(120).map((thread) => ({ ...thread, seen }));
    const [choice, text] = fieldsOf({ threads: many, here: many[119], text: '𝒳'.repeat(2000) });
    expect(choice.options).toHaveLength(100);
    expect(choice.options[0]).toMatchObject({ value: 'run119' });
    expect(choice.options[0].text.text).toMatch(/ · ana$/);
    expect(choice.options[0].text.text.length).toBeLessThanOrEqual(75);
    expect(text.initial_value.length).toBeLessThanOrEqual(3000);
    expect(text.initial_value.isWellFormed()).toBe(true);
    expect(text.initial_value.endsWith('…')).toBe(true);
  });
});

describe('submitted', () => {
  const submit = (entered: Record<string, string>, caller = aCaller({ requestId: 'view V1' })) =>
    sendModal.submit(entered, caller, world.tools, noDetails);

  test('with more than the agent gets, or where too many wait, keeps what was entered', async () => {
    const thread = await world.followed(aThread());
    expect(await submit({ thread: thread.id, text: 'word '.repeat(2840) })).toEqual({
      kind: 'problems',
      problems: { text: 'That is 14,199 characters; the agent gets up to 8,000 at once.' },
    });
    const instructions = Array.from({ length: 100 }, (_, index) => anInstruction({ id: `i${index}` }));
    await world.threads.save({ ...thread, instructions }, 0);
    expect(await submit({ thread: thread.id, text: 'One more' })).toEqual({
      kind: 'problems',
      problems: {
        text: '100 instructions of this thread are already waiting. This one was not accepted; send it again later.',
      },
    });
    expect(await world.inbox(thread)).toEqual([]);
  });

  test('sends to the thread, once, and says where', async () => {
    const thread = await world.followed(aThread());
    const entered = { thread: thread.id, text: ' Add it\n' };
    const told = await submit(entered);
    await submit(entered);
    expect(told).toMatchObject({
      kind: 'message',
      message: {
        text: 'It goes to acme/docs @ agent/quickstart; the result appears in <https://acme.example/archives/C0DOCS/p1789912800000100|its thread>.',
      },
    });
    expect(await world.inbox(thread)).toEqual([
      {
        kind: 'instruct',
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        by: { id: 'U0ANA', name: 'ana' },
        text: 'Add it',
        atMs: NOW_MS,
      },
    ]);
    expect(world.woken).toContain(thread.id);
  });

  test('sends what the modal shows, and nothing that nobody sees', async () => {
    const thread = await world.followed(aThread());
    const typed = 'Add it\u200B\u{E0064}\u{E0065}\u{E006C} \r\nنمی‌خواهم 👩‍💻\uFE0F\uFE0F\u202E';
    const sent = 'Add it \nنمی‌خواهم 👩‍💻\uFE0F';
    expect(fieldsOf({ threads: [thread], here: undefined, text: typed })[0].initial_value).toBe(sent);
    await submit({ thread: thread.id, text: typed });
    expect(await world.inbox(thread)).toMatchObject([{ text: sent }]);
    const cutInside = fieldsOf({ threads: [thread], here: undefined, text: '👩‍'.repeat(1500) })[0]
      .initial_value;
    await submit({ thread: thread.id, text: cutInside }, aCaller({ requestId: 'view V2' }));
    expect(await world.inbox(thread)).toMatchObject([{}, { text: cutInside }]);
  });

  test('of nothing that can be seen is left empty', async () => {
    const thread = await world.followed(aThread());
    expect(await submit({ thread: thread.id, text: ' \u200B\u{E0041}' })).toMatchObject({ kind: 'problems' });
  });

  test('with a field left empty says so at the field', async () => {
    const thread = await world.followed(aThread());
    expect(await submit({ thread: thread.id })).toMatchObject({
      kind: 'problems',
      problems: { text: 'Write what the agent should do.' },
    });
    expect(await submit({ text: 'Go' })).toMatchObject({ problems: { thread: 'Choose a job.' } });
    expect(await world.inbox(thread)).toEqual([]);
  });

  test('for a thread that ended, went, or is not to be seen sends nothing', async () => {
    const message = { text: 'That job is no longer followed, so nothing was sent.' };
    const ended = await world.followed(aThread({ state: 'ended' }));
    expect(await submit({ thread: ended.id, text: 'Go' })).toMatchObject({ kind: 'message', message });
    expect(await submit({ thread: 'nobody', text: 'Go' })).toMatchObject({ kind: 'message', message });
    const asked = { channel: 'C0OPS', joinable: true, isPublic: false };
    const hidden = await world.followed(
      aThread({ id: 'hidden', asked, place: { channel: 'C0OPS', rootTs: '1.1' } }),
    );
    const caller = aCaller({ user: ben, requestId: 'view V2' });
    expect(await submit({ thread: hidden.id, text: 'Go' }, caller)).toMatchObject({
      kind: 'message',
      message,
    });
    expect(await world.inbox(hidden)).toEqual([]);
  });

  describe('as a new job', () => {
    const about = JSON.stringify({ v: 1, ts: '1.2', rootTs: '1.1', to: 'new' });
    const start = (entered: Record<string, string>, tools = world.tools) =>
      sendModal.submit(entered, aCaller({ requestId: 'view V1' }), tools, { ticked: {}, about });
    const withAgents = (...names: string[]) => ({
      ...world.tools,
      projects: names.map((name) => aProject({ name, projectId: `prj_${name}` })),
    });

    test('starts it in the thread of the message, once', async () => {
      expect(await start({ text: 'Mend it' }, withAgents('acme'))).toEqual({ kind: 'closed' });
      await start({ text: 'Mend it' }, withAgents('acme'));
      const [thread, ...more] = await world.threadRuns();
      expect(more).toEqual([]);
      expect(thread).toMatchObject({
        project: 'acme',
        owner: { id: 'U0ANA' },
        checked: true,
        asked: { channel: 'C0DOCS', rootTs: '1.1', ts: '1.2' },
        claim: threadClaim({ teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1.1' }),
        instructions: [{ text: 'Mend it', creates: true, isReply: false, state: 'waiting' }],
      });
    });

    test('where a job is followed by now says so', async () => {
      await world.followed(aThread({ place: { channel: 'C0DOCS', rootTs: '1.1' } }));
      expect(await start({ text: 'Mend it' }, withAgents('acme'))).toMatchObject({
        kind: 'message',
        message: {
          text: 'This thread already follows a job, so nothing was sent: reply in it to instruct the agent.',
        },
      });
    });

    test('of several projects wants one, and takes it', async () => {
      expect(await start({ text: 'Mend it' }, withAgents('acme', 'beta'))).toEqual({
        kind: 'problems',
        problems: { project: 'Choose a project.' },
      });
      await start({ text: 'Mend it', project: 'beta' }, withAgents('acme', 'beta'));
      expect(await world.threadRuns()).toMatchObject([{ project: 'beta' }]);
    });

    test('without words says so at the field', async () => {
      expect(await start({}, withAgents('acme'))).toMatchObject({ kind: 'problems' });
      expect(await world.threadRuns()).toEqual([]);
    });
  });
});
