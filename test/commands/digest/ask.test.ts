import type { InputBlock, ModalView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { askAgentButton, askModals } from '../../../src/commands/digest/ask.ts';
import { readPage } from '../../../src/commands/digest/ask-subject.ts';
import { withOrigin } from '../../../src/commands/open-modal.ts';
import type { ModalValues, SubmitResult } from '../../../src/commands/registry.ts';
import type { CommandTools } from '../../../src/commands/tools.ts';
import { threadRun } from '../../../src/jobs/agent/thread/record.ts';
import { askRun } from '../../../src/jobs/digest/ask/record.ts';
import { askMessages } from '../../../src/jobs/digest/ask/view.ts';
import type { AskButton } from '../../../src/jobs/digest/buttons.ts';
import { type EditionRun, rootKey } from '../../../src/jobs/digest/edition/record.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, aProject, ben, gus, origin } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anInstruction, aThread } from '../../support/jobs/agent/builders.ts';
import { anEdition, aPage, hostileSubjects } from '../../support/jobs/digest/builders.ts';

let world: CommandWorld;
let tools: CommandTools;
let abouts: (string | undefined)[];
onFreshWorlds(
  (fresh) => {
    world = fresh;
    abouts = [];
    tools = {
      ...fresh.tools,
      openModal: async (_caller, view, about) => {
        world.opened.push(view);
        abouts.push(about);
      },
    };
  },
  { projects: [aProject({ name: 'acme', projectId: 'prj_1' })] },
);

const [subjectModal, instructionModal] = askModals;
const thread = (changes = {}) => aThread({ project: 'acme', ...changes });

const clicks = (about: AskButton['about'], run: Pick<EditionRun, 'id'> = anEdition(), caller = aCaller()) =>
  askAgentButton.run({ v: 1, digest: run.id, about }, caller, tools);

// biome-ignore lint/suspicious/noExplicitAny: read as a test wants it
const fieldsOf = (view: ModalView | undefined): any[] =>
  (view?.blocks ?? []).flatMap((block) => (block.type === 'input' ? [(block as InputBlock).element] : []));
const optionsOf = (view: ModalView | undefined): { text: { text: string }; value: string }[] =>
  fieldsOf(view).flatMap(({ options = [] }) => options);

/** Chooses in the first modal that was opened, and answers what comes of it. */
function chooses(values: ModalValues, caller = aCaller({ requestId: 'view V1' })) {
  const details = { ticked: {}, about: abouts.at(-1) };
  return subjectModal?.submit(values, caller, tools, details) as Promise<SubmitResult>;
}

/** Submits the second modal. */
function submits(values: ModalValues, about = abouts.at(-1), caller = aCaller({ requestId: 'view V1' })) {
  return instructionModal?.submit(values, caller, tools, { ticked: {}, about }) as Promise<SubmitResult>;
}

function nextOf(result: SubmitResult) {
  if (result.kind !== 'view') throw new Error(`no view, but ${result.kind}`);
  return result;
}

const asks = () => world.runs.activeOf(askRun, 'digest-ask');

/** Everything that Slack would refuse. */
function checked(view: ModalView | undefined, about: string | undefined) {
  if (view === undefined || about === undefined) throw new Error('nothing was opened');
  checkView(withOrigin(view, { ...origin, about }), 'modal', (prefix) => prefix);
}

describe('the button', () => {
  test('lists the entries of its line with their numbers', async () => {
    await world.given(anEdition());
    expect(await clicks('searches')).toBeUndefined();
    expect(optionsOf(world.opened[0]).map(({ text }) => text.text)).toEqual([
      '"sso okta" · 41 times',
      '"webhook retry" · 18 times',
    ]);
    checked(world.opened[0], abouts[0]);
  });

  test('under the tables lists all their pages, and takes any other', async () => {
    await world.given(anEdition());
    await clicks('pages');
    expect(optionsOf(world.opened[0]).map(({ text }) => text.text)).toEqual([
      '/guides/sso · 100 views',
      '/quickstart · 100 views',
      '/old/setup · 0 views',
    ]);
    expect(fieldsOf(world.opened[0])[1]).toMatchObject({ type: 'plain_text_input' });
    checked(world.opened[0], abouts[0]);
  });

  test.each([
    ['that can be submitted has it in its field', '/guides/sso', '/guides/sso'],
    ['that cannot leaves the field empty', '<!channel> *bold*', undefined],
  ])('under a table of one page %s', async (_, path, initial) => {
    const { pages } = anEdition();
    const one = pages && { ...pages, top: [aPage(path)], falling: [], quiet: [] };
    await world.given(anEdition({ pages: one }));
    await clicks('pages');
    const fields = fieldsOf(world.opened[0]);
    expect(fields.map(({ type, initial_value: value }) => [type, value])).toEqual([
      ['plain_text_input', initial],
    ]);
    checked(world.opened[0], abouts[0]);
  });

  test('asks which job only where one is followed', async () => {
    await world.given(anEdition());
    await clicks('thumbs');
    expect(fieldsOf(world.opened[0]).map(({ type }) => type)).toEqual(['plain_text_input']);
    expect(JSON.stringify(world.opened[0])).toContain('A new job gets its own thread in the channel');
    expect(await submits({ text: 'Mend it' })).toEqual({ kind: 'closed' });
    expect(await asks()).toMatchObject([{ handover: { text: 'Mend it', newThread: {} } }]);
    await world.followed(thread());
    await clicks('thumbs');
    expect(optionsOf(world.opened[1])).toHaveLength(2);
  });

  test('of a line with one entry goes on with the instruction at once', async () => {
    await world.given(anEdition());
    await clicks('thumbs');
    expect(fieldsOf(world.opened[0])[0].initial_value).toContain('"/guides/sso" 9 thumbs down and 2 up');
    checked(world.opened[0], abouts[0]);
    expect(await submits({ text: 'Mend it', where: 'new' })).toEqual({ kind: 'closed' });
    expect(await asks()).toMatchObject([{ subject: { kind: 'thumbs', name: '/guides/sso', value: 9 } }]);
  });

  test.each([
    ['of a digest that is forgotten', 'nobody', aCaller()],
    [
      'for somebody who cannot see it',
      anEdition().id,
      aCaller({ user: gus, channel: { id: 'C0OPS', name: 'ops' } }),
    ],
  ])('%s says so', async (_, id, caller) => {
    await world.given(anEdition());
    expect((await clicks('pages', { id }, caller))?.text).toContain(
      'I no longer have the numbers of this digest',
    );
    expect(world.opened).toEqual([]);
  });

  test('of a project without an agent says what is missing', async () => {
    await world.given(anEdition());
    tools = { ...tools, projects: [aProject({ name: 'acme' })] };
    expect((await clicks('pages'))?.text).toContain('Project acme has no id, so nothing was sent.');
    tools = { ...tools, projects: [aProject({ name: 'beta' })] };
    expect((await clicks('pages'))?.text).toContain('No project "acme"');
  });
});

test('the line goes under the digest that is there, after Slack refused the first one', async () => {
  const run = anEdition({ attempt: 2 });
  await world.given(run);
  await clicks('thumbs');
  expect(await submits({ text: 'Mend it', where: 'new' })).toEqual({ kind: 'closed' });
  const [ask] = await asks();
  const lines = ask && askMessages({ ...ask, state: 'open' });
  expect(lines?.map(({ place }) => place)).toEqual([{ under: rootKey(run) }]);
});

describe('what is chosen', () => {
  test('comes with an instruction and the threads of that project that may be seen and take instructions', async () => {
    await world.given(anEdition());
    await world.followed(thread());
    await world.followed(
      thread({ id: 'other', project: 'beta', place: { channel: 'C0DOCS', rootTs: '1.2' } }),
    );
    await world.followed(thread({ id: 'gone', gone: true, place: { channel: 'C0DOCS', rootTs: '1.3' } }));
    const asked = { channel: 'C0OPS', joinable: true, isPublic: false };
    const owner = { id: 'U0BEN', name: 'ben' };
    await world.followed(thread({ id: 'hidden', asked, owner, place: { channel: 'C0OPS', rootTs: '1.4' } }));
    await clicks('searches');
    const [sso] = optionsOf(world.opened[0]);
    const next = nextOf(await chooses({ entry: sso?.value ?? '' }));
    const [text, where] = fieldsOf(next.view);
    expect(text.initial_value).toMatch(
      /^Readers searched "sso okta" 41 times last week and clicked nothing\./,
    );
    expect(where.options.map((option: { text: { text: string } }) => option.text.text)).toEqual([
      'New job',
      'acme/docs @ agent/quickstart · Ready',
    ]);
    expect(where.initial_option.value).toBe('new');
    checked(next.view, next.about);
  });

  test('may be a page that no list has, also as its address', async () => {
    await world.given(anEdition());
    await clicks('pages');
    const next = nextOf(await chooses({ path: 'https://docs.acme.com/guides/new?x=1' }));
    expect(fieldsOf(next.view)[0].initial_value).toMatch(/^Check the page "\/guides\/new": /);
    await submits({ text: 'Check it' }, next.about);
    expect(await asks()).toMatchObject([{ subject: { kind: 'page', name: '/guides/new' } }]);
  });

  test('as a path that a list has, it has its numbers', async () => {
    await world.given(anEdition());
    await clicks('pages');
    const next = nextOf(await chooses({ path: ' /old/setup ' }));
    expect(fieldsOf(next.view)[0].initial_value).toContain('0 by people (60 before)');
  });

  test('when it is nothing, or no path, says so at the field', async () => {
    await world.given(anEdition());
    await clicks('pages');
    expect(await chooses({})).toEqual({
      kind: 'problems',
      problems: { path: 'Choose a page, or type its path here.' },
    });
    for (const path of ['guides', 'ftp://x/', `/${'x'.repeat(300)}`, 'https://'])
      expect(await chooses({ path })).toMatchObject({
        kind: 'problems',
        problems: { path: expect.any(String) },
      });
    await clicks('searches');
    expect(await chooses({ entry: 'another' })).toMatchObject({ problems: { entry: 'Choose one.' } });
  });
});

describe('submitted', () => {
  async function chosen() {
    await world.given(anEdition());
    await clicks('searches');
    return nextOf(await chooses({ entry: optionsOf(world.opened[0])[0]?.value ?? '' })).about;
  }

  test('starts one run, from which a new job follows, however often it comes', async () => {
    const about = await chosen();
    expect(await submits({ text: ' Write it\u200B ', where: 'new' }, about)).toEqual({ kind: 'closed' });
    await submits({ text: 'Write it', where: 'new' }, about);
    const [run, ...others] = await asks();
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      state: 'accepted',
      project: 'acme',
      edition: anEdition().id,
      channel: 'C0DOCS',
      by: { id: 'U0ANA', name: 'ana' },
      subject: { kind: 'search', name: 'sso okta', value: 41 },
      handover: {
        text: 'Write it',
        newThread: { asked: { channel: 'C0DOCS', joinable: true, isPublic: true }, mode: 'auto' },
      },
    });
    expect(world.woken).toContain(run?.id);
    expect(world.audited[0]).toEqual({ subject: 'new job', job: undefined, result: 'accepted' });
    expect(await world.runs.activeOf(threadRun, 'agent-thread')).toEqual([]);
  });

  test('while ten of the same person are at work says until when, and keeps what was entered', async () => {
    const about = await chosen();
    const ask = (n: number, caller = aCaller()) =>
      submits({ text: 'Write it', where: 'new' }, about, { ...caller, requestId: `view V${n}` });
    const earlier = { ...tools, now: () => NOW_MS - 20 * 60_000 };
    const later = tools;
    tools = earlier;
    for (let n = 1; n <= 10; n += 1) expect(await ask(n)).toEqual({ kind: 'closed' });
    tools = later;
    const text =
      'The agent is working on 10 tasks of yours. Ask again when one has ended, or in 5 h 40 min, when I stop watching the oldest.';
    expect(await ask(11)).toEqual({ kind: 'problems', problems: { text } });
    expect(text.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
    expect(await asks()).toHaveLength(10);
    expect(world.audited.at(-1)).toEqual({
      subject: 'new job',
      job: undefined,
      result: 'refused: too many at once',
    });
    // A repeat is no further one, and another person has ten as well.
    expect(await ask(3)).toEqual({ kind: 'closed' });
    expect(await ask(12, aCaller({ user: ben }))).toEqual({ kind: 'closed' });
    const [oldest] = (await asks()).toSorted((one, other) => one.sinceMs - other.sinceMs);
    if (oldest === undefined) throw new Error('nothing was kept');
    await world.runs.save({ ...oldest, state: 'ended' });
    expect(await ask(11)).toEqual({ kind: 'closed' });
  });

  test('for a thread, names it', async () => {
    const about = await chosen();
    const { id } = await world.followed(thread());
    await submits({ text: 'Write it', where: id }, about);
    expect(await asks()).toMatchObject([{ thread: id, handover: { text: 'Write it' } }]);
    expect((await asks())[0]?.handover).not.toHaveProperty('newThread');
  });

  test('with nothing, with more than the agent gets, or where too many wait, keeps what was entered', async () => {
    const about = await chosen();
    expect(await submits({ text: '\u200B' }, about)).toMatchObject({
      problems: { text: 'Write what the agent should do.' },
    });
    expect(await submits({ text: 'x'.repeat(8001) }, about)).toMatchObject({ kind: 'problems' });
    const full = Array.from({ length: 100 }, (_, index) => anInstruction({ id: `i${index}` }));
    const { id } = await world.followed(thread({ instructions: full }));
    expect(await submits({ text: 'One more', where: id }, about)).toMatchObject({ kind: 'problems' });
    expect(await asks()).toEqual([]);
  });

  test('for a thread that ended, is of another project, or is not to be seen sends nothing', async () => {
    const about = await chosen();
    const asked = { channel: 'C0OPS', joinable: true, isPublic: false };
    const owner = { id: 'U0BEN', name: 'ben' };
    await world.followed(thread({ id: 'hidden', asked, owner, place: { channel: 'C0OPS', rootTs: '1.4' } }));
    await world.given(thread({ id: 'ended', state: 'ended', claim: undefined }));
    await world.given(thread({ id: 'other', project: 'beta', claim: undefined }));
    for (const where of ['hidden', 'ended', 'other', 'nobody'])
      expect(await submits({ text: 'Write it', where }, about)).toMatchObject({ kind: 'message' });
    expect(await asks()).toEqual([]);
  });

  test('about what is not known any more, or by somebody who may not see it, sends nothing', async () => {
    const about = await chosen();
    const elsewhere = aCaller({ requestId: 'view V2', user: ben, channel: { id: 'C0OPS', name: 'ops' } });
    expect(await submits({ text: 'Write it' }, about, elsewhere)).toMatchObject({ kind: 'message' });
    for (const unknown of [undefined, '', '{}', '{"v":1,"digest":"nobody","about":"pages","path":"/a"}'])
      expect(await submits({ text: 'Write it' }, unknown)).toMatchObject({ kind: 'message' });
    expect(await asks()).toEqual([]);
  });
});

