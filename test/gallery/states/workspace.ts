import { helpMessage } from '../../../src/commands/command.ts';
import { registry } from '../../../src/commands/index.ts';
import { threadLine } from '../../../src/jobs/agent/thread/view.ts';
import type { AdminAlertParts } from '../../../src/jobs/alerts/admin-alert.ts';
import { createKeyAlert, findRejectedKeys } from '../../../src/jobs/alerts/key-alert.ts';
import { createRedisAlert } from '../../../src/jobs/alerts/redis-alert.ts';
import { scheduleLine } from '../../../src/jobs/digest/schedule/view.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { type HomeParts, homeView } from '../../../src/jobs/home/view.ts';
import { auditMessage } from '../../../src/jobs/status/audit-view.ts';
import { detailsMessage, type SystemState, statusMessage } from '../../../src/jobs/status/view.ts';
import { newWelcome } from '../../../src/jobs/welcome/record.ts';
import { welcomeMessages } from '../../../src/jobs/welcome/view.ts';
import {
  chooseProjectMessage,
  contactsText,
  hourlyUsageText,
  notPermittedText,
  unknownProjectText,
  waitingText,
  workText,
  workWaitsText,
} from '../../../src/jobs/wording-view.ts';
import { message } from '../../../src/slack/blocks.ts';
import { noticeView } from '../../../src/slack/modals.ts';
import type { Outbox, OutboxMessage } from '../../../src/slack/outbox.ts';
import { problemsOf } from '../../../src/store/redis/problems.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aProject } from '../../support/commands/builders.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';
import { anEnding, aRun, ended } from '../../support/jobs/export/builders.ts';
import { THREAD } from '../../support/jobs/export/rendering.ts';
import { anAuditEntry } from '../../support/store/builders.ts';
import { answered, type GalleryState, home, modal, pick, told } from '../state.ts';

// What is about no single run: Home, `/docs-status`, alerts, and answers that all commands share.

const aHome = (changes: Partial<HomeParts> = {}): HomeParts => ({
  running: [
    exportLine(aRun({ looks: [{ atMs: NOW_MS, fraction: 0.42 }] }), THREAD),
    threadLine(aThread(), THREAD),
    ['Weekly digest · ', ...scheduleLine(aSchedule())],
  ],
  more: 0,
  ended: [exportLine(ended(anEnding.failed), undefined)],
  may: ['Start exports', 'Instruct the docs agent', 'Set up digests, and ask for them'],
  missingScope: false,
  cannot: ['start exports', 'instruct the docs agent', 'set up digests'],
  contacts: contactsText({ ask: ['Ben', 'Cem'] }, false),
  limits: [
    `posts and edits: ${waitingText(0)}`,
    'looks at exports: up to 5 a second for each API key',
    `instructions to the docs agent: ${hourlyUsageText({ used: 100, waiting: 2, free: 0, nextMs: NOW_MS }, 100)}`,
    `analytics requests: ${hourlyUsageText({ used: 12, waiting: 1, free: 88, nextMs: NOW_MS }, 100)}`,
    `edits in Slack: ${hourlyUsageText(undefined, 100)}`,
  ],
  commands: ['/docs-export', '/docs-agent', '/docs-digest', '/docs-status'],
  ...changes,
});

const homes: GalleryState[] = [
  home('home/in use', homeView(aHome())),
  home('home/more runs', homeView(aHome({ more: 7 }))),
  home('home/first time', homeView(aHome({ running: [], ended: [] }))),
  home('home/may do nothing', homeView(aHome({ running: [], ended: [], may: [] }))),
  home('home/not known in time', homeView(aHome({ may: undefined }))),
  home('home/scope missing', homeView(aHome({ may: undefined, missingScope: true }))),
];

const aState = (changes: Partial<SystemState> = {}): SystemState => ({
  docs: { answered: true, atMs: NOW_MS - 5000 },
  slack: { answered: true, atMs: NOW_MS - 2000 },
  connected: undefined,
  redisMs: 0.4,
  redisProblems: [],
  queues: [
    { queue: 'docs-export', waiting: 0, active: 2, delayed: 12, failed: 0 },
    { queue: 'docs-agent', waiting: 0, active: 0, delayed: 3, failed: 0 },
  ],
  rejectedKeys: [],
  overdue: 0,
  running: [exportLine(aRun(), THREAD)],
  featureLines: [['Agent threads — 2 followed']],
  waits: [],
  hasAdmins: true,
  contact: undefined,
  limits: aHome().limits,
  version: '0.1.0',
  role: 'all',
  upSinceMs: NOW_MS - 86_400_000,
  ...changes,
});
const volatile = problemsOf({
  info: { redis_version: '7.2.0', maxmemory_policy: 'allkeys-lru' },
  config: { policy: 'allkeys-lru', appendonly: 'no', save: '' },
});

const withKeys = ['ACME_DOCS_API_KEY', 'OTHER_KEY'].map((apiKeyVariable, index) =>
  aProject({ name: ['acme', 'beta'][index] ?? '', apiKey: `adm_${index}`, apiKeyVariable }),
);
const refusedKey = {
  variable: 'DOCS_API_KEY',
  names: [],
  sinceMs: NOW_MS - 3_600_000,
  waiting: workWaitsText([{ count: 3, what: 'export' }]),
};
const nothing = {
  docs: { answered: false, atMs: NOW_MS - 60_000 },
  slack: undefined,
  connected: false,
  redisMs: undefined,
  redisProblems: volatile.map(({ text }) => text),
  queues: undefined,
  rejectedKeys: undefined,
  overdue: undefined,
};
const states: Record<string, Partial<SystemState>> = {
  'all is well': { connected: true },
  'something waits': { waits: ['instructions to the docs agent: 100 of 100 used in the past hour, 3 wait'] },
  'nothing answers': nothing,
  'key rejected': { rejectedKeys: [refusedKey], hasAdmins: false, contact: '@docs-admins' },
  'token refused': { slack: { answered: false, refused: true, atMs: NOW_MS - 60_000 } },
  'Slack away': { slack: { answered: false, atMs: NOW_MS - 60_000 } },
  'work stands still': { overdue: 12 },
  'one thing stands still': { overdue: 1 },
  'nothing asked yet': { docs: undefined, slack: undefined, rejectedKeys: undefined, overdue: undefined },
};

