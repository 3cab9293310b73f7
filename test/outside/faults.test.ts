import { describe, expect, test, vi } from 'vitest';
import type { ExportPlan } from '../../demo/docs-platform/export-jobs.ts';
import type { Fault } from '../../demo/wire.ts';
import type { Timing } from '../../src/runtime/timing.ts';
import { sharedWorlds } from '../support/flows/site.ts';

const START = 'POST /v1/static-export/jobs';
const LOOK = 'GET /v1/static-export/jobs/{jobId}';
const BUNDLE = 'POST /v1/static-export/jobs/{jobId}/bundle';

const timing: Partial<Timing> = {
  docsCallMs: 600,
  giveUpMs: 2000,
  exportStartMs: 2000,
};

const ENDING = /^(?:✅|❌|⌛|⚠️|❔) @|^❌ Not started[\s\S]*\[Try again\]/u;

const READY = `✅ @ana Exported · SITE · 12 pages, 1 byte, took 1 s
Requested by ana · job se_… · the link works until TIME for anyone who has it
[Download] [⋯ New link] [⋯ Helm values] [⋯ Start another]`;

const QUESTION = `❔ @ana Did the export of SITE start?
The platform gave no clear answer. Look in its dashboard first.
[It started: watch it] [Start anyway] [Don't start again]`;

const refused = (text: string) => `❌ @ana Not started · SITE\n${text}\nRequested by ana\n[Try again]`;

const REFUSED =
  '❌ Not started · SITE\nThe platform refused it. If this keeps happening, ask your Docket admins.\n[Try again]';

const answer = (status: number, more: Partial<Extract<Fault, { kind: 'answer' }>> = {}): Fault => ({
  kind: 'answer',
  status,
  ...more,
});
const retryAfter = (seconds: number) => answer(429, { headers: { 'retry-after': String(seconds) } });
const page = answer(200, { text: '<!doctype html><title>Sign in</title>' });
const noJson = answer(200, { text: '{"jobId":', headers: { 'content-type': 'application/json' } });

