import { holdsEmailAddress } from '../../docs-api/text.ts';
import { pageKey } from '../../jobs/digest/edition/phrases.ts';
import { editionRun, figuresOf, scheduledId } from '../../jobs/digest/edition/record.ts';
import { type FiguresRun, figuresRun } from '../../jobs/digest/figures/record.ts';
import { addCounts, type PageCounts } from '../../jobs/digest/model.ts';
import {
  noPageMessage,
  type PageNumbers,
  pagesMessage,
  type SiteNumbers,
} from '../../jobs/digest/page-view.ts';
import { type RowRun, rowRun } from '../../jobs/digest/row/record.ts';
import { editionKindOf, periodAt, type ScheduleRun } from '../../jobs/digest/schedule/record.ts';
import { lastCompleteWeek, periodNameOf, rangeBefore } from '../../jobs/digest/weeks.ts';
import type { Project } from '../../projects.ts';
import { readWebAddress } from '../../runtime/web-address.ts';
import type { Message } from '../../slack/blocks.ts';
import { findLinks } from '../../slack/markdown/message.ts';
import { agentProjects } from '../agent/follow.ts';
import type { Caller, CommandTools, IntakeParts } from '../intake.ts';
import type { MessageShortcut } from '../registry.ts';
import { readPage } from './ask.ts';
import { digestSchedules, siteOf } from './modal.ts';

const MAX_PAGES = 5;
const MAX_WEEKS = 8;

/** "Numbers for this page" in the menu of any message: answers about the pages that its author links to. */
export const pageShortcut: MessageShortcut = {
  callbackId: 'digest.page_numbers',
  may: 'digest',
  run: ({ content }, caller, tools) =>
    pageNumbers(findLinks(content), agentProjects(tools.projects), false, caller, tools),
};

/** Answers about the addresses that are on a site of these projects. A path is on the site of the first one. */
export async function pageNumbers(
  typed: readonly string[],
  projects: readonly Project[],
  isTyped: boolean,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const isOf = ({ project }: ScheduleRun) => projects.some(({ name }) => name === project);
  const visible = await digestSchedules.find(caller, tools, isOf);
  const sitesOf = (project: Project) => [...(project.domains ?? []), siteOf(project, tools)];
  const sites = new Set([...projects.flatMap(sitesOf), ...visible.map(({ site }) => site)]);
  const [own] = projects;
  const wanted = new Map<string, { site: string; path: string }>();
  for (const one of typed) {
    const isPath = one.startsWith('/');
    // The host only completes the address.
    const url = readWebAddress(isPath ? `https://path.example${one}` : one);
    // Lists leave out pages with an e-mail address.
    if (url === undefined || holdsEmailAddress(url.pathname)) continue;
    const site = isPath && own ? siteOf(own, tools) : url.host;
    const key = `${site}${pageKey(url.pathname)}`;
    if (sites.has(site) && !wanted.has(key)) wanted.set(key, { site, path: url.pathname });
  }
  // A project's own name is no address.
  if (wanted.size === 0)
    return noPageMessage(
      [...sites].filter((site) => site.includes('.')),
      isTyped,
    );
  const mayAsk = await tools.hasPermission('agent');
  const found = await tools.intake.read(caller, (stores) =>
    Promise.all(
      [...Map.groupBy([...wanted.values()].slice(0, MAX_PAGES), ({ site }) => site)].map(([site, pages]) => {
        const names = projects.filter((one) => sitesOf(one).includes(site)).map(({ name }) => name);
        const schedules = visible.filter((one) => one.site === site || names.includes(one.project));
        const paths = pages.map(({ path }) => path);
        return loadNumbers(site, paths, schedules, mayAsk, tools.now(), stores);
      }),
    ),
  );
  return pagesMessage(found, wanted.size - MAX_PAGES);
}

type Stores = Pick<IntakeParts, 'runs' | 'figures'>;

