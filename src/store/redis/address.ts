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

export interface RedisNode {
  host: string;
  port: number;
}

/** The parts of an address with several hosts. */
export interface GroupAddress {
  kind: 'sentinel' | 'cluster';
  tls: boolean;
  nodes: RedisNode[];
  username: string | undefined;
  password: string | undefined;
  /** The text after the hosts and a slash. */
  path: string;
}

const GROUP = /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#@]*))?$/;
const DEFAULT_PORTS = { sentinel: 26379, cluster: 6379 };

/** Returns whether an address begins like one with several hosts; it may still be invalid. */
export const isGroupAddress = (url: string) => /^rediss?\+(?:sentinel|cluster):/.test(url);

/** Returns the parts of an address with several hosts; undefined if it is another kind or invalid. */
export function readGroupAddress(url: string): GroupAddress | undefined {
  const [, scheme, kind, credentials, hosts = '', path = ''] = GROUP.exec(url) ?? [];
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined;
  const nodes = hosts.split(',').map((host) => readNode(host.trim(), DEFAULT_PORTS[kind]));
  if (!nodes.every((node) => node !== undefined)) return undefined;
  const [username = '', password = ''] = splitOnce(credentials ?? '', ':').map(decodeCredential);
  return {
    ...{ kind, tls: scheme === 'rediss', nodes, path: decodeCredential(path) },
    username: username || undefined,
    password: password || undefined,
  };
}

/** Reads `host`, `host:port` or `[address]:port`. */
function readNode(text: string, defaultPort: number): RedisNode | undefined {
  const [, v6, host = v6, port = String(defaultPort)] =
    /^(?:\[([0-9a-fA-F:.]{2,45})\]|([\w.-]{1,253}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Parses a primary's name for sentinels, and its database: `name` or `name/1`. */
export function readSentinelPath(path: string): { name: string; db: number } | undefined {
  const [, name, db = '0'] = /^([\w.-]{1,100})(?:\/(\d{0,9}))?$/.exec(path) ?? [];
  return name === undefined ? undefined : { name, db: Number(db) };
}

/** Returns whether this can be a Docket's name in a shared cluster, or none. A number would be a database. */
export const isTagName = (path: string) => path === '' || /^[a-z][a-z0-9-]{0,39}$/.test(path);

/**
 * Returns the name that separates a Docket's keys from others in its cluster, which has only one database; undefined if
 * there is none.
 */
export function tagNameOf(address: RedisAddress): string | undefined {
  const group = 'url' in address ? readGroupAddress(address.url) : undefined;
  return group?.kind === 'cluster' && group.path !== '' ? group.path : undefined;
}

/** Returns the options of a connection to one Redis. Anything else in an address, such as `?host=`, is ignored. */
export function serverOf(address: RedisAddress) {
  return 'socketPath' in address ? { path: address.socketPath } : serverAt(address);
}

function serverAt(address: Extract<RedisAddress, { url: string }>) {
  const url = new URL(address.url);
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: Number(url.port || 6379),
    db: Number(url.pathname.slice(1)),
    ...(url.username !== '' && { username: decodeCredential(url.username) }),
    ...(url.password !== '' && { password: decodeCredential(url.password) }),
    ...(url.protocol === 'rediss:' && { tls: tlsOf(address) }),
  };
}

/** Returns the options shared by all connections to a group: Docket's credentials, and TLS. */
export function credentialsOf({ username, password, tls }: GroupAddress, address: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: tlsOf(address) }),
  };
}

/** Returns the same for the sentinels of a group, which have their own users. */
export function sentinelCredentialsOf({ tls }: GroupAddress, address: RedisAddress) {
  const { sentinelUser, sentinelPassword } = 'url' in address ? address : {};
  return {
    ...(sentinelUser !== undefined && { username: sentinelUser }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    ...(tls && { tls: tlsOf(address) }),
  };
}

const tlsOf = (address: RedisAddress) => ({
  ...('url' in address && address.ca !== undefined && { ca: address.ca }),
});

/** Returns a name or password of an address decoded, or unchanged if a `%` in it encodes nothing. */
export function decodeCredential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
