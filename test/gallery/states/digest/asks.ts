import { entriesOf, instructionView, pageEntry, subjectView } from '../../../../src/commands/digest/ask.ts';
import { changeModalView, createModalView } from '../../../../src/commands/digest/modal.ts';
import type { Instruction, RoundEnding } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aCaller, acme, aProject } from '../../../support/commands/builders.ts';
import { aThread } from '../../../support/jobs/agent/builders.ts';
import { anAsk, anEdition, aSchedule } from '../../../support/jobs/digest/builders.ts';
import { type GalleryState, modal, pick, post } from '../../state.ts';
import { sinceMonth } from './editions.ts';
import { TOPICS, whole } from './whole.ts';

const WORKSPACE = 'https://acme.example/';
const PLACE = { channel: 'C0DOCS', rootTs: '1789914659.000100' };
const DIRECT = { channel: 'D0ANA' };
const ask = (
  name: string,
  changes: Partial<Instruction>,
  { thread = {}, origin = {} }: { thread?: object; origin?: object } = {},
) => {
  const inDirectMessage = 'channel' in origin;
  const asked = aThread({ place: PLACE, inDirectMessage, instructions: [anAsk(changes, origin)], ...thread });
  return post(
    `digest/ask/${name}`,
    pick((run) => threadMessages(run, WORKSPACE), asked, 'ask'),
  );
};
const cameTo = (kind: RoundEnding['kind'], more: object = {}): Partial<Instruction> => ({
  state: 'sent',
  ending: { kind, atMs: NOW_MS, ...more },
});
const pullRequest = { prLink: 'https://github.com/acme/docs/pull/131' };

export const askStates: GalleryState[] = [
  ask('asked', {}),
  ask('asked, without a thread', {}, { origin: DIRECT }),
  ask('about a search', {}, { origin: { about: '"sso okta"', ...DIRECT } }),
  ask('pull request', cameTo('newPr', pullRequest)),
  ask('same pull request', cameTo('samePr', pullRequest)),
  ask('same pull request, without an address', cameTo('samePr')),
  ask('pull request without an address', cameTo('newPr')),
  ask('no pull request', cameTo('noPr')),
  ask('failed', cameTo('failed')),
  ask('archived', cameTo('archived')),
  ask('unknown to the platform', cameTo('gone')),
  ask('no longer watched', cameTo('gaveUp', { afterMs: 6 * 3_600_000 })),
  ask('pull request in words', cameTo('newPr', { prLink: 'PR 131' })),
  ask('no longer watched, nobody knows how long', cameTo('gaveUp')),
  ask('not sent', { state: 'failed' }),
  ask(
    'not sent, without a thread',
    { state: 'discarded' },
    {
      thread: { place: undefined, state: 'ended' },
    },
  ),
  ask('unclear', { state: 'left' }),
  ask('no longer followed', { state: 'working' }, { thread: { state: 'ended' } }),
];

/** When the week of the digest is no longer the last one. */
const A_MONTH_LATER = NOW_MS + 30 * 86_400_000;
const [entry] = entriesOf(whole(), 'pages');
const [questions] = entriesOf(whole(), 'questions');
const [topic] = entriesOf(
  whole({ readers: { questions: { asked: 410, unanswered: 64, topics: TOPICS } } }),
  'questions',
);
if (entry === undefined || questions === undefined || topic === undefined)
  throw new Error('a digest has pages and questions');
const withNumbers = (name: string) => aProject({ ...acme, name, projectId: name });
const tools = { projects: [withNumbers('acme'), withNumbers('beta')], now: () => NOW_MS };

const onePage = {
  ...(anEdition().pages as NonNullable<EditionRun['pages']>),
  ...{ rising: [], falling: [], risingAi: [], fallingAi: [], fresh: [], quiet: [], aiRead: [] },
};
const notBetter = (sinceMonth.since ?? []).map((one, at) => ({
  ...one,
  verdict: at === 0 ? ('worse' as const) : ('unclear' as const),
}));
/** The modals of digests, and those of [Ask the agent]. */
export const digestModalStates: GalleryState[] = [
  modal('digest/modal/ask about a page', subjectView(whole())),
  modal('digest/modal/ask about questions', instructionView(whole(), questions, [], NOW_MS)),
  modal('digest/modal/ask about a topic', instructionView(whole(), topic, [], NOW_MS)),
  modal('digest/modal/ask, no page is listed', subjectView(whole({ pages: undefined }))),
  modal(
    'digest/modal/ask, one page is listed',
    subjectView(whole({ pages: { ...onePage, top: onePage.top.slice(0, 1) } })),
  ),
  modal('digest/modal/instruction', instructionView(whole(), entry, [aThread()], NOW_MS)),
  modal('digest/modal/instruction, no job is followed', instructionView(whole(), entry, [], NOW_MS)),
  modal(
    'digest/modal/instruction, a typed page',
    instructionView(whole(), pageEntry(whole(), '/a'), [], NOW_MS),
  ),
  ...entriesOf(whole({ since: notBetter }), 'since').map((one, index) =>
    modal(`digest/modal/instruction, since ${index + 1}`, instructionView(whole(), one, [], NOW_MS)),
  ),
  ...(['pages', 'searches', 'thumbs'] as const).flatMap((about) =>
    entriesOf(whole(), about).map((one, index) =>
      modal(
        `digest/modal/instruction, ${about} ${index + 1}`,
        instructionView(whole(), one, [], A_MONTH_LATER),
      ),
    ),
  ),
  modal(
    'digest/modal/set up',
    createModalView({ project: tools.projects[0], zone: 'Europe/Berlin' }, aCaller(), tools),
  ),
  modal(
    'digest/modal/set up, one project, no zone',
    createModalView(
      { project: undefined, zone: 'UTC' },
      aCaller({ channel: { id: 'D0ANA', name: 'directmessage' } }),
      {
        ...tools,
        projects: tools.projects.slice(0, 1),
      },
    ),
  ),
  modal('digest/modal/change', changeModalView(aSchedule({ alerts: true, sections: ['pages'] }))),
  modal(
    'digest/modal/change, monthly',
    changeModalView(aSchedule({ timetable: { monthly: true, time: '09:00', zone: 'Europe/Berlin' } })),
  ),
];
