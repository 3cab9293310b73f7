import type { Part } from '../../slack/blocks.ts';
import { formatCount, messageUrl } from '../../slack/text.ts';
import { pollRateLimits } from '../engine/polling.ts';
import { startNeeds } from '../operation/needs.ts';
import { defineHomeRuns, type Feature, type FeatureContext } from '../shared/feature.ts';
import { canSee, filterVisible, type Viewer } from '../shared/origin.ts';
import { exportLine, exportSiteButton, site } from './progress-view.ts';
import { type ExportRun, exportKind, exportRun } from './record.ts';
import { answeredMessage, cardKey, questionMessage } from './view.ts';

/** `/docs-status` only counts further running exports. */
const MAX_STATUS_LINES = 5;

const title: Part = { bold: 'Exports you can see here' };

export const exportNeeds = startNeeds<ExportRun>({
  line: (run) => `Did the export of ${site(run)} start?`,
  question: questionMessage,
  answered: answeredMessage,
  wasAnswered: (run) => `The question about ${site(run)} was already answered: its thread shows the result.`,
});

export const exportFeature: Feature = {
  permission: { name: 'export', cannot: 'start exports' },

  begin: {
    button: exportSiteButton,
    how: 'Export a site: one message shows the progress, and I mention you once when the bundle is ready.',
  },

  homeRuns: defineHomeRuns<ExportRun>({
    job: 'export',
    title: 'Running now',
    ...exportKind,
    needs: exportNeeds,
    entry(run, userId, context) {
      const hasEnded = run.state === 'ended';
      // The schedule's message shows it.
      if (run.schedule !== undefined && (hasEnded || !run.people.includes(userId))) return undefined;
      return {
        ...(hasEnded && { endedAtMs: run.sinceMs }),
        async line() {
          // A watcher could read the thread when they clicked, so they may see a public one.
          const viewer = { user: { id: userId, fullMember: true }, channel: { id: '' } };
          return lineFor(run, viewer, { ...context, workspaceUrl: context.workspaceUrl() });
        },
      };
    },
  }),

  // Without the key, a new export is refused, and running exports cannot be polled.
  async needsKey(teamId, projects, { runs }) {
    const active = await runs.activeOf(exportRun, 'export', teamId);
    const own = active.filter(({ project }) => projects.includes(project));
    const waiting = own.filter(({ state }) => state === 'watching' || state === 'bundling');
    return { count: waiting.length, what: 'export' };
  },

  limits: (_, { projects, limits: { exportStatusPerSecond: perSecond } }) => [
    {
      show: () => ({
        text: `status checks of exports: up to ${perSecond} a second for each API key`,
      }),
    },
    ...pollRateLimits('export-status', projects, perSecond),
  ],

  status: {
    first: true,
    async lines(teamId, viewer, context) {
      const some = await context.runs.latestOf(exportRun, 'export', teamId);
      const parts = { ...context, workspaceUrl: context.workspaceUrl() };
      const { lines, count } = await runningExports(some, viewer, parts, MAX_STATUS_LINES);
      if (lines.length === 0) return [[title, ' — none running']];
      return [[title, count === undefined ? '' : ` — ${formatCount(count)} running`], ...lines];
    },
    unknown: [[title, " — can't be read right now"]],
  },
};

/**
 * Returns a line for each run that this person may see, oldest first, at most `max`, and their number if it is known.
 * If there are more, the last line says so.
 */
export async function runningExports(
  { runs, complete }: { runs: readonly ExportRun[]; complete: boolean },
  viewer: Viewer,
  context: LinkParts,
  max: number,
): Promise<{ lines: Part[][]; count: number | undefined }> {
  const open = runs
    .filter((run) => run.state !== 'ended')
    .toSorted((one, other) => one.attemptAtMs - other.attemptAtMs);
  const visible = await filterVisible(open, (run) => run, viewer, context.isPublic);
  const lines = await Promise.all(visible.slice(0, max).map((run) => lineFor(run, viewer, context)));
  if (!complete) return { lines: [...lines, [OTHERS_TEXT]], count: undefined };
  const hidden = visible.length - lines.length;
  if (hidden > 0) lines.push([`and ${formatCount(hidden)} more`]);
  return { lines, count: visible.length };
}

const OTHERS_TEXT = 'More exports are running elsewhere. Type this command in their channel to see them.';

const lineFor = async (run: ExportRun, viewer: Viewer, context: LinkParts) =>
  exportLine(run, await cardPermalink(run, viewer, context), viewer.user.id);

type LinkParts = Pick<FeatureContext, 'outbox' | 'isPublic'> & { workspaceUrl: string | undefined };

/** Returns the address of a run's card, for people who can open it; undefined if it is unknown. */
export async function cardPermalink(
  run: ExportRun,
  viewer: Viewer,
  { outbox, isPublic, workspaceUrl }: LinkParts,
): Promise<string | undefined> {
  if (workspaceUrl === undefined || !(await canSee(run, viewer, isPublic))) return undefined;
  const card = await outbox.deliveryState(cardKey(run));
  return card.kind === 'shown' ? messageUrl(workspaceUrl, card) : undefined;
}
