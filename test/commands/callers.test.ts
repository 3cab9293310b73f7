import type { BlockAction, MessageShortcut, SlashCommand, ViewSubmitAction } from '@slack/bolt';
import { describe, expect, test } from 'vitest';
import { callerOfAction, callerOfCommand, callerOfModal } from '../../src/commands/callers.ts';
import { aCaller, typedByAna } from '../support/commands/builders.ts';

const click = (changes: object = {}) =>
  ({
    team: { id: 'T0ACME' },
    user: { id: 'U0ANA', username: 'ana', name: 'ana.n', team_id: 'T0HOME' },
    channel: { id: 'C0DOCS', name: 'docs' },
    trigger_id: '1.3.b',
    response_url: 'https://hooks.example/2',
    ...changes,
  }) as unknown as BlockAction;

const submission = (changes: object = {}, view: object = {}) =>
  ({
    team: { id: 'T0ACME' },
    user: { id: 'U0ANA', name: 'ana', team_id: 'T0HOME' },
    trigger_id: '1.4.c',
    view: { id: 'V01', app_installed_team_id: 'T0ACME', ...view },
    ...changes,
  }) as unknown as ViewSubmitAction;

/** Whether she is a full member, no request says. */
const anaAt5000 = aCaller({ user: { id: 'U0ANA', name: 'ana', fullMember: false }, receivedAtMs: 5000 });
const whoClicked = {
  ...anaAt5000,
  requestId: '1.3.b',
  triggerId: '1.3.b',
  responseUrl: 'https://hooks.example/2',
};

const origin = { channel: { id: 'C0ORIGIN', name: 'origin' }, request: '1.2.a' };

test('a command: who typed it, where, and by which request', () => {
  expect(callerOfCommand(typedByAna as SlashCommand, 5000)).toEqual({
    ...anaAt5000,
    requestId: '1.2.a',
    triggerId: '1.2.a',
    responseUrl: 'https://hooks.example/1',
  });
});

describe('a click', () => {
  test('in a message: who clicked, where, and by which request', () => {
    expect(callerOfAction(click(), 5000)).toEqual(whoClicked);
  });

  test('on Home or in a modal has neither a channel nor an address for answers', () => {
    const caller = callerOfAction(click({ channel: undefined, response_url: undefined }), 0);
    expect(caller).toMatchObject({ channel: { id: '', name: '' }, responseUrl: undefined });
  });

  test.each([
    [{ id: 'U0ANA', name: 'ana.n' }, 'ana.n'],
    [{ id: 'U0ANA' }, 'U0ANA'],
  ])('of somebody whom Slack names less (%j) is named %s', (user, name) => {
    expect(callerOfAction(click({ user }), 0).user.name).toBe(name);
  });

  test.each([
    [{ team: null }, 'T0HOME'],
    [{ team: null, user: { id: 'U0ANA' } }, ''],
  ])('without a workspace of its own (%j) belongs to %j', (changes, teamId) => {
    expect(callerOfAction(click(changes), 0).teamId).toBe(teamId);
  });
});

describe('a message shortcut', () => {
  const chosen = (changes: object = {}) => ({ ...click(), ...changes }) as unknown as MessageShortcut;

  test('who chose it, where, and by which request', () => {
    expect(callerOfAction(chosen(), 5000)).toEqual(whoClicked);
  });

  test.each([
    [{ team: null }, 'T0HOME', 'ana'],
    [{ team: null, user: { id: 'U0ANA' } }, '', 'U0ANA'],
    [{ user: { id: 'U0ANA', name: 'ana.n' } }, 'T0ACME', 'ana.n'],
  ])('that says less (%j) belongs to %j and is of %s', (changes, teamId, name) => {
    const caller = callerOfAction(chosen(changes), 0);
    expect([caller.teamId, caller.user.name]).toEqual([teamId, name]);
  });
});

describe('a submitted modal', () => {
  test('belongs where it was opened, and a repeat of it is the same request', () => {
    const first = callerOfModal(submission(), origin, 'https://hooks.example/1', 5000);
    expect(first).toEqual({
      ...anaAt5000,
      channel: origin.channel,
      requestId: 'view V01',
      triggerId: '1.4.c',
      responseUrl: 'https://hooks.example/1',
    });
    const again = callerOfModal(submission({ trigger_id: '1.5.d' }), origin, undefined, 6000);
    expect(again.requestId).toBe(first.requestId);
    expect(callerOfModal(submission({}, { id: 'V02' }), origin, undefined, 0).requestId).not.toBe(
      first.requestId,
    );
  });

  test('of somebody of another organization belongs to the workspace that has the app', () => {
    const caller = callerOfModal(submission({ team: { id: 'T0OTHER' } }), origin, undefined, 0);
    expect(caller.teamId).toBe('T0ACME');
  });

  test.each([
    [{}, 'T0ACME'],
    [{ team: null }, 'T0HOME'],
    [{ team: null, user: { id: 'U0ANA', name: 'ana' } }, ''],
  ])('whose view does not say so, %j, belongs to %j', (changes, teamId) => {
    const view = { app_installed_team_id: undefined };
    expect(callerOfModal(submission(changes, view), origin, undefined, 0).teamId).toBe(teamId);
  });
});
