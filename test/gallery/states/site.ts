import type { PollFailure } from '../../../src/jobs/engine/polling.ts';
import type { SiteEnding, SiteRun } from '../../../src/jobs/site/record.ts';
import { runningMessage, siteMessages, stateLine } from '../../../src/jobs/site/view.ts';
import { message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aPreview, aSiteUpdate } from '../../support/jobs/site/builders.ts';
import { type GalleryState, pick, pickFallback, post } from '../state.ts';

const shown =
  (what: string, part: string, run: typeof aPreview) =>
  (name: string, changes: Partial<SiteRun>): GalleryState =>
    post(`site/${what}/${name}`, pick(siteMessages, run(changes), part));
// A followed thread shows its previews itself.
const line = shown('preview line', 'line', (changes) => aPreview({ thread: undefined, ...changes }));
const end = shown('preview ending', 'end', aPreview);
const question = shown('question', 'question', aPreview);
const updateLine = shown('update line', 'line', aSiteUpdate);
const updateEnd = shown('update ending', 'end', aSiteUpdate);

const reader = (id: string) => ({ teamId: 'T0ACME', user: { id } });

const watching: Partial<SiteRun> = { state: 'watching', startedAtMs: NOW_MS - 60_000 };
const failing = (kind: PollFailure['kind']) => ({
  pollFailure: { kind, inARow: 3, nextMs: NOW_MS + 60_000 },
});
const ended = (ending: SiteEnding, changes: Partial<SiteRun> = {}): Partial<SiteRun> => ({
  ...{ state: 'ended', startedAtMs: NOW_MS - 150_000, previewUrl: 'https://acme-agent.preview.example' },
  ...{ ending, ...changes },
});
const notStarted = (why: Extract<SiteEnding, { kind: 'notStarted' }>['why'], reason?: string) =>
  ended({ kind: 'notStarted', why, reason });
const done: SiteEnding = { kind: 'done' };
const failed: SiteEnding = {
  kind: 'failed',
  log: ['Error: unexpected `<Card>` in guides/x.mdx:12', 'docs.json names no page <!here>'],
};
const gaveUp: SiteEnding = { kind: 'gaveUp', afterMs: 6 * 3_600_000 };
const file = (name: string, how: 'modified' | 'added' | 'removed' = 'modified') => ({ name, how });
const changed = {
  files: [file('guides/sso.mdx'), file('quickstart.mdx', 'added'), file('old.mdx', 'removed')],
};
const picture = 'https://files.acme.example/previews/agent-quickstart.png';
const by = { id: 'U0BEN', name: 'ben' };

export const siteStates: GalleryState[] = [
  line('begins', {}),
  line('waits for the limit', { state: 'starting', ...failing('limit') }),
  line('platform does not answer', { state: 'starting', ...failing('down') }),
  line('queued', { ...watching, status: 'queued' }),
  line('building', { ...watching, status: 'in_progress' }),
  line('in an unknown state', { ...watching, status: 'packaging' }),
  line('polls fail, key', { ...watching, ...failing('key') }),
  line('polls fail, forbidden', { ...watching, ...failing('forbidden') }),
  line('start unclear', { state: 'unknown' }),
  line('ready', ended(done)),
  line('failed', ended(failed)),
  line('ended otherwise', ended({ kind: 'otherwise', status: 'skipped' })),
  line('not started', notStarted('other')),
  line('left unclear', ended({ kind: 'left' })),
  end('ready', ended(done)),
  end('ready, without an address', ended(done, { previewUrl: undefined })),
  end('ready, with what changed', ended({ kind: 'done', changed: { ...changed, count: 5 } })),
  end(
    'ready, with what changed, of hostile names',
    ended({
      kind: 'done',
      changed: { files: [file('<!channel> [x](https://evil.example) *b*.mdx'), file('שלום.mdx')], count: 2 },
    }),
  ),
  end('ready, with a picture', ended({ kind: 'done', changed: { ...changed, count: 3 }, picture })),
  post(
    'site/preview ending/ready, with a picture that Slack refuses',
    pickFallback(siteMessages, aPreview(ended({ kind: 'done', picture })), 'end'),
  ),
  end('older than the last round, with a picture', ended({ kind: 'done', picture }, { isOlder: true })),
  end('older than the last round', ended(done, { isOlder: true })),
  end('failed', ended(failed)),
  end('failed without a log', ended({ kind: 'failed', log: [] })),
  end('ended otherwise', ended({ kind: 'otherwise', status: 'skipped' })),
  end('refused', notStarted('other', 'branch is required')),
  end('not in the plan', notStarted('plan', 'Preview deployments are not available on your current plan.')),
  end('not supported', notStarted('unsupported', 'Method not allowed')),
  end('not supported, or no such branch', notStarted('notFound', 'Not found')),
  end('no longer permitted', ended({ kind: 'notStarted', why: 'permission', contacts: '@cleo' })),
  end('lost', ended({ kind: 'lost' })),
  end('no longer watched', ended(gaveUp)),
  end('broken', ended({ kind: 'broken', ref: 'a1b2c3' })),
  updateLine('updating', { ...watching, status: 'in_progress' }),
  updateLine('updated', ended(done)),
  updateLine('without a domain', { domain: undefined }),
  updateLine('in direct messages', { inDirectMessage: true }),
  updateLine('of a project', { domain: undefined, project: 'acme' }),
  updateEnd('updated', ended(done)),
  updateEnd(
    'updated, with a picture',
    ended({ kind: 'done', changed: { ...changed, count: 12_480 }, picture }),
  ),
  updateEnd('updated, without a domain', ended(done, { domain: undefined })),
  updateEnd('failed', ended(failed)),
  updateEnd('not supported', notStarted('unsupported')),
  updateEnd('not supported, or no such project', notStarted('notFound', 'Project not found')),
  post('site/listed', message([stateLine(aPreview(watching))])),
  question('open', { state: 'unknown' }),
  ...(['startAgain', 'leave', 'late'] as const).map((action) =>
    question(`answered, ${action}`, { attempt: 2, state: 'starting', answer: { attempt: 1, by, action } }),
  ),
  post('site/answer/under way', runningMessage(aPreview(), reader('U0ANA'))),
  post('site/answer/under way, of somebody else', runningMessage(aPreview(), reader('U0BEN'))),
  post(
    'site/answer/under way, of another workspace',
    runningMessage(aSiteUpdate(), { ...reader('U0ANA'), teamId: 'T0OTHER' }),
  ),
  post('site/answer/start unclear', runningMessage(aPreview({ state: 'unknown' }), reader('U0ANA'))),
  post(
    'site/answer/start unclear, of somebody else',
    runningMessage(aPreview({ state: 'unknown' }), reader('U0BEN')),
  ),
];