describe('a start', () => {
  const site = sharedWorlds(1, timing);

  test.concurrent.for<[string, Fault, string, number]>([
    [
      '400',
      answer(400, { body: { error: 'Not here' } }),
      `❌ Not started · SITE
The platform doesn't accept this site. Check the spelling and type the command again.
The platform said: "Not here"
[Try again]`,
      0,
    ],
    [
      '401',
      answer(401, { body: { error: 'Invalid API key' } }),
      refused(`My access to the docs platform was rejected; ask your Docket admins.
The platform said: "Invalid API key"`),
      0,
    ],
    [
      '403',
      answer(403),
      "❌ Not started · SITE\nThe platform doesn't allow it; ask your Docket admins.\n[Try again]",
      0,
    ],
    ['404', answer(404), REFUSED, 0],
    ['405', answer(405), REFUSED, 0],
    ['408', answer(408), QUESTION, 0],
    ['408 although it started', answer(408, { when: 'after' }), QUESTION, 1],
    ['409', answer(409), QUESTION, 0],
    ['429', answer(429), refused("The platform's limit is reached. Try again later."), 0],
    [
      '429 for longer than anybody waits',
      retryAfter(7200),
      refused("The platform's limit is reached. Try again later."),
      0,
    ],
    ['500', answer(500), QUESTION, 0],
    ...([500, 503] as const).map((status): [string, Fault, string, number] => [
      `${status} with an error of its own`,
      answer(status, { body: { error: 'Busy' } }),
      refused(
        `The docs platform isn't answering as it should. Try again in a little while.\nThe platform said: "Busy"`,
      ),
      0,
    ]),
    ['502 with an error', answer(502, { body: { error: 'Bad gateway' } }), QUESTION, 0],
    ['504 with an error', answer(504, { body: { error: 'Gateway timeout' } }), QUESTION, 0],
    ['503 without a word', answer(503), QUESTION, 0],
    ['500 although it started', answer(500, { when: 'after' }), QUESTION, 1],
    ['502', answer(502, { text: '<html>Bad gateway</html>' }), QUESTION, 0],
    ['a redirect', answer(302, { headers: { location: '/login' } }), QUESTION, 0],
    ['no answer', { kind: 'hang', when: 'before' }, QUESTION, 0],
    ['no answer although it started', { kind: 'hang', when: 'after' }, QUESTION, 1],
    ['a connection that breaks', { kind: 'reset', when: 'before' }, QUESTION, 0],
    ['a connection that breaks after it started', { kind: 'reset', when: 'after' }, QUESTION, 1],
    ['no JSON', noJson, QUESTION, 0],
    ['no JSON although it started', { kind: 'garbage', when: 'after' }, QUESTION, 1],
    ['a page', page, QUESTION, 0],
    ['a job without an id', answer(202, { body: { status: 'queued' }, when: 'after' }), QUESTION, 1],
    ['an id that is none', answer(202, { body: { jobId: { id: 1 } }, when: 'after' }), QUESTION, 1],
    ['an empty answer', answer(202, { text: '', when: 'after' }), QUESTION, 1],
  ])('%s', async ([, fault, ending, starts]) => {
    const { breaks, asks, reads, calls, starts: started } = site('start');
    breaks(START, fault);
    await asks();
    expect(await reads(ENDING)).toBe(ending);
    expect(started()).toBe(starts);
    // Only what certainly did not happen and may pass is asked for again.
    if (ending === QUESTION || starts > 0) expect(calls(START)).toHaveLength(1);
  });

  test.concurrent('429 with Retry-After: waits that long, and says so', async () => {
    const { breaks, asks, reads, isStarted, finish, calls } = site('start');
    breaks(START, retryAfter(2), 1);
    await asks();
    expect(await reads("🕒 Queued · requested TIME\nThe platform's")).toBe(
      "🕒 Queued · requested TIME\nThe platform's limit is reached; nothing is lost. I'll continue at about TIME.",
    );
    await isStarted();
    finish();
    expect(await reads(ENDING)).toBe(READY);
    const [first, second, ...more] = calls(START);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(2000);
    expect(more).toEqual([]);
  });

  test.concurrent('503 with Retry-After, and 500s: says until when it tries, and starts one', async () => {
    const { breaks, asks, reads, repair, isStarted, finish, starts } = site('start');
    breaks(START, answer(503, { headers: { 'retry-after': '1' } }));
    await asks();
    expect(await reads('🕒 Queued · requested TIME\nThe docs')).toBe(
      "🕒 Queued · requested TIME\nThe docs platform has trouble. I'll keep trying until TIME.",
    );
    repair();
    await isStarted();
    finish();
    expect(await reads(ENDING)).toBe(READY);
    expect(starts()).toBe(1);
  });

  test.concurrent('one that was given up is made by a click once it works', async () => {
    const { breaks, asks, reads, repair, isStarted, finish, starts, clicks } = site('start');
    breaks(START, answer(429));
    await asks();
    await reads(ENDING);
    repair();
    await clicks('Try again');
    await isStarted();
    finish();
    expect(await reads('✅ @')).toBe(READY);
    expect(starts()).toBe(1);
  });
});

