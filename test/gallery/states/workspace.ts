import { helpMessage, projectView } from '../../../src/commands/command.ts';
import { gateAnswers, outdated } from '../../../src/commands/gate.ts';
import { registry } from '../../../src/commands/index.ts';
import { alreadyHandled, intakeAnswers } from '../../../src/commands/intake.ts';
import { previewView } from '../../../src/commands/site/command.ts';
import { welcomeMessage } from '../../../src/commands/workspace/workspace.ts';
import type { DeploymentProblem } from '../../../src/deployments/troubles.ts';
import { agentFeature } from '../../../src/jobs/agent/feature.ts';
import { threadNeeds } from '../../../src/jobs/agent/thread/ephemeral-view.ts';
import { threadLine } from '../../../src/jobs/agent/thread/view.ts';
import { liveLine } from '../../../src/jobs/deployment/view.ts';
import { scheduleNeeds, scheduleNotes } from '../../../src/jobs/digest/schedule/view.ts';
import { exportNeeds } from '../../../src/jobs/export/feature.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { exportScheduleViews } from '../../../src/jobs/export-schedule/view.ts';
import { features } from '../../../src/jobs/features.ts';
import { TASKS } from '../../../src/jobs/help-view.ts';
import { answerButtonOf, type HomeParts, homeView, refusalText } from '../../../src/jobs/home/view.ts';
import type { RunNeeds } from '../../../src/jobs/shared/feature.ts';
import {
  chooseProjectMessage,
  hourlyLimit,
  notPermittedText,
  unknownProjectText,
  waitingCountText,
  workWaitsText,
} from '../../../src/jobs/shared/wording-view.ts';
import {
  deploymentAlertMessage,
  expiryMessage,
  forbiddenAlertMessage,
  keyAlertMessage,
} from '../../../src/jobs/status/alerts.ts';
import {
  auditMessage,
  type RejectedKey,
  type SystemState,
  statusMessage,
} from '../../../src/jobs/status/view.ts';
import { message } from '../../../src/slack/blocks.ts';
import { noticeView } from '../../../src/slack/modals.ts';
import { problemsOf } from '../../../src/store/redis/check.ts';
import type { RunBase } from '../../../src/store/runs.ts';
import { NOW_MS } from '../../support/builders.ts';
import { ana, aProject } from '../../support/commands/builders.ts';
import { anInstruction, aThread, aTrouble, someBackground } from '../../support/jobs/agent/builders.ts';
import { anUpdate } from '../../support/jobs/deployment/builders.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';
import { anEnding, aRun, ended, THREAD } from '../../support/jobs/export/builders.ts';
import { anExportSchedule } from '../../support/jobs/export-schedule/builders.ts';
import { anAuditEntry } from '../../support/store/builders.ts';
import { type GalleryState, home, modal, post } from '../state.ts';

// What is about no single run: Home, `/docs-status`, alerts, and answers that all commands share.

const aUsage = { used: 100, waiting: 2, free: 0, nextMs: NOW_MS };

const anHourlyLimit = (usage: typeof aUsage | undefined, what: string, short = '') =>
  hourlyLimit({ name: 'test', count: 100, windowMs: 3_600_000 }, what, short).show(usage);

