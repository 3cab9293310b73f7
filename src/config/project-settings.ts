import { readDomain } from '../domain.ts';
import { isVariableName, secretFlaw } from './values.ts';
import type { YamlPath, YamlProblem } from './yaml-file.ts';

/** Environment variables by name. */
export type Env = Record<string, string | undefined>;

/** A problem and its place in the file. */
export type Problem = Pick<YamlProblem, 'path' | 'text'>;

/** Returns the problems of the names, domains, channels and keys of projects, whatever else is wrong in the file. */
export function projectProblems(file: unknown, env: Env): Problem[] {
  const projects = Object.entries(record(record(file).projects));
  const names = new Map<string, string>();
  const channels = new Map<string, string>();
  return projects.flatMap(([name, project]): Problem[] => {
    const path = ['projects', name];
    const given = record(project);
    return [
      ...nameProblems(name, path, names),
      ...domainProblems(strings(given.domains), path),
      ...strings(given.channels).flatMap(([index, id]): Problem[] => {
        const owner = channels.get(id);
        channels.set(id, name);
        if (owner === undefined) return [];
        const text =
          owner === name
            ? 'is in this list already. Remove one of the two.'
            : `is the channel of the project ${owner} already. A channel has one default project: keep one.`;
        return [{ path: [...path, 'channels', index], text }];
      }),
      ...keyProblems(given, path, env),
    ];
  });
}

/** A name that can be typed after --project. */
export const projectNamePattern = /^[a-z0-9_-]{1,40}$/i;

function nameProblems(name: string, path: YamlPath, names: Map<string, string>): Problem[] {
  if (!projectNamePattern.test(name)) {
    const text =
      'is no name that can be typed after --project. Use 1 to 40 letters from a to z, digits, - or _.';
    return [{ path, text }];
  }
  const same = names.get(name.toLowerCase());
  names.set(name.toLowerCase(), name);
  if (same === undefined) return [];
  return [{ path, text: `differs from ${same} only in capitals, which --project ignores. Choose another.` }];
}

function domainProblems(typed: [number, string][], path: YamlPath): Problem[] {
  const seen = new Set<string>();
  return typed.flatMap(([index, text]): Problem[] => {
    const read = readDomain(text);
    if (read.kind === 'unclear') return [];
    if (seen.has(read.domain))
      return [{ path: [...path, 'domains', index], text: 'is in this list already. Remove one of the two.' }];
    seen.add(read.domain);
    return [];
  });
}

function keyProblems(project: Record<string, unknown>, path: YamlPath, env: Env): Problem[] {
  if (!('apiKey' in project)) {
    const text =
      'has no apiKey, and DOCS_API_KEY is not set either. Write apiKey: { env: NAME } here, or set DOCS_API_KEY.';
    return env.DOCS_API_KEY === undefined ? [{ path, text }] : [];
  }
  const name = envNameIn(project.apiKey);
  if (name === undefined || !isVariableName(name)) return [];
  const key = env[name];
  const prefix = env.DOCS_API_KEY_PREFIX;
  const problem = (text: string) => [{ path: [...path, 'apiKey', 'env'], text }];
  if (key === undefined)
    return problem('names an environment variable that is not set. Set it to an admin API key.');
  const flaw = secretFlaw(key);
  if (flaw !== undefined) return problem(`names a key that ${flaw}`);
  if (prefix !== undefined && !key.startsWith(prefix))
    return problem(
      'names a key that does not begin with DOCS_API_KEY_PREFIX. Take an admin key of the right platform.',
    );
  return [];
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function strings(value: unknown): [number, string][] {
  if (!Array.isArray(value)) return [];
  return [...value.entries()].filter((entry): entry is [number, string] => typeof entry[1] === 'string');
}

/** Returns the name of the environment variable in `{ env: NAME }`; `undefined` for anything else. */
export function envNameIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'env') return undefined;
  return 'env' in value && typeof value.env === 'string' ? value.env : undefined;
}