describe('a look', () => {
  const site = sharedWorlds(4, timing);
  const buttons = '\njob se_…\n[Check now] [⋯ Notify me too]';
  const AWAY = `🕒 Queued · requested TIME\nI can't reach the platform. I'll keep trying; the job itself may be fine.${buttons}`;
  const LIMIT = `🕒 Queued · requested TIME\nThe platform's limit is reached; nothing is lost. I'll continue at about TIME.${buttons}`;
  const KEY = `🕒 Queued · requested TIME\nMy access to the docs platform was rejected; ask your Docket admins. I'll continue when it works again.${buttons}`;
  const FORBIDDEN = `🕒 Queued · requested TIME\nThe platform doesn't let me see this export. I'll continue when it does.${buttons}`;

  test.concurrent.for<[string, Fault, string]>([
    ['401', answer(401), KEY],
    ['403', answer(403), FORBIDDEN],
    ['408', answer(408), AWAY],
    ['409', answer(409), AWAY],
    ['429', answer(429), LIMIT],
    ['429 with Retry-After', retryAfter(1), LIMIT],
    ['500', answer(500), AWAY],
    ['502', answer(502, { text: '<html>Bad gateway</html>' }), AWAY],
    ['no answer', { kind: 'hang', when: 'before' }, AWAY],
    ['a connection that breaks', { kind: 'reset', when: 'before' }, AWAY],
    ['no JSON', noJson, AWAY],
    ['a page', page, AWAY],
    ['a job without a status', answer(200, { body: { jobId: 'se_1' } }), AWAY],
    ['a list', answer(200, { body: [] }), AWAY],
  ])('%s: told, and watched on until it is done', async ([, fault, meanwhile]) => {
    const { breaks, repair, asks, reads, finish, clicks, calls, starts } = site('look');
    const refreshed = () => {
      const before = calls(LOOK).length;
      const looked = async () => {
        if (calls(LOOK).length === before) await clicks('Check now');
        expect(calls(LOOK).length).toBeGreaterThan(before);
      };
      return vi.waitFor(looked, { interval: 300, timeout: 10_000 });
    };
    breaks(LOOK, fault);
    await asks();
    expect(await reads(/^🕒 Queued · requested TIME\n(?!job)/u)).toBe(meanwhile);
    repair();
    finish();
    // A rejected key is tried once a minute only; whoever renewed it need not wait for that.
    if ([KEY, FORBIDDEN].includes(meanwhile)) await refreshed();
    expect(await reads(ENDING)).toBe(READY);
    expect(starts()).toBe(1);
  });

  test.concurrent('404 twice is not', async () => {
    const { breaks, asks, reads, finish, starts } = site('look');
    breaks(LOOK, answer(404), 2);
    await asks();
    await reads('⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42%');
    finish();
    expect(await reads(ENDING)).toBe(READY);
    expect(starts()).toBe(1);
  });

  test.concurrent('at a job that was started elsewhere: nothing is said of a start', async () => {
    const { breaks, repair, startsElsewhere, asks, reads, finish, calls } = site('joined');
    const jobId = await startsElsewhere();
    breaks(LOOK, answer(503));
    await asks(`watch ${jobId}`);
    expect(await reads(/^⏳ Exporting\n(?!job)/u)).toBe(
      `⏳ Exporting\nI can't reach the platform. I'll keep trying; the job itself may be fine.${buttons}`,
    );
    repair();
    finish();
    expect(await reads(ENDING)).toMatch(/^✅ @ana Exported · job se_…/);
    expect(calls(START)).toHaveLength(1);
  });
});