/** What somebody's Home says who uses Docket. */
export const aHome = (changes: Partial<HomeParts> = {}): HomeParts => ({
  needs: [],
  moreNeeds: 0,
  running: [
    {
      title: 'Running now',
      lines: [
        exportLine(aRun({ fraction: 0.42 }), THREAD, ana.id),
        threadLine(aThread({ seen: { ...aThread().seen, status: 'active' } as never }), THREAD, ana.id),
        agentFeature.homeRuns?.fold?.([
          { link: THREAD, label: 'acme/docs @ agent/sso' },
          'Add a quickstart',
        ]) ?? [],
      ],
      more: 0,
    },
    {
      title: 'Scheduled',
      lines: [
        ['Weekly digest · ', ...scheduleNotes.line(aSchedule(), ana.id)],
        ['Export · ', ...exportScheduleViews.line(anExportSchedule(), ana.id)],
      ],
      more: 0,
    },
  ],
  live: [liveLine(anUpdate({ state: 'notified', notifiedAtMs: NOW_MS }))],
  ended: [exportLine(ended(anEnding.failed), undefined, ana.id)],
  refusal: undefined,
  begin: features.flatMap(({ begin }) => begin ?? []),
  left: [anHourlyLimit(aUsage, 'requests to the docs agent', 'requests to the agent').left ?? ''],
  commands: TASKS.map(({ command }) => command),
  ...changes,
});

/** What waits for Ana, with the button that asks it again. */
export const needsOf = <Run extends RunBase>(asks: RunNeeds<Run>, run: Run): HomeParts['needs'] =>
  asks.of(run).map((need) => ({
    line: asks.line(run, need, { workspaceUrl: () => 'https://acme.example/' }),
    button: answerButtonOf(run, need, asks.isTrouble),
  }));
/** The modals of [Answer] about the same: the question, and what came of it. */
const answersOf = <Run extends RunBase>(name: string, asks: RunNeeds<Run>, run: Run, settled: Run[]) =>
  asks
    .of(run)
    .flatMap((need) => [
      modal(`home/answer/${name}`, noticeView('Needs you', asks.question(run, need))),
      ...settled.map((one, index) =>
        modal(`home/answer/${name}, settled ${index + 1}`, noticeView('Needs you', asks.answered(one, need))),
      ),
    ]);

const held = anInstruction({ id: '1.1', state: 'held' });
const crowded = { othersAtMs: NOW_MS, answers: {} };
const anUnclearStart = aRun({ state: 'unknown' });
const anUnclearSend = aThread({ instructions: [aTrouble()] });
const aHeldReply = aThread({ ...crowded, instructions: [held] });
const heldReplies = aThread({ ...crowded, instructions: [held, { ...held, id: '1.2' }] });
const anAsked = aThread({ instructions: [{ ...held, background: someBackground }] });
const aFailedDigest = aSchedule({
  failures: 1,
  failure: { why: 'place', code: 'not_in_channel', week: '2026-W38' },
});
const aPausedDigest = aSchedule({ state: 'paused', pausedBy: 'permission' });
const withHeld = (changes: Partial<typeof held>) => ({
  ...aHeldReply,
  instructions: [{ ...held, ...changes }],
});
const by = { id: 'U0ANA', name: 'ana' };

const refusal = refusalText(['start exports', 'ask the docs agent', 'set up digests'], {
  contacts: '@Ben or @Cem',
});

const homeWith = (name: string, changes: Partial<HomeParts> = {}) =>
  home(`home/${name}`, homeView(aHome(changes)));
