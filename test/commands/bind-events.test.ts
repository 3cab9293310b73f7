import { describe, expect, test } from 'vitest';
import { homeEvents } from '../../src/commands/home/home.ts';
import type { EventTools } from '../../src/commands/registry.ts';
import { type BindChanges, bindForTest, type Payload } from '../support/commands/bind.ts';
import { anEventListener } from '../support/commands/builders.ts';

describe('Home', () => {
  const withHome = (updateHome: EventTools['updateHome']) =>
    bindForTest({ events: homeEvents, eventTools: { updateHome } as EventTools });

  test('is brought up to date when somebody opens it, and not for its other tabs', async () => {
    const opened: string[] = [];
    const { happens } = withHome(async (...who) => void opened.push(who.join(' ')));
    await happens('app_home_opened', { tab: 'home', user: 'U0ANA' });
    await happens('app_home_opened', { tab: 'messages', user: 'U0BEN' });
    expect(opened).toEqual(['T0ACME U0ANA']);
  });

  test('that cannot be brought up to date fails towards Slack, which sends it again', async () => {
    const { happens } = withHome(() => Promise.reject(new Error('away')));
    await expect(happens('app_home_opened', { tab: 'home', user: 'U0ANA' })).rejects.toThrow('away');
  });
});

describe.each(['message', 'app_mention', 'app_home_opened'])('an event (%s)', (name) => {
  function setting(identity?: BindChanges['identity']) {
    const kept: unknown[] = [];
    const keep = async (...what: unknown[]) => void kept.push(what);
    return { kept, ...bindForTest({ events: [anEventListener(name, keep)], ...(identity && { identity }) }) };
  }
  const event = { type: name, tab: 'home', user: 'U0ANA' };

  test.each<[string, Payload]>([
    ['by its team', { team_id: 'T0OTHER' }],
    ['by the workspace that it came through', { team_id: 'T0OTHER', context_team_id: 'T0OTHER' }],
    ['by the installation that it is for', { team_id: 'T0ACME', authorizations: [{ team_id: 'T0OTHER' }] }],
    ['since it names none', {}],
  ])('of another workspace is acknowledged and ignored: %s', async (_, envelope) => {
    const { kept, happens, log } = setting();
    await happens(name, event, envelope);
    expect(kept).toEqual([]);
    expect(log()).toContain('an event of another workspace was ignored');
  });

  test('in a channel shared with another workspace, which is for our installation, is kept', async () => {
    const { kept, happens } = setting();
    await happens(name, event, { team_id: 'T0OTHER', authorizations: [{ team_id: 'T0ACME' }] });
    expect(kept).toEqual([expect.arrayContaining([event])]);
  });

  test('that comes before Slack said who the bot is, Slack sends again', async () => {
    const { kept, happens } = setting(() => undefined);
    await expect(happens(name, event)).rejects.toThrow('before the identity of the bot');
    expect(kept).toEqual([]);
  });
});

describe.each(['message', 'app_mention'])('what people write (%s)', (name) => {
  test('is handled with what is around it', async () => {
    const received: unknown[][] = [];
    const { happens } = bindForTest({
      events: [anEventListener(name, async (...what) => void received.push(what))],
      eventTools: { replyMode: 'all' } as EventTools,
    });
    await happens(name, { type: name, ts: '1.1' });
    const tools = { replyMode: 'all', identity: expect.objectContaining({ teamId: 'T0ACME' }) };
    expect(received).toEqual([[{ type: name, ts: '1.1' }, { team_id: 'T0ACME' }, tools]]);
  });

  test('and cannot be kept fails towards Slack, which sends it again', async () => {
    const { happens } = bindForTest({
      events: [anEventListener(name, () => Promise.reject(new Error('away')))],
    });
    await expect(happens(name, { type: name })).rejects.toThrow('away');
  });
});
