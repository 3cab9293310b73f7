import { settingsView } from '../../../src/commands/export/buttons.ts';
import type { UpdateEnding, UpdateRun } from '../../../src/jobs/deployment/record.ts';
import { alreadyNotifiedMessage, startedMessage, updateMessages } from '../../../src/jobs/deployment/view.ts';
import { exportMessages } from '../../../src/jobs/export/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anUpdate } from '../../support/jobs/deployment/builders.ts';
import { anEnding, ended } from '../../support/jobs/export/builders.ts';
import { type GalleryState, modal, pick, post } from '../state.ts';

const LINK = 'https://github.example/acme/infra/actions/runs/17000000001';

const shown = (part: string) => (name: string, changes: Partial<UpdateRun>) =>
  post(`deployment/${part}/${name}`, pick(updateMessages(anUpdate(changes)), part));
const update = shown('update');
const trouble = shown('trouble');
const question = shown('question');

const notified: Partial<UpdateRun> = { state: 'notified', notifiedAtMs: NOW_MS };
const unclear: Partial<UpdateRun> = { ...notified, attempt: 2 };
const endedBy = (ending: UpdateEnding, changes: Partial<UpdateRun> = {}): Partial<UpdateRun> => ({
  state: 'ended',
  ending,
  ...changes,
});
const outcome = (state: 'live' | 'failed', message?: string) => ({
  ...notified,
  outcome: { state, message, atMs: NOW_MS },
});
const gaveUp: UpdateEnding = { kind: 'gaveUp', reason: 'status 503' };
const by = { id: 'U0BEN', name: 'ben' };
const deployments = ['production', 'staging', 'preview', 'intern', 'edge'];

export const deploymentStates: GalleryState[] = [
  update('begins', {}),
  update('no answer yet', { state: 'notifying', failures: 3 }),
  update('no link yet', { state: 'linking', failures: 3 }),
  update('notified', notified),
  update('notified on schedule', { ...notified, schedule: 's1' }),
  update('serves it', outcome('live')),
  update('failed', outcome('failed')),
  update('workflow runs', { ...notified, workflow: { id: 1, url: LINK } }),
  update('workflow succeeded', { ...notified, workflow: { id: 1, url: LINK, conclusion: 'success' } }),
  update('workflow failed', { ...notified, workflow: { id: 1, url: LINK, conclusion: 'timed_out' } }),
  update('start unclear', { state: 'unknown' }),
  update('replaced by another export', endedBy({ kind: 'superseded' })),
  update('left unclear', endedBy({ kind: 'left' })),
  update('not notified', endedBy(gaveUp)),
  update('no fresh link', endedBy(gaveUp, { renewal: 2, notifiedAtMs: NOW_MS })),
  trouble('failed', outcome('failed', 'No space left on device')),
  trouble('failed without a reason', outcome('failed')),
  trouble('workflow failed', { ...notified, workflow: { id: 1, url: LINK, conclusion: 'timed_out' } }),
  trouble('refused', endedBy({ kind: 'refused', status: 410, text: 'This site is gone.' })),
  trouble('refused without a status', endedBy({ kind: 'refused', text: '' })),
  trouble('no answer for an hour', endedBy(gaveUp)),
  trouble('no answer to a fresh link', endedBy(gaveUp, { renewal: 2, notifiedAtMs: NOW_MS })),
  trouble('no link', endedBy({ kind: 'noLink', reason: 'The job has no files any more.' })),
  trouble('not permitted', endedBy({ kind: 'permission', contacts: '@docs-admins' })),
  trouble('not in the settings', endedBy({ kind: 'missing' })),
  trouble('restored from a backup', endedBy({ kind: 'restored' }, { notifiedAtMs: NOW_MS })),
  trouble('broken', endedBy({ kind: 'broken', ref: 'a1b2c3' })),
  question('open', { state: 'unknown' }),
  ...(['ran', 'again', 'leave', 'late'] as const).map((action) =>
    question(`answered, ${action}`, { ...unclear, answer: { attempt: 1, by, action } }),
  ),
  post('deployment/answer/already notified', alreadyNotifiedMessage(anUpdate(outcome('live')))),
  post('deployment/answer/already failed', alreadyNotifiedMessage(anUpdate(outcome('failed')))),
  post('deployment/answer/still unclear', alreadyNotifiedMessage(anUpdate({ state: 'unknown' }))),
  post('deployment/answer/from a modal', startedMessage(anUpdate())),
  post('deployment/export', pick(exportMessages({ ...ended(anEnding.done), deployments }), 'end')),
  modal(
    'deployment/settings',
    settingsView(ended(anEnding.done), 'https://storage.example/bundle.tar.gz', NOW_MS, deployments),
  ),
];
