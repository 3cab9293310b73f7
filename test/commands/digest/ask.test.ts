import type { InputBlock, ModalView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { withOrigin } from '../../../src/commands/bind.ts';
import { askAgentButton, askModals } from '../../../src/commands/digest/ask.ts';
import { type CommandTools, UserFacingError } from '../../../src/commands/intake.ts';
import type { ModalValues, SubmitResult } from '../../../src/commands/registry.ts';
import { threadRun } from '../../../src/jobs/agent/thread/record.ts';
import { type AskButton, entryId } from '../../../src/jobs/digest/buttons.ts';
import type { EditionRun } from '../../../src/jobs/digest/edition/record.ts';
import { aCaller, aProject, ben, origin } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';
import { anEdition, aPage } from '../../support/jobs/digest/builders.ts';

let world: CommandWorld;
let tools: CommandTools;
let abouts: unknown[];
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

const clicks = (about: AskButton['about'], entry?: string) =>
  askAgentButton.run({ v: 1, digest: anEdition().id, about, entry }, aCaller(), tools);

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

const asks = async () =>
  (await world.runs.activeOf(threadRun, 'agent-thread', 'T0ACME')).flatMap(
    ({ instructions }) => instructions,
  );

/** Everything that Slack would refuse. */
function checked(view: ModalView | undefined, about: unknown) {
  if (view === undefined || about === undefined) throw new Error('nothing was opened');
  checkView(withOrigin(view, { ...origin, about }), 'modal', (prefix) => prefix);
}

describe('submitted', () => {
  async function chosen() {
    await world.given(anEdition());
    await clicks('searches', entryId('sso okta'));
    return abouts.at(-1);
  }

  test('for a thread that ended, is of another project, or is not to be seen sends nothing', async () => {
    const about = await chosen();
    const asked = { channel: 'C0OPS', joinable: true, isPublic: false };
    const owner = { id: 'U0BEN', name: 'ben' };
    await world.followed(thread({ id: 'hidden', asked, owner, place: { channel: 'C0OPS', rootTs: '1.4' } }));
    await world.given(thread({ id: 'ended', state: 'ended', claim: undefined }));
    await world.given(thread({ id: 'other', project: 'beta', claim: undefined }));
    for (const where of ['hidden', 'ended', 'other', 'nobody'])
      await expect(submits({ text: 'Write it', where }, about)).rejects.toThrow(UserFacingError);
    expect(await asks()).toEqual([]);
  });

  test('about what is not known any more, or by somebody who may not see it, sends nothing', async () => {
    const about = await chosen();
    const elsewhere = aCaller({ requestId: 'view V2', user: ben, channel: { id: 'C0OPS', name: 'ops' } });
    await expect(submits({ text: 'Write it' }, about, elsewhere)).rejects.toThrow(UserFacingError);
    for (const unknown of ['', {}, { v: 1, digest: 'nobody', about: 'pages', path: '/a' }])
      await expect(submits({ text: 'Write it' }, unknown)).rejects.toThrow(UserFacingError);
    expect(await asks()).toEqual([]);
  });
});

test.each(['"', '\\', '\u0001', '\uD800', '😀', '<!channel>'])(
  'pages and searches full of %j make dialogs that Slack takes, and keeps',
  async (unit) => {
    const text = unit.repeat(1000);
    const pages = anEdition().pages as NonNullable<EditionRun['pages']>;
    const searches = [
      { query: text, hits: 1_000_000 },
      { query: `${text} `, hits: 1 },
    ];
    await world.given(
      anEdition({ pages: { ...pages, top: [aPage(text), aPage(`/${text}`)] }, readers: { searches } }),
    );
    for (const { query } of searches) {
      await clicks('searches', entryId(query));
      checked(world.opened.at(-1), abouts.at(-1));
    }
    await clicks('pages');
    checked(world.opened.at(-1), abouts.at(-1));
    for (const { value } of optionsOf(world.opened.at(-1))) {
      const next = nextOf(await chooses({ entry: value }));
      checked(next.view, next.about);
    }
    await clicks('pages');
    const typed = nextOf(await chooses({ path: `/${unit.repeat(Math.floor(299 / unit.length))}` }));
    checked(typed.view, typed.about);
  },
);