const nothing: Partial<HomeParts> = { begin: [], left: [] };
const homes: GalleryState[] = [
  homeWith('in use'),
  home(
    'home/needs you',
    homeView(
      aHome({
        needs: [
          ...needsOf(exportNeeds, anUnclearStart),
          ...needsOf(threadNeeds, anUnclearSend),
          ...needsOf(threadNeeds, aThread({ instructions: [aTrouble({ creates: true })] })),
          ...needsOf(threadNeeds, aHeldReply),
          ...needsOf(threadNeeds, heldReplies),
          ...needsOf(threadNeeds, anAsked),
          ...needsOf(scheduleNeeds, aFailedDigest),
          ...needsOf(scheduleNeeds, aPausedDigest),
        ],
        moreNeeds: 3,
      }),
    ),
  ),
  homeWith('more runs', { running: aHome().running.map((one) => ({ ...one, more: 7 })) }),
  homeWith('first time', { live: [], running: [], ended: [] }),
  homeWith('may do nothing', { live: [], running: [], ended: [], ...nothing, refusal }),
  homeWith('only administers', { live: [], running: [], ended: [], ...nothing }),
  homeWith('may do nothing any more', { ...nothing, refusal }),
  homeWith('not known in time', { ...nothing, refusal: refusalText([], {}) }),
  homeWith('scope missing', { ...nothing, refusal: refusalText([], { missingScope: true }) }),
  ...answersOf('unclear start', exportNeeds, anUnclearStart, [
    aRun({ answer: { attempt: anUnclearStart.attempt, by: { id: 'U0BEN', name: 'Ben' }, action: 'leave' } }),
    aRun(),
  ]),
  ...answersOf('unclear send', threadNeeds, anUnclearSend, [
    aThread({ instructions: [aTrouble({ answer: { by, action: 'sendAgain' } })] }),
  ]),
  ...answersOf('held reply', threadNeeds, aHeldReply, [
    withHeld({ state: 'waiting' }),
    withHeld({ state: 'notForAgent' }),
    withHeld({ state: 'withdrawn' }),
    aThread(),
  ]),
  ...answersOf('conversation', threadNeeds, anAsked, [withHeld({ state: 'waiting' })]),
  ...answersOf('failed digest', scheduleNeeds, aFailedDigest, [
    aSchedule(),
    aSchedule({ posting: { dueAtMs: NOW_MS } }),
    aSchedule({ state: 'removed' }),
  ]),
  ...answersOf('paused digest', scheduleNeeds, aPausedDigest, []),
];

/** What `/docs-status` says while all is well. */
export const aState = (changes: Partial<SystemState> = {}): SystemState => ({
  docs: { answered: true, atMs: NOW_MS - 5000 },
  slack: { answered: true, atMs: NOW_MS - 2000 },
  connected: undefined,
  redisMs: 0.4,
  problems: [],
  missingScopes: [],
  queues: [
    { queue: 'docs-export', waiting: 0, active: 2, delayed: 12, failed: 0 },
    { queue: 'docs-agent', waiting: 0, active: 0, delayed: 3, failed: 0 },
  ],
  rejectedKeys: [],
  deployments: [],
  overdue: 0,
  running: [exportLine(aRun(), THREAD, ana.id), exportLine(aRun({ joined: true }), THREAD, 'U0BEN')],
  featureLines: [['Agent threads — 2 followed']],
  waits: [],
  hasAdmins: true,
  contact: undefined,
  limits: [
    `posts and edits: ${waitingCountText(0)}`,
    'status checks of exports: up to 5 a second for each API key',
    anHourlyLimit(aUsage, 'requests to the docs agent').text,
    anHourlyLimit({ used: 12, waiting: 1, free: 88, nextMs: NOW_MS }, 'analytics requests').text,
    anHourlyLimit(undefined, 'edits in Slack').text,
  ],
  version: '0.1.0',
  role: 'all',
  upSinceMs: NOW_MS - 86_400_000,
  ...changes,
});
const volatile = problemsOf(
  { redis_version: '7.2.0', maxmemory_policy: 'allkeys-lru', aof_enabled: '0' },
  { url: 'redis://127.0.0.1' },
);

