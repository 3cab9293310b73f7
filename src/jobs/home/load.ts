import { runBase } from '../../store/runs.ts';
import type { JobContext } from '../context.ts';
import type { HomeEntry } from '../feature.ts';
import { features, limitLines } from '../features.ts';
import { contactsText } from '../wording-view.ts';
import type { HomeParts } from './view.ts';

/** More than these help nobody. */
const MAX_RUNNING = 15;
const MAX_ENDED = 10;

const homeRuns = features.flatMap((feature) => feature.homeRuns ?? []);
const commands = features.flatMap(({ command }) => command ?? []);
const permissions = features.flatMap(({ permission }) => permission ?? []);
/** Those that somebody may miss. */
const usual = permissions.filter(({ cannot }) => cannot !== undefined);

/** Loads what the Home tab of one person says. */
export async function loadHome(teamId: string, userId: string, context: JobContext): Promise<HomeParts> {
  const [entries, permissionParts, limits] = await Promise.all([
    loadEntries(teamId, userId, context),
    loadPermissions(userId, context.policy),
    limitLines({ teamId, userId }, context),
  ]);
  const running = entries.filter(({ endedAtMs }) => endedAtMs === undefined);
  const ended = entries
    .filter(({ endedAtMs }) => endedAtMs !== undefined)
    .toSorted((one, other) => (other.endedAtMs ?? 0) - (one.endedAtMs ?? 0));
  const lines = (some: HomeEntry[]) => Promise.all(some.map((entry) => entry.line()));
  return {
    running: await lines(running.slice(0, MAX_RUNNING)),
    more: Math.max(0, running.length - MAX_RUNNING),
    ended: await lines(ended.slice(0, MAX_ENDED)),
    ...permissionParts,
    limits,
    commands,
  };
}

async function loadEntries(teamId: string, userId: string, context: JobContext): Promise<HomeEntry[]> {
  const [own, ...lasting] = await Promise.all([
    context.runs.ofPerson(teamId, userId),
    ...homeRuns.map((feature) => feature.lasting?.(teamId, context) ?? []),
  ]);
  const ids = [...new Set([own, ...lasting].flat())];
  const runs = await context.runs.loadAll(ids, runBase.loose());
  return runs.flatMap((run) => {
    const feature = homeRuns.find(({ job }) => job === run.job);
    const read = feature?.record.safeParse(run);
    return (read?.success && feature?.entry(read.data, userId, context)) || [];
  });
}

async function loadPermissions(userId: string, policy: JobContext['policy']) {
  const granted = await policy.permissionsOf(userId);
  const may = granted && permissions.filter(({ name }) => granted.includes(name)).map(({ may }) => may);
  const [first] = usual;
  const verdict = may?.length || first === undefined ? undefined : await policy.check(userId, first.name);
  return {
    may,
    missingScope: verdict?.kind === 'unknown' && verdict.missingScope === true,
    cannot: usual.flatMap(({ cannot }) => cannot ?? []),
    contacts: contactsText(
      verdict?.kind === 'refused' ? verdict : { ask: [] },
      first !== undefined && policy.isOpen(first.name),
    ),
  };
}
