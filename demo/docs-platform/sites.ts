import { chance } from './days.ts';

/** The pages of a site, by index, and their views on any day. */
export interface Site {
  readonly size: number;
  pathAt(index: number): string;
  indexOf(path: string): number | undefined;
  /** Views on a day (UTC day number) of which `past` (0 to 1) is over. */
  onDay(index: number, day: number, past: number): { human: number; ai: number };
  /** A page comes after those with a lower number. The API's order is not specified; this one says nothing. */
  placeOf(index: number): number;
}

const SECTIONS = ['guides', 'api', 'concepts', 'integrations', 'deploy', 'reference', 'changelog'];
const TOPICS = [
  ...[
    'quickstart',
    'webhooks',
    'errors',
    'pagination',
    'authentication',
    'rate-limits',
    'versioning',
    'events',
  ],
  ...[
    'search',
    'themes',
    'redirects',
    'domains',
    'analytics',
    'permissions',
    'billing',
    'exports',
    'caching',
  ],
  ...[
    'testing',
    'logging',
    'regions',
    'backups',
    'components',
    'navigation',
    'openapi',
    'snippets',
    'images',
  ],
  ...['tables', 'math', 'previews', 'branches', 'agents', 'assistants', 'embeds', 'feedback', 'localization'],
  ...[
    'migrations',
    'sso',
    'scim',
    'audit-log',
    'sdk-node',
    'sdk-python',
    'sdk-go',
    'cli',
    'tokens',
    'queues',
  ],
];

/** `/introduction` and every topic in every section: 330 pages and more. */
export const SITE_PATHS = [
  '/introduction',
  ...SECTIONS.flatMap((part) => TOPICS.map((topic) => `/${part}/${topic}`)),
];

/** A site of some hundred pages: few are read a lot, many hardly; some are read by AI mostly. */
export function namedSite(seed: string): Site {
  const indexes = new Map(SITE_PATHS.map((path, index) => [path, index]));
  const habits = SITE_PATHS.map((path) => habitsFrom(seed, path));
  const pastDays = new Map<string, { human: number; ai: number }>();
  const pathAt = (index: number) => SITE_PATHS[index] ?? '';

  function seededDay(index: number, day: number, past: number): { human: number; ai: number } {
    const { human, ai } = habits[index] ?? { human: 0, ai: 0 };
    const path = pathAt(index);
    const mood = 0.7 + 0.6 * chance(seed, path, String(weekOf(day)));
    const luck = chance(seed, path, `d${day}`);
    const noise = 0.8 + 0.4 * luck;
    return {
      human: Math.floor(human * mood * noise * (isWeekend(day) ? 0.4 : 1) * past + luck),
      ai: Math.floor(ai * (2 - mood) * noise * past + 1 - luck),
    };
  }

  return {
    size: SITE_PATHS.length,
    pathAt,
    indexOf: (path) => indexes.get(path),
    placeOf: (index) => chance(seed, 'order', pathAt(index)),
    onDay(index, day, past) {
      if (past === 0) return { human: 0, ai: 0 };
      const key = `${day} ${index}`;
      const counts = pastDays.get(key) ?? seededDay(index, day, past);
      if (past === 1) pastDays.set(key, counts);
      return counts;
    },
  };
}

/** Usual views of a page on a weekday. */
interface Habits {
  human: number;
  ai: number;
}

function habitsFrom(seed: string, path: string): Habits {
  const rank = chance(seed, path, 'rank');
  const human = path === '/introduction' ? 220 : 60 * rank ** 6 + 3 * rank;
  const taste = chance(seed, path, 'taste');
  return { human: taste > 0.95 ? human / 8 : human, ai: human * (taste > 0.95 ? 1.8 : 0.1 + 0.5 * taste) };
}

/** A site of any size that keeps nothing in memory. Every page is read every day, by people and by AI. */
export function generatedSite(seed: string, size: number): Site {
  const salt = Math.floor(chance(seed, 'pages') * 2 ** 32);
  const pathAt = (index: number) =>
    `/${SECTIONS[index % SECTIONS.length]}/${TOPICS[index % TOPICS.length]}-${index}`;
  return {
    size,
    pathAt,
    indexOf(path) {
      const index = Number(/-(\d{1,9})$/u.exec(path)?.[1] ?? -1);
      return index >= 0 && index < size && pathAt(index) === path ? index : undefined;
    },
    placeOf: (index) => mixed(salt, index, -1),
    onDay(index, day, past) {
      const usual = 40 * mixed(salt, index, 0) ** 8;
      const mood = 0.6 + 0.8 * mixed(salt, index, weekOf(day));
      const noise = 0.8 + 0.4 * mixed(salt, index, day);
      const human = usual * mood * noise * (isWeekend(day) ? 0.4 : 1);
      return { human: 1 + Math.floor(human * past), ai: 1 + Math.floor(usual * (2 - mood) * noise * past) };
    },
  };
}

/** ISO weeks, numbered. */
function weekOf(day: number): number {
  return Math.floor((day + 3) / 7);
}

function isWeekend(day: number): boolean {
  return (day + 4) % 7 === 0 || (day + 4) % 7 === 6;
}

/** A number from 0 to 1 that only depends on the numbers; quicker than `chance` by far. */
function mixed(a: number, b: number, c: number): number {
  let hash = Math.imul(a ^ Math.imul(b + 1, 0x9e37_79b1), 0x85eb_ca6b) ^ Math.imul(c + 7, 0xc2b2_ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb_352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846c_a68b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