describe('a bundle', () => {
  const site = sharedWorlds(1, timing);
  const NO_LINK =
    "⚠️ @ana Exported, no link yet · SITE\nI couldn't get a download link.\nRequested by ana · job se_…\n[New link]";

  test.concurrent.for<[string, Fault]>([
    ['403', answer(403)],
    ['404', answer(404)],
    ['408', answer(408)],
    ['409', answer(409)],
    ['429', answer(429)],
    ['429 with Retry-After', retryAfter(7200)],
    ['500', answer(500)],
    ['502', answer(502, { text: '<html>Bad gateway</html>' })],
    ['no answer', { kind: 'hang', when: 'after' }],
    ['a connection that breaks', { kind: 'reset', when: 'before' }],
    ['a connection that breaks after the link was made', { kind: 'reset', when: 'after' }],
    ['no JSON', noJson],
    ['a page', page],
    ['an answer without a link', answer(200, { body: { expiresAt: '2026-01-01T00:00:00Z' } })],
    ['a link that is none', answer(200, { body: { bundleUrl: 'javascript:alert(1)' } })],
  ])('%s: told, and had by a click once it works', async ([, fault]) => {
    const { plans, breaks, repair, asks, reads, clicks, starts } = site('bundle');
    plans({ durationMs: 20 });
    breaks(BUNDLE, fault);
    await asks();
    expect(await reads(ENDING)).toBe(NO_LINK);
    repair();
    await clicks('New link');
    expect(await reads(ENDING, NO_LINK)).toBe(READY);
    expect(starts()).toBe(1);
  });

  test.concurrent('401: told with who has to act, and had by a click once it works', async () => {
    const { plans, breaks, repair, asks, reads, clicks, calls } = site('bundle');
    plans({ durationMs: 20 });
    breaks(BUNDLE, answer(401));
    await asks();
    const told = await reads(ENDING);
    expect(told).toBe(
      "⚠️ @ana Exported, no link yet · SITE\nI couldn't get a download link: my access to the docs platform was rejected; ask your Docket admins.\nRequested by ana · job se_…\n[New link]",
    );
    expect(calls(BUNDLE)).toHaveLength(1);
    repair();
    await clicks('New link');
    expect(await reads(ENDING, told)).toBe(READY);
  });

  test.concurrent.for<[string, Fault]>([
    ['409', answer(409)],
    ['429 with Retry-After', retryAfter(1)],
    ['500', answer(500)],
    ['a connection that breaks', { kind: 'reset', when: 'after' }],
  ])('%s once: nothing is said of it', async ([, fault]) => {
    const { plans, breaks, asks, reads, calls, starts } = site('bundle');
    plans({ durationMs: 20 });
    breaks(BUNDLE, fault, 1);
    await asks();
    expect(await reads(ENDING)).toBe(READY);
    expect(calls(BUNDLE)).toHaveLength(2);
    expect(starts()).toBe(1);
  });
});

describe('progress', () => {
  const site = sharedWorlds(2, { ...timing, stalledAfterMs: 1500 });

  test.concurrent.for<[string, ExportPlan, string]>([
    ['missing', { progress: 'none', pageCount: 'none' }, '⏳ Exporting · started TIME'],
    ['a fraction', { progress: 'fraction' }, '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME'],
    [
      'a percentage',
      { progress: 'percent' },
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME',
    ],
    [
      'done and total',
      { progress: 'object', pages: 50 },
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 21 pages so far · started TIME',
    ],
    [
      'a status of its own',
      { progress: 'none', pageCount: 'none', runningStatus: 'packaging <!here>' },
      '⏳ packaging <!here> · started TIME',
    ],
  ])('%s is shown as what it is', async ([, plan, line]) => {
    const { plans, startsElsewhere, asks, reads, finish, calls } = site('progress');
    plans({ holdAt: 0.42, durationMs: 1, ...plan });
    await asks(`watch ${await startsElsewhere()}`);
    const shown = await reads(line);
    expect(shown.split('\n')[0]).toBe(line);
    finish();
    expect(await reads(ENDING)).toContain(', took');
    expect(calls(START)).toHaveLength(1);
  });

  test.concurrent('that is stuck is told, and watched on', async () => {
    const { plans, asks, reads, finish, starts } = site('stuck');
    plans({ progress: 'stuck', pageCount: 'none', holdAt: 0.1 });
    await asks();
    expect(await reads(/^⏳ Exporting[^\n]*\nNo progress/u)).toBe(
      `⏳ Exporting · ▰▱▱▱▱▱▱▱▱▱ 10% · started TIME
No progress since TIME. Still checking.
job se_…
[Check now] [⋯ Notify me too]`,
    );
    finish();
    expect(await reads(ENDING)).toContain(', took');
    expect(starts()).toBe(1);
  });

  test.concurrent('that goes back is shown as the platform tells it', async () => {
    const { plans, asks, reads, hold, finish, starts } = site('back');
    plans({ progress: 'backwards', pageCount: 'none', holdAt: 0.2, durationMs: 20 });
    await asks();
    await reads('⏳ Exporting · ▰▰▰▰▰▰▰▰▱▱ 80%');
    hold(0.6);
    await reads('⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 40%');
    finish();
    expect(await reads(ENDING)).toContain(', took');
    expect(starts()).toBe(1);
  });
});
