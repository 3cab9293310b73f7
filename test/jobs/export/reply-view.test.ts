import { describe, expect, test } from 'vitest';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import {
  noPlaceMessage,
  runningMessage,
  unchangedProgressMessage,
} from '../../../src/jobs/export/reply-view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { REQUEST, THREAD } from '../../support/jobs/export/rendering.ts';
import { reads } from '../../support/slack/rendering.ts';

describe('an ephemeral answer', () => {
  test.each<[string, ExportRun, string | undefined, string]>([
    [
      'running',
      aRun({ looks: [{ atMs: NOW_MS, fraction: 0.37 }] }),
      THREAD,
      'docs.acme.com is already being exported: 37%, started by ana 3 min ago.\n[Open thread] [Notify me too] [Start another]',
    ],
    [
      'running, in a place that the asker may not see: a mention there would reach nobody',
      aRun(),
      undefined,
      'docs.acme.com is already being exported: started by ana 3 min ago.\n[Start another]',
    ],
    [
      'start unclear, in a place that the asker may not see',
      aRun({ state: 'unknown' }),
      undefined,
      "It's unclear whether ana's export of docs.acme.com started, so I won't start another. Ask ana to answer the question about it.",
    ],
    [
      'start unclear',
      aRun({ state: 'unknown' }),
      THREAD,
      "It's unclear whether ana's export of docs.acme.com started, so I won't start another. Answer the question in its thread first.\n[Open thread]",
    ],
    [
      'watched, not started from here: there is nothing to start another of',
      aRun({ joined: true, looks: [{ atMs: NOW_MS, fraction: 0.37 }] }),
      THREAD,
      'docs.acme.com is already being exported: 37%, watched by ana.\n[Open thread] [Notify me too]',
    ],
  ])('%s', (_, run, thread, expected) => {
    expect(reads(runningMessage(run, NOW_MS, { thread, mayFollow: thread !== undefined }, REQUEST))).toBe(
      expected,
    );
  });

  test.each<[string, boolean, string]>([
    [
      'not_in_channel',
      true,
      "I can't post here yet, so nothing was started. Type /invite @Docket, then run the command again.",
    ],
    [
      'channel_not_found',
      true,
      "I can't post here yet, so nothing was started. Type /invite @Docket, then run the command again.",
    ],
    [
      'channel_not_found',
      false,
      "Slack doesn't let me post here (channel_not_found), so nothing was started. Run the command in another channel.",
    ],
    [
      'is_archived',
      true,
      "Slack doesn't let me post here (is_archived), so nothing was started. Run the command in another channel.",
    ],
  ])('no place: %s, joinable %s', (code, joinable, expected) => {
    const run = aRun({ asked: { channel: 'C0DOCS', joinable, isPublic: true, atMs: NOW_MS } });
    expect(reads(noPlaceMessage(run, code))).toBe(expected);
  });
});

describe('the answer to a click on [Refresh] that changes nothing', () => {
  const limit = { kind: 'limit' as const, inARow: 1, nextMs: NOW_MS };
  test.each<[string, Partial<ExportRun>, string]>([
    ['how far it is', { looks: [{ atMs: NOW_MS, fraction: 0.42 }] }, 'Still 42%, checked just now.'],
    ['its state where nobody knows how far', {}, 'Still exporting, checked just now.'],
    ['that it is queued', { status: 'queued' }, 'Still queued, checked just now.'],
    ["the platform's own word", { status: 'Packaging' }, 'Still Packaging, checked just now.'],
    [
      'that it needs an answer',
      { state: 'unknown' },
      "Still needs an answer: it's unclear whether it started.",
    ],
    [
      'how it ended',
      { state: 'ended', ending: { kind: 'failed' } },
      'Nothing new: export failed. See the latest message in the thread.',
    ],
    [
      'that the limit is reached',
      { trouble: limit },
      "The platform's limit is reached; nothing is lost. I'll continue at about TIME{time}.",
    ],
  ])('says %s', (_, changes, expected) => {
    expect(reads(unchangedProgressMessage(aRun(changes)))).toBe(expected);
  });
});