const acmeKey = { variable: 'ACME_DOCS_API_KEY', names: [] };
const refusedKey = {
  variable: 'DOCS_API_KEY',
  names: [],
  sinceMs: NOW_MS - 3_600_000,
  waiting: workWaitsText([{ count: 3, what: 'export' }]),
};
const silent = {
  docs: { answered: false, atMs: NOW_MS - 60_000 },
  slack: undefined,
  connected: false,
  redisMs: undefined,
  problems: volatile.map(({ kind, text }) => ({ name: `redis_${kind}`, text })),
  queues: undefined,
  rejectedKeys: undefined,
  deployments: undefined,
  overdue: undefined,
};
const rejects: DeploymentProblem = {
  ...{ project: 'acme', deployment: 'production', name: 'deployment_refused', reason: 'status 401' },
  fix: 'Check that its secret is that of webhook.secret, and that no proxy in front of it refuses Docket.',
  ...{ sinceMs: NOW_MS - 3_600_000, atMs: NOW_MS, isProblem: true },
  text: 'The deployment production of project acme rejects exports (status 401). Check that its secret is that of webhook.secret.',
};
const troubles: DeploymentProblem[] = [
  rejects,
  {
    ...{ ...rejects, deployment: 'staging', name: 'deployment_unreachable', reason: 'ECONNREFUSED' },
    text: 'The deployment staging of project acme takes no exports (ECONNREFUSED). Check that it runs, its address and the network.',
    fix: 'Check that it runs, its address and the network.',
  },
  {
    ...{ ...rejects, deployment: 'preview', name: 'deployment_workflow', reason: '' },
    text: 'The workflow of deployment preview of project acme has failed twice in a row. Open its last run in GitHub, and fix what fails there.',
    fix: 'Open its last run in GitHub, and fix what fails there.',
  },
];
const states: Record<string, Partial<SystemState>> = {
  'all is well': { connected: true },
  'something waits': { waits: ['requests to the docs agent: 100 of 100 used in the past hour, 3 wait'] },
  'nothing answers': silent,
  'key rejected': { rejectedKeys: [refusedKey], hasAdmins: false, contact: '@docs-admins' },
  'token refused': { slack: { answered: false, refused: true, atMs: NOW_MS - 60_000 } },
  'Slack away': { slack: { answered: false, atMs: NOW_MS - 60_000 } },
  'a scope is missing': { missingScopes: ['users:read'] },
  'the platform fails': {
    docs: {
      answered: true,
      atMs: NOW_MS - 5000,
      problems: [
        'The docs platform fails (5xx): some starts are unconfirmed, and work waits. See its status page.',
      ],
    },
  },
  'the clock is off': {
    problems: [
      { name: 'clock', text: "Slack's request is 600 s ahead of this machine's clock. Set the clock (NTP)." },
    ],
  },
  'deployments have trouble': { deployments: troubles },
  'many deployments have trouble': {
    deployments: Array.from({ length: 17 }, (_, at) => ({ ...rejects, deployment: `site-${at + 1}` })),
  },
  'work stands still': { overdue: 12 },
  'the database is full': {
    overdue: 12,
    problems: [
      { name: 'redis_full', text: 'Redis is full: nothing can be saved, and every request is refused.' },
    ],
  },
  'the database is read-only': {
    redisMs: undefined,
    overdue: undefined,
    problems: [{ name: 'redis_read-only', text: 'Redis is a read-only replica: nothing can be saved.' }],
  },
  'the database refuses writes': {
    problems: [
      { name: 'redis_refuses-writes', text: 'Redis refuses writes (MISCONF): nothing can be saved.' },
    ],
  },
  'the database refuses me': {
    redisMs: undefined,
    problems: [{ name: 'redis_rights', text: "Docket's user of Redis lacks rights (xadd)." }],
  },
  'the disk is full': { problems: [{ name: 'disk', text: 'The disk of DATA_DIR is full.' }] },
  'the database is slow': {
    redisMs: undefined,
    problems: [{ name: 'redis_slow', text: 'Redis is slow. Check its disk.' }],
  },
  'the database drops keys': {
    problems: volatile.map(({ kind, text }) => ({ name: `redis_${kind}`, text })),
  },
  'one thing stands still': { overdue: 1 },
  'nothing asked yet': {
    docs: undefined,
    slack: undefined,
    rejectedKeys: undefined,
    deployments: undefined,
    overdue: undefined,
  },
};

