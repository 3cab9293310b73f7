/**
 * The address of Redis: a URL (`redis://…`, `rediss://…`, with `+sentinel` or `+cluster` several hosts), with the
 * certificate of a private authority as PEM, or the path of a unix socket.
 */
export type RedisAddress =
  | {
      url: string;
      ca?: string | undefined;
      sentinelUser?: string | undefined;
      sentinelPassword?: string | undefined;
    }
  | { socketPath: string };

interface RedisNode {
  host: string;
  port: number;
}

/** The parts of a URL. */
export interface RedisUrl {
  kind: 'server' | 'sentinel' | 'cluster';
  tls: boolean;
  /** Exactly one for a server. */
  nodes: RedisNode[];
  username: string | undefined;
  password: string | undefined;
  /** The text after the hosts and a slash: a database, the name of a primary, or a Docket's name in a cluster. */
  path: string;
}

/** A query, such as `?family=6`, is ignored. */
const URL_FORM =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^@/?#]*)(?:\/([^?#@]*))?(?:\?[^#@]*)?$/;
const DEFAULT_PORTS = { server: 6379, sentinel: 26379, cluster: 6379 };

/** Returns the parts of a URL; undefined if it is invalid. The path is not checked. */
export function readRedisUrl(url: string): RedisUrl | undefined {
  const [, scheme, group, credentials = '', hosts, path = ''] = URL_FORM.exec(url) ?? [];
  if (hosts === undefined) return undefined;
  const kind = group === 'sentinel' || group === 'cluster' ? group : 'server';
  const names = kind === 'server' ? [hosts.replace(/^(?=:|$)/, 'localhost')] : hosts.split(',');
  const nodes = names.map((name) => readNode(name.trim(), DEFAULT_PORTS[kind]));
  if (!nodes.every((node) => node !== undefined)) return undefined;
  const [username = '', ...password] = credentials.split(':');
  return {
    ...{ kind, tls: scheme === 'rediss', nodes, path },
    username: decodeCredential(username) || undefined,
    password: decodeCredential(password.join(':')) || undefined,
  };
}

/** Reads `host`, `host:port` or `[address]:port`. */
function readNode(text: string, defaultPort: number): RedisNode | undefined {
  const [, v6, host = v6, port = String(defaultPort)] =
    /^(?:\[([0-9a-fA-F:.]{2,45})\]|([\w.-]{1,253}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

/** Returns the name that separates a Docket's keys from others in its cluster, which has only one database. */
export function tagNameOf(address: RedisAddress): string | undefined {
  const { kind, path } = ('url' in address && readRedisUrl(address.url)) || {};
  return kind === 'cluster' && path !== '' ? path : undefined;
}

/** Returns the options of all connections: Docket's credentials, and TLS. */
export function credentialsOf({ username, password, tls }: RedisUrl, address: RedisAddress) {
  const ca = 'url' in address ? address.ca : undefined;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: ca === undefined ? {} : { ca } }),
  };
}

/** Returns a name or password of an address decoded, or unchanged if a `%` in it encodes nothing. */
export function decodeCredential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