describe.each(hostileSubjects)('%s', (_, text) => {
  const hostile = () =>
    anEdition({
      pages: {
        ...(anEdition().pages as NonNullable<EditionRun['pages']>),
        top: [aPage(text), aPage(`/${text}`)],
      },
      readers: {
        searches: [
          { query: text, hits: 1_000_000 },
          { query: `${text} `, hits: 1 },
        ],
        thumbs: [{ path: text, up: 1, down: 1_000_000 }],
      },
    });

  test('is harmless in both dialogs, which Slack takes', async () => {
    await world.given(hostile());
    for (const about of ['pages', 'searches'] as const) {
      await clicks(about);
      checked(world.opened.at(-1), abouts.at(-1));
      const options = optionsOf(world.opened.at(-1));
      expect(options[0]?.text.text).toMatch(about === 'pages' ? / · 100 views$/ : / · 1,000,000 times$/);
      for (const { value } of options) {
        const next = nextOf(await chooses({ entry: value }));
        checked(next.view, next.about);
      }
    }
    await clicks('thumbs');
    checked(world.opened.at(-1), abouts.at(-1));
  });

  test('typed as a page is refused, or fits into what Slack keeps', async () => {
    await world.given(hostile());
    await clicks('pages');
    const result = await chooses({ path: `/${text}`.slice(0, 300) });
    if (result.kind === 'view') checked(result.view, result.about);
    else expect(result.kind).toBe('problems');
  });
});

test.each(['"', '\\', '\u0001', '\uD800', '😀'])(
  'a path of %j alone fits into what Slack keeps',
  async (unit) => {
    await world.given(anEdition());
    await clicks('pages');
    const page = readPage(`/${unit.repeat(Math.floor(299 / unit.length))}`);
    if (page.kind !== 'page') throw new Error(page.problem);
    const next = nextOf(await chooses({ path: page.path }));
    checked(next.view, next.about);
  },
);
