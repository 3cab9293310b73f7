import { readKeyFile } from '../docs-api/key-file.ts';
import type { Project } from '../projects.ts';
import { date, isVariableName, secretFlaw } from './values.ts';
import type { YamlPath } from './yaml-file.ts';

/** Environment variables by name. */
export type Env = Record<string, string | undefined>;

/** A problem and its place in the file. `text` states the problem, then the fix, and repeats no value. */
export interface Problem {
  path: YamlPath;
  text: string;
}

/** Returns the problems of projects' names, channels and keys, independent of other problems in the file. */
export function projectProblems(file: unknown, env: Env): Problem[] {
  const projects = Object.entries(record(record(file).projects));
  const names = new Map<string, string>();
  const channels = new Map<string, string>();
  return projects.flatMap(([name, project]): Problem[] => {
    const path = ['projects', name];
    const given = record(project);
    return [
      ...nameProblems(name, path, names),
      ...strings(given.channels).flatMap(([index, id]): Problem[] => {
        const owner = channels.get(id);
        channels.set(id, name);
        if (owner === undefined || owner === name) return [];
        const text = `is already a channel of the project ${owner}. A channel has one default project: keep one.`;
        return [{ path: [...path, 'channels', index], text }];
      }),
      ...keyProblems(given, path, env),
    ];
  });
}

/** A name that can be typed after --project. */
const projectNamePattern = /^[a-z0-9_-]{1,40}$/i;

function nameProblems(name: string, path: YamlPath, names: Map<string, string>): Problem[] {
  if (!projectNamePattern.test(name)) {
    const text = 'cannot be typed after --project. Use 1 to 40 letters from a to z, digits, - or _.';
    return [{ path, text }];
  }
  const same = names.get(name.toLowerCase());
  names.set(name.toLowerCase(), name);
  if (same === undefined) return [];
  return [{ path, text: `differs from ${same} only in capitals, which --project ignores. Choose another.` }];
}

function keyProblems(project: Record<string, unknown>, path: YamlPath, env: Env): Problem[] {
  if (!('apiKey' in project)) {
    const text =
      'has no apiKey, and DOCS_API_KEY is not set either. Write apiKey: { env: NAME } here, or set DOCS_API_KEY.';
    return (env.DOCS_API_KEY ?? env.DOCS_API_KEY_FILE) === undefined ? [{ path, text }] : [];
  }
  const source = keySourceIn(project.apiKey);
  if (source === undefined) return [];
  const { kind, name } = source;
  if (kind === 'env' && !isVariableName(name)) return [];
  const text = kind === 'env' ? variableProblem(name, env) : keyFileProblem(name, env);
  const dateText = date.optional().safeParse(source.expires).error?.issues[0]?.message;
  return [
    ...(text === undefined ? [] : [{ path: [...path, 'apiKey'], text }]),
    ...(dateText === undefined ? [] : [{ path: [...path, 'apiKey'], text: `expires ${dateText}` }]),
  ];
}

function variableProblem(name: string, env: Env): string | undefined {
  const key = env[name];
  return key === undefined
    ? 'names an environment variable that is not set. Set it to an admin API key.'
    : keyProblem(key, env);
}

/** Returns why a file gives no key, with the fix and without path and key; undefined if it does. */
export function keyFileProblem(path: string, env: Env): string | undefined {
  try {
    const key = readKeyFile(path);
    return key === '' ? 'names a file that is empty. Put an admin API key into it.' : keyProblem(key, env);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return `names a file that cannot be read (${code}). Mend its path, or give Docket's user the right to read it.`;
  }
}

function keyProblem(key: string, { DOCS_API_KEY_PREFIX: prefix = '' }: Env): string | undefined {
  const flaw = secretFlaw(key);
  if (flaw !== undefined) return `names a key that ${flaw}`;
  return key.startsWith(prefix)
    ? undefined
    : 'names a key that does not begin with DOCS_API_KEY_PREFIX. Use an admin key of the right platform.';
}

/** Returns the key of a source, else of the environment; empty if there is a problem with it. */
export function readKey(
  source: KeySource | undefined,
  env: Env,
): Pick<Project, 'apiKey' | 'apiKeyVariable' | 'apiKeyFile' | 'apiKeyExpires'> {
  const apiKeyExpires = source === undefined ? env.DOCS_API_KEY_EXPIRES : date.safeParse(source.expires).data;
  const file =
    source === undefined ? env.DOCS_API_KEY_FILE : source.kind === 'file' ? source.name : undefined;
  if (file !== undefined) {
    const apiKey = keyFileProblem(file, env) === undefined ? readKeyFile(file) : '';
    return { apiKey, apiKeyVariable: source?.name ?? 'DOCS_API_KEY_FILE', apiKeyFile: file, apiKeyExpires };
  }
  const variable = source?.name ?? 'DOCS_API_KEY';
  return { apiKey: env[variable] ?? '', apiKeyVariable: variable, apiKeyExpires };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function strings(value: unknown): [number, string][] {
  if (!Array.isArray(value)) return [];
  return [...value.entries()].filter((entry): entry is [number, string] => typeof entry[1] === 'string');
}

/** The source of a key: the name of an environment variable, or the path of a file. */
interface KeySource {
  kind: 'env' | 'file';
  name: string;
  /** The day on which the key expires, as it was written. */
  expires: unknown;
}

/** Returns the source in `{ env: NAME }` or `{ file: PATH }`, also with `expires: DATE`; undefined for others. */
export function keySourceIn(value: unknown): KeySource | undefined {
  const { expires, ...rest } = record(value);
  const [[kind, name] = [], ...others] = Object.entries(rest);
  const isSource = (kind === 'env' || kind === 'file') && typeof name === 'string' && name !== '';
  return isSource && others.length === 0 ? { kind, name, expires } : undefined;
}