const statuses: GalleryState[] = [
  post('status/all is well, to an admin', statusMessage(aState(), { isAdmin: true })),
  post(
    'status/Slack has trouble',
    statusMessage(aState({ slack: { answered: true, atMs: NOW_MS, problems: ['Slack fails.'] } }), {
      isAdmin: false,
    }),
  ),
  ...Object.entries(states).flatMap(([what, changes]) => [
    post(`status/${what}`, statusMessage(aState(changes), { isAdmin: false })),
    post(`status/${what}, details`, statusMessage(aState(changes), { isAdmin: true, details: true })),
  ]),
  post(
    'status/key of one project',
    statusMessage(aState({ rejectedKeys: [{ ...acmeKey, names: ['acme'], sinceMs: NOW_MS, waiting: '' }] }), {
      isAdmin: true,
      details: true,
    }),
  ),
  post('status/audit, empty', auditMessage({ done: [], refused: [] })),
  post(
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
  post(
    'status/audit, long',
    auditMessage({ done: Array.from({ length: 400 }, () => anAuditEntry()), refused: [] }),
  ),
];

const atWork = [
  { count: 3, what: 'export' },
  { count: 1, what: 'digest' },
];
const rejected: Record<string, Partial<RejectedKey>> = {
  'work waits': { waiting: workWaitsText(atWork) },
  'one waits': { waiting: workWaitsText([{ count: 1, what: 'export' }]) },
  'of several projects': { names: ['acme'] },
  'in a file': { isFile: true, waiting: workWaitsText(atWork) },
};

const alerts: GalleryState[] = [
  ...Object.entries(rejected).map(([what, changes]) =>
    post(
      `alert/key rejected, ${what}`,
      keyAlertMessage({ ...acmeKey, sinceMs: NOW_MS - 3_600_000, waiting: '', ...changes }),
    ),
  ),
  post(
    'alert/request forbidden',
    forbiddenAlertMessage(acmeKey, 'Static export is not enabled for this organization'),
  ),
  ...troubles.map((one) => post(`alert/${one.name.replace('_', ' ')}`, deploymentAlertMessage(one))),
  post(
    'alert/token of GitHub expires',
    expiryMessage({ variable: 'GITHUB_TOKEN', names: [], isToken: true }, '2026-10-01'),
  ),
  ...[true, false].map((isFile) =>
    post(
      `alert/key expires${isFile ? ', in a file' : ''}`,
      expiryMessage({ ...acmeKey, isFile }, '2026-10-01'),
    ),
  ),
];

const names = Array.from({ length: 12 }, (_, index) => `project-${index + 1}`);
const answers: GalleryState[] = [
  post(
    'answer/which project',
    chooseProjectMessage('Which project is it in', names, '/docs-agent follow aj_1'),
  ),
  post('answer/unknown project', message([[unknownProjectText('gamma', names)]])),
  ...(['export', 'agent', 'digest', 'site', 'deploy', 'admin', 'status'] as const).map((permission) =>
    post(
      `answer/not permitted, ${permission}`,
      message([
        [
          notPermittedText(
            permission,
            { export: '@Ben', agent: 'a full member of this workspace' }[permission as string] ??
              'your Docket admins',
          ),
        ],
      ]),
    ),
  ),
  ...[gateAnswers, intakeAnswers, outdated, { alreadyHandled }].flatMap((some) =>
    Object.entries(some).map(([name, shown]) =>
      post(`answer/request, ${name}`, typeof shown === 'string' ? message([shown]) : shown),
    ),
  ),
  modal('answer/which project, in a form', projectView(names)),
  modal(
    'answer/which branch',
    previewView([aProject({ projectId: 'a' }), aProject({ name: 'beta', projectId: 'b' })]),
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

const welcome = post('welcome/in a new channel', welcomeMessage('T0ACME', 'C0DOCS').message);

const helps = registry.commands.map((command) => post(`help${command.name}`, helpMessage(command)));

export const workspaceStates = [welcome, ...helps, ...homes, ...statuses, ...alerts, ...answers];
