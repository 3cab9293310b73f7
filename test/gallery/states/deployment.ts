import { goBackView, moreView } from '../../../src/commands/deployment/buttons.ts';
import { settingsView } from '../../../src/commands/export/buttons.ts';
import type { UpdateEnding } from '../../../src/jobs/deployment/attempt.ts';
import { messageKey, stateOf, type UpdateRun, withMessage } from '../../../src/jobs/deployment/record.ts';
import {
  alreadyNotifiedMessage,
  answeredMessage,
  startedMessage,
  updateMessages,
} from '../../../src/jobs/deployment/view.ts';
import { exportMessages } from '../../../src/jobs/export/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anUpdate } from '../../support/jobs/deployment/builders.ts';
import { anEnding, ended } from '../../support/jobs/export/builders.ts';
import { type GalleryState, modal, pick, post } from '../state.ts';

const LINK = 'https://github.example/acme/infra/actions/runs/17000000001';

/** The one message that shows an update, minutes after its last change. */
function shown(name: string, changes: Partial<UpdateRun>, minutes = 1) {
  const run = withMessage(anUpdate(changes), NOW_MS + minutes * 60_000);
  const [message] = updateMessages(run).filter(({ key }) => key === messageKey(run));
  if (message === undefined) throw new Error(`${name}: no message`);
  return post(`deployment/${name}`, message.message);
}

const notified: Partial<UpdateRun> = { state: 'notified', notifiedAtMs: NOW_MS };
const endedBy = (ending: UpdateEnding, changes: Partial<UpdateRun> = {}): Partial<UpdateRun> => ({
  state: 'ended',
  ending,
  ...changes,
});
const outcome = (state: 'live' | 'failed', message?: string) => ({
  ...notified,
  outcome: { state, message, atMs: NOW_MS },
});
const workflow = (about: object) => ({ ...notified, workflow: { id: 1, url: LINK, ...about } });
const gaveUp: UpdateEnding = { kind: 'gaveUp', reason: 'status 503' };
const newer = { attempt: `${NOW_MS + 1} other`, label: '1.3', atMs: NOW_MS + 60_000 };
/** The deployment still has what it had before. */
const replaces = `${NOW_MS - 1} other`;
const earlier = { ...anUpdate({ ...notified, replaces: undefined }) };
const deployments = ['production', 'staging', 'preview', 'intern', 'edge'];
const siteUrl = 'https://docs.acme.com';
const deployed = {
  ...ended(anEnding.done),
  deployments: ['production', 'staging', 'preview'],
  updates: [
    stateOf(anUpdate(outcome('live'))),
    stateOf(anUpdate({ ...workflow({ conclusion: 'success' }), id: 'u2', deployment: 'staging' })),
    stateOf(anUpdate({ ...endedBy(gaveUp), id: 'u3', deployment: 'preview' })),
  ],
};

