import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** A rule that was broken: where, as the parts of a JSON pointer, and how. */
export interface Mistake {
  path: PropertyKey[];
  message: string;
}

/** Puts what the schemas found into Slack's words, as far as they are known. */
export function mistakesOf(issues: Issue[], checked: unknown): Mistake[] {
  return issues.map((issue) => mistakeOf(issue, checked));
}

function mistakeOf(issue: Issue, checked: unknown): Mistake {
  const { path } = issue;
  switch (issue.code) {
    case 'too_big':
      return { path, message: limit(issue.origin, 'max', Number(issue.maximum)) };
    case 'too_small':
      if (!issue.inclusive) return { path, message: `must be more than ${Number(issue.minimum)}` };
      return { path, message: limit(issue.origin, 'min', Number(issue.minimum)) };
    case 'unrecognized_keys':
      return { path, message: `invalid additional property: ${issue.keys.join(', ')}` };
    case 'invalid_union':
      if (issue.discriminator === undefined) return { path, message: 'failed to match all allowed schemas' };
      return { path, message: `unsupported type: ${String(at(checked, path))}` };
    case 'invalid_type':
      if (at(checked, path) !== undefined) return { path, message: `must be a ${issue.expected}` };
      return { path: path.slice(0, -1), message: `missing required field: ${String(path.at(-1))}` };
    default:
      return { path, message: issue.message };
  }
}

function limit(origin: string, end: 'max' | 'min', bound: number): string {
  if (origin === 'string') {
    return end === 'max'
      ? `must be less than ${bound + 1} characters`
      : `must be more than ${bound - 1} characters`;
  }
  if (origin === 'array') return `no ${end === 'max' ? 'more' : 'fewer'} than ${bound} items allowed`;
  return `must be at ${end === 'max' ? 'most' : 'least'} ${bound}`;
}

function at(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inside, key) =>
      inside !== null && typeof inside === 'object'
        ? (inside as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}