const statuses: GalleryState[] = [
  ...Object.entries(states).flatMap(([what, changes]) => [
    answered(`status/${what}`, statusMessage(aState(changes))),
    answered(`status/${what}, details`, detailsMessage(aState(changes), { isAdmin: what === 'all is well' })),
  ]),
  ...(
    await findRejectedKeys(
      withKeys,
      async () => [NOW_MS, undefined],
      async () => '',
    )
  ).map((found) => answered('status/key of one project', statusMessage(aState({ rejectedKeys: [found] })))),
  answered('status/audit, empty', auditMessage({ done: [], refused: [] })),
  answered(
    'status/audit',
    auditMessage({
      done: [
        anAuditEntry(),
        anAuditEntry({ job: 'se_3f9a77bd04c24a06', result: 'done' }),
        anAuditEntry({ channel: 'D0ANA', subject: '' }),
      ],
      refused: [
        anAuditEntry({ channel: 'elsewhere', user: { id: 'somebody', name: '' }, result: 'not permitted' }),
      ],
    }),
  ),
  answered(
    'status/audit, long',
    auditMessage({ done: Array.from({ length: 400 }, () => anAuditEntry()), refused: [] }),
  ),
];

/** What an alert sends to its one admin while this is at work. */
async function sentBy(
  send: (parts: AdminAlertParts, waiting: typeof atWork) => Promise<unknown>,
  waiting: typeof atWork,
) {
  const sent: OutboxMessage[] = [];
  const outbox = { publish: async (_: string, one: OutboxMessage) => void sent.push(one) };
  const alerts: AdminAlertParts['alerts'] = {
    begin: async () => NOW_MS,
    people: async () => undefined,
    setPeople: async () => {},
    keepWaits: (_, find) => find(),
  };
  const admins = async () => ({ ids: ['U0ANA'], complete: true });
  await send({ admins, alerts, outbox: outbox as unknown as Outbox, now: () => NOW_MS }, waiting);
  return sent.map(({ message }) => message);
}

const atWork = [
  { count: 3, what: 'export' },
  { count: 1, what: 'digest' },
];
const keyAlert = (projects: typeof withKeys, work: typeof atWork) =>
  sentBy((parts, waiting) => {
    const rejectedKeys = { reject: async () => NOW_MS - 3_600_000 };
    const waits = async () => workWaitsText(waiting);
    return createKeyAlert({ ...parts, projects, rejectedKeys, waits })('T0ACME', 'acme');
  }, work);
const redisAlerts = (work: typeof atWork) =>
  sentBy((parts, waiting) => {
    const about = { teamId: () => 'T0ACME', atWork: async () => workText(waiting) };
    return createRedisAlert({ ...parts, ...about })(volatile);
  }, work);

const keyAlerts = {
  'work waits': await keyAlert(withKeys.slice(0, 1), atWork),
  'one waits': await keyAlert(withKeys.slice(0, 1), [{ count: 1, what: 'export' }]),
  'of several projects': await keyAlert(withKeys, []),
};

const alerts: GalleryState[] = [
  ...Object.entries(keyAlerts).flatMap(([what, sent]) =>
    sent.map((one) => told(`alert/key rejected, ${what}`, one, 'is rejected', 'ACME_DOCS_API_KEY')),
  ),
  ...[...(await redisAlerts(atWork)), ...(await redisAlerts([]))].map((one, index) =>
    told(
      `alert/Redis loses work, ${index + 1}`,
      one,
      index % volatile.length === 0 ? 'drops keys' : 'lost',
      'Redis',
    ),
  ),
];

const names = Array.from({ length: 12 }, (_, index) => `project-${index + 1}`);
const answers: GalleryState[] = [
  answered(
    'answer/which project',
    chooseProjectMessage('Which project is it in', names, '/docs-agent follow aj_1'),
  ),
  answered('answer/unknown project', message([[unknownProjectText('gamma', names)]])),
  ...(['export', 'agent', 'digest', 'admin', 'status'] as const).map((permission) =>
    answered(
      `answer/not permitted, ${permission}`,
      message([
        [
          notPermittedText(
            permission,
            contactsText({ ask: permission === 'export' ? ['Ben'] : [] }, permission === 'agent'),
          ),
        ],
      ]),
    ),
  ),
  modal(
    'answer/in a modal, titled anew',
    noticeView('Answer to the longest of all commands', message([['Done.']])),
  ),
  modal(
    'answer/in a modal',
    noticeView('Export a docs site', message([['The response to this command has expired.']])),
  ),
];

const aWelcome = newWelcome({ teamId: 'T0ACME', channel: 'C0DOCS' });
const welcome = told(
  'welcome/in a new channel',
  pick(welcomeMessages({ ...aWelcome, state: 'greeting' }), 'welcome'),
  "I'm Docket",
  'Export a docs site',
);

const helps = registry.commands.map((command) => answered(`help${command.name}`, helpMessage(command)));

export const workspaceStates = [welcome, ...helps, ...homes, ...statuses, ...alerts, ...answers];