export const deploymentStates: GalleryState[] = [
  shown('begins', {}),
  shown('no answer yet', { state: 'notifying', failures: 3 }),
  shown('no link yet', { state: 'linking', failures: 3 }),
  shown('sent', notified),
  shown('sent, no report came', notified, 11),
  shown('sent, without a domain', { ...notified, domain: '', version: undefined }),
  shown('live', { ...outcome('live'), siteUrl }),
  shown('live again after trouble on a schedule', { ...outcome('live'), schedule: 's1', shows: 'trouble' }),
  shown('live again on a schedule, after other exports', {
    ...outcome('live'),
    schedule: 's1',
    follows: 'failure',
  }),
  shown('could not use it', outcome('failed', 'No space left on device')),
  shown('could not use it, without a reason', outcome('failed')),
  shown('could not use it, the version before stays', { ...outcome('failed'), replaces }),
  shown('workflow runs', workflow({})),
  shown('workflow waits for an approval', { ...workflow({ waits: true, untilMs: NOW_MS + 9e8 }), siteUrl }),
  shown('workflow waits for an approval, on a schedule', {
    ...workflow({ waits: true, waited: true, untilMs: NOW_MS + 9e8 }),
    schedule: 's1',
  }),
  shown('workflow waited for an approval for 30 days', workflow({ waits: true, untilMs: NOW_MS })),
  shown('workflow succeeded', { ...workflow({ conclusion: 'success' }), siteUrl }),
  shown('workflow failed', workflow({ conclusion: 'failure' })),
  shown('workflow timed out', workflow({ conclusion: 'timed_out' })),
  shown('workflow cancelled', workflow({ conclusion: 'cancelled' })),
  shown('workflow unclear', workflow({ unclear: 'Bad credentials' })),
  shown('start unclear', { state: 'unknown' }),
  shown('left unclear', endedBy({ kind: 'left' }, { shows: 'question' })),
  shown(
    'rejected, after an unclear start',
    endedBy({ kind: 'refused', status: 422, text: 'No such ref' }, { attempt: 2, again: true }),
  ),
  shown('replaced', { ...notified, newer }),
  shown('replaced by an export without a version', {
    ...notified,
    newer: { ...newer, label: 'another export' },
  }),
  shown('not sent, a newer one was asked for', endedBy({ kind: 'superseded' }, { newer })),
  shown('still there after a failure', endedBy(gaveUp, { attempt: 2, earlier })),
  shown('rejected', endedBy({ kind: 'refused', status: 410, text: 'This site is gone.' })),
  shown(
    'rejected, the version before stays',
    endedBy({ kind: 'refused', status: 422, text: 'checksum differs' }, { replaces }),
  ),
  shown('rejected without a reason', endedBy({ kind: 'refused', text: '' })),
  shown(
    'address has moved',
    endedBy({
      kind: 'refused',
      status: 308,
      text: '',
      moved: { what: 'address', to: 'www.acme.com/hook' },
    }),
  ),
  shown(
    'repository was renamed',
    endedBy({ kind: 'refused', status: 301, text: '', moved: { what: 'repository', to: '' } }),
  ),
  shown('no answer for an hour', endedBy(gaveUp)),
  shown('no answer to a fresh link', endedBy(gaveUp, { renewal: 2, notifiedAtMs: NOW_MS })),
  shown(
    'fresh link rejected',
    endedBy({ kind: 'refused', status: 403, text: 'No.' }, { notifiedAtMs: NOW_MS }),
  ),
  shown('no link', endedBy({ kind: 'noLink', reason: 'The job has no files any more.' })),
  shown('no link, no key', endedBy({ kind: 'noLink', why: 'project' })),
  shown('not permitted', endedBy({ kind: 'permission', contacts: '@docs-admins' })),
  post(
    'deployment/not permitted, to the person',
    pick(
      updateMessages,
      anUpdate(endedBy({ kind: 'permission', contacts: '@docs-admins' })),
      'line.1.private',
    ),
  ),
  shown('not in the settings', endedBy({ kind: 'missing', mayBeSent: false })),
  shown(
    'not in the settings, no fresh link',
    endedBy({ kind: 'missing', mayBeSent: false }, { notifiedAtMs: NOW_MS }),
  ),
  shown('not in the settings any more', endedBy({ kind: 'missing', mayBeSent: true })),
  shown('restored from a backup', endedBy({ kind: 'restored' }, { notifiedAtMs: NOW_MS })),
  shown('restored from a backup, not sent', endedBy({ kind: 'restored' })),
  shown('broken', endedBy({ kind: 'broken', ref: 'a1b2c3' })),
  post(
    'deployment/deletion refused',
    pick(updateMessages, withMessage(anUpdate(outcome('live')), NOW_MS), 'line.1'),
  ),
  ...(
    [
      ['ran', 'watchIt'],
      ['again', 'startAgain'],
      ['leave', 'leave'],
      ['late', 'late'],
      ['newer', 'newer'],
    ] as const
  ).map(([name, action]) =>
    post(
      `deployment/answer/answered, ${name}`,
      answeredMessage(anUpdate(), { attempt: 1, by: { id: 'U0BEN', name: 'ben' }, action }),
    ),
  ),
  post('deployment/answer/already sent', alreadyNotifiedMessage(anUpdate(outcome('live')))),
  post('deployment/answer/already failed', alreadyNotifiedMessage(anUpdate(outcome('failed')))),
  post('deployment/answer/still unclear', alreadyNotifiedMessage(anUpdate({ state: 'unknown' }))),
  post('deployment/answer/already sent elsewhere', alreadyNotifiedMessage(anUpdate(notified), true)),
  modal('deployment/go back', goBackView({ run: anUpdate({ ...notified, newer }), newer })),
  post('deployment/answer/from a form', startedMessage(anUpdate())),
  post('deployment/answer/elsewhere', startedMessage(anUpdate(), true)),
  post('deployment/export', pick(exportMessages, { ...ended(anEnding.done), deployments }, 'end')),
  post('deployment/export, two have it', pick(exportMessages, deployed, 'end')),
  post('deployment/card, two have it', pick(exportMessages, deployed, 'card')),
  modal('deployment/more', moreView(ended(anEnding.done), deployments)),
  modal(
    'deployment/settings',
    settingsView(ended(anEnding.done), 'https://storage.example/bundle.tar.gz', NOW_MS, deployments),
  ),
];