/** Returns the site, and what is stored of its pages, if a digest has collected any. */
async function loadNumbers(
  site: string,
  paths: readonly string[],
  schedules: readonly ScheduleRun[],
  mayAsk: boolean,
  nowMs: number,
  stores: Stores,
): Promise<SiteNumbers> {
  const lacking = { site, isPlanned: schedules.length > 0 };
  const collected = await findCollected(schedules, nowMs, stores);
  if (collected === undefined) return lacking;
  const { period, run, earlier } = collected;
  const keys = paths.map(pageKey);
  const [listed, past] = await Promise.all([run, earlier].map((one) => readPages(one, keys, stores)));
  if (listed === undefined) return lacking;
  const ids = [scheduledId(period, periodNameOf(period.range) ?? '')];
  const [digest] = mayAsk ? await stores.runs.loadAll(ids, editionRun) : [];
  const rows = await stores.runs.activeOf(rowRun, 'digest-row', period.teamId);
  const { range } = run;
  const isLastWeek = range.from === lastCompleteWeek(nowMs).range.from;
  const pages = paths.map((linked): PageNumbers => {
    const key = pageKey(linked);
    const isSame = (page: { path: string }) => pageKey(page.path) === key;
    const [now, before] = [addCounts(listed.filter(isSame)), past && addCounts(past.filter(isSame))];
    // As the platform spells it: the digest has its numbers under that path.
    const path = listed.find(isSame)?.path ?? linked;
    const { thumbs = [], cut } = run.readers?.figures ?? {};
    const rated = thumbs.filter(isSame);
    const ofPage = rows.filter((row) => row.project === period.project && pageKey(row.subject.name) === key);
    return {
      site,
      path,
      range,
      isLastWeek,
      now,
      before,
      weeks: period.kind === 'weekly' ? weeksOf({ range, now, before }, ofPage) : [],
      thumbs:
        rated.length > 0
          ? { up: sumOf(rated.map(({ up }) => up)), down: sumOf(rated.map(({ down }) => down)) }
          : (cut?.thumbs && 'unlisted') || undefined,
      searches: searchesOf(run, key),
      digest: digest?.totals && readPage(path) === path ? digest.id : undefined,
    };
  });
  return { site, pages };
}

const sumOf = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0);

/** Returns the weeks or months whose numbers a schedule may have collected. */
function periodsOf(schedule: ScheduleRun, nowMs: number) {
  const { range } = periodAt(schedule, nowMs);
  const kind = editionKindOf(schedule);
  return [range, rangeBefore(range)].map((one) => ({ ...schedule, kind, range: one }));
}

/** Returns the latest collected period of these schedules, its figures, and those of the period before it. */
async function findCollected(schedules: readonly ScheduleRun[], nowMs: number, { runs }: Stores) {
  const periods = schedules
    .flatMap((schedule) => periodsOf(schedule, nowMs))
    // Weeks come before months.
    .toSorted(
      (one, other) => other.kind.localeCompare(one.kind) || other.range.to.localeCompare(one.range.to),
    );
  for (const period of periods) {
    const ids = figuresOf(period, nowMs).map(({ id }) => id);
    const all = await runs.loadAll(ids, figuresRun);
    const collected = all.filter(({ state, pages }) => state === 'ended' && pages?.isComplete);
    const [run, earlier] = ids.map((id) => collected.find((one) => one.id === id));
    if (run) return { period, run, earlier };
  }
  return undefined;
}

/** Returns these pages of the list of all that were read; undefined if it is not stored. */
async function readPages(run: FiguresRun | undefined, keys: readonly string[], { figures }: Stores) {
  if (run === undefined) return undefined;
  let found: Map<string, PageCounts> | undefined;
  for await (const some of figures.pages(run, run.range)) {
    found ??= new Map();
    // If a path comes twice, the last one counts.
    for (const page of some) if (keys.includes(pageKey(page.path))) found.set(page.path, page);
  }
  return found && [...found.values()];
}

/**
 * Returns the views by people of up to eight weeks without a gap that end with this one, the oldest first. Rows of the page
 * keep weeks that the lists of pages no longer have.
 */
function weeksOf({ range, now, before }: Pick<PageNumbers, 'range' | 'now' | 'before'>, rows: RowRun[]) {
  const kept = rows.flatMap((row) => row.weeks);
  const known = new Map(kept.flatMap(({ from, numbers: { human } }) => (human ? [[from, human.count]] : [])));
  if (before) known.set(rangeBefore(range).from, before.human);
  const weeks = [now.human];
  for (let week = rangeBefore(range); weeks.length < MAX_WEEKS; week = rangeBefore(week)) {
    const count = known.get(week.from);
    if (count === undefined) break;
    weeks.unshift(count);
  }
  return weeks;
}

function searchesOf({ readers }: FiguresRun, key: string): PageNumbers['searches'] {
  const clicked = readers?.clicked ?? [];
  // The platform does not say its scale.
  const isPercent = clicked.some(({ rate = 0 }) => rate > 1);
  return clicked
    .filter(({ page }) => pageKey(page) === key)
    .map(({ query, rate }) => ({ query, percent: rate && Math.min(100, isPercent ? rate : 100 * rate) }));
}
