/** What the body of a start asks for, or why it is refused: in a sentence, sometimes with a detail about a field. */
export type StartRequest =
  | { domain: string; version?: string; paths?: string[] }
  | { refused: string; detail?: { path: string[]; message: string } };

const PATHS_DETAIL = {
  path: ['paths'],
  message: 'paths must be page paths without a leading slash, the home page as index',
};

/** Longest page path: the names in the bundle's tar hold 100 characters. */
const MAX_PATH = 80;

/** Reads the body of a start as strictly as the contract allows. Without `additions`, only `domain` is known. */
export function startRequestFrom(
  body: unknown,
  domains: readonly string[],
  additions: boolean,
): StartRequest {
  const fields = fieldsOf(body, additions ? ['domain', 'version', 'paths'] : ['domain']);
  if ('refused' in fields) return fields;
  const { domain, version, paths } = fields.values;
  if (typeof domain !== 'string' || domain === '') return { refused: 'domain must be a string' };
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/u.test(domain)) {
    return { refused: 'domain must be a host name, without scheme, slash or path' };
  }
  if (version !== undefined && (typeof version !== 'string' || version === '')) {
    return { refused: 'version must be a string' };
  }
  if (paths !== undefined && !isPaths(paths))
    return { refused: 'Invalid request body', detail: PATHS_DETAIL };
  if (!domains.includes(domain)) return { refused: `Unknown domain: ${domain}` };
  return { domain, ...(version === undefined ? {} : { version }), ...(paths === undefined ? {} : { paths }) };
}

function isPaths(value: unknown): value is string[] {
  const isPath = (path: unknown) =>
    typeof path === 'string' &&
    /^[\w.-]+(?:\/[\w.-]+)*$/u.test(path) &&
    path.length <= MAX_PATH &&
    !path.includes('..');
  return Array.isArray(value) && value.length > 0 && value.every(isPath);
}

/** The instruction in the body of a send or a creation, or why it is refused. */
export function promptFrom(body: unknown): { prompt: string } | { refused: string } {
  const fields = fieldsOf(body, ['prompt']);
  if ('refused' in fields) return fields;
  const { prompt } = fields.values;
  if (typeof prompt !== 'string') return { refused: 'prompt must be a string' };
  return prompt.length < 1 ? { refused: 'prompt must have at least 1 character' } : { prompt };
}

/** The branch in the body of a preview, or why it is refused. */
export function branchFrom(body: unknown): { branch: string } | { refused: string } {
  const fields = fieldsOf(body, ['branch']);
  if ('refused' in fields) return fields;
  const { branch } = fields.values;
  return typeof branch === 'string' && branch !== '' ? { branch } : { refused: 'branch is required' };
}

function fieldsOf(
  body: unknown,
  known: readonly string[],
): { values: Record<string, unknown> } | { refused: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { refused: 'The body must be a JSON object sent as application/json' };
  }
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  return unknown === undefined ? { values: { ...body } } : { refused: `Unknown field: ${unknown}` };
}
