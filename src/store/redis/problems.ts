import { TimeLimitError } from '../../runtime/within.ts';
import { PREFIX } from '../keys.ts';
import { isGroupAddress } from './address.ts';
import { isReadOnlyReplica } from './primary-connector.ts';
import { closeReplicas } from './replicas.ts';
import type { LackingRights } from './rights.ts';

export const redisProblemKinds = [
  'unreachable',
  'not-redis',
  'no-tls',
  'certificate',
  'password',
  'database',
  'too-old',
  'read-only',
  'sentinel-name',
  'sentinel-password',
  'not-sentinel',
  'not-cluster',
  'is-cluster',
  'is-sentinel',
  'rights',
  'no-replica',
  'eviction',
  'volatile',
  'snapshots',
  'info-forbidden',
  'eviction-unknown',
  'volatile-unknown',
  'full',
  'refuses-writes',
] as const;

/** A problem of Redis. `text` is for operators, names the fix, and holds no secret. */
export interface RedisProblem {
  kind: (typeof redisProblemKinds)[number];
  text: string;
  /** Whether Docket refuses to start with it, since it will not pass by itself. */
  fatal: boolean;
  /** The word in REDIS_ALLOW with which Docket accepts it. */
  allowance?: 'eviction' | 'volatile';
}

/** Facts from INFO and CONFIG; what Docket is not allowed to read is missing. */
export interface RedisFacts {
  /** Fields of INFO. */
  info: Record<string, string> | undefined;
  /** Settings, by CONFIG GET. */
  config: { policy: string; appendonly: string; save: string } | undefined;
  /** What Docket's user may not do. */
  lacking?: LackingRights;
}

const MIN_VERSION = [6, 2] as const;

/** Returns the problems of a Redis that answers at this address. */
export function problemsOf({ info, config, lacking }: RedisFacts, url = ''): RedisProblem[] {
  // Valkey's name for it.
  const mode = info?.redis_mode ?? info?.server_mode;
  if (mode === 'sentinel') return [isSentinel];
  if (mode === 'cluster' && !isGroupAddress(url)) return [isCluster];
  return [
    ...rightsProblems(lacking),
    ...(isGroupAddress(url) && info?.role === 'master' && closeReplicas(info).length === 0
      ? [noReplica]
      : []),
    ...(info === undefined ? [infoForbidden] : []),
    ...versionProblems(info?.redis_version),
    ...(info && isReadOnlyReplica(info) ? [readOnly] : []),
    // Where CONFIG is forbidden, the operator can hardly change the setting: it is reported, and Docket starts.
    ...evictionProblems(config?.policy ?? info?.maxmemory_policy, config !== undefined),
    ...diskProblems(config, info?.aof_enabled === '1'),
  ];
}

function versionProblems(version = ''): RedisProblem[] {
  const [major = 0, minor = 0] = version.split('.', 2).map(Number);
  if (!(major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) || version === '')
    return [];
  const text = `Redis ${sanitize(version)} is too old. Docket needs Redis ${MIN_VERSION.join('.')} or newer, or Valkey.`;
  return [{ kind: 'too-old', fatal: true, text }];
}

const isSentinel: RedisProblem = {
  kind: 'is-sentinel',
  fatal: true,
  text:
    'REDIS_URL points to a sentinel. Write redis+sentinel:// (with TLS rediss+sentinel://), all sentinels with ' +
    'commas between them, and the name of the primary at the end.',
};

const isCluster: RedisProblem = {
  kind: 'is-cluster',
  fatal: true,
  text:
    'REDIS_URL points to a node of a cluster. Write redis+cluster:// (with TLS rediss+cluster://) and several ' +
    'nodes with commas between them.',
};

/** The sentinels answer, and monitor no primary of that name. */
export const unknownName: RedisProblem = {
  kind: 'sentinel-name',
  fatal: true,
  text:
    'The sentinels in REDIS_URL monitor no primary with the name at its end. Use the name after "sentinel monitor" in ' +
    'sentinel.conf.',
};

/** What answers knows no primaries. */
export const notSentinel: RedisProblem = {
  kind: 'not-sentinel',
  fatal: true,
  text:
    'REDIS_URL does not point to a sentinel. Name the sentinels (port 26379 by default), or write redis:// ' +
    'if there are none.',
};

/** What answers is a Redis by itself. */
export const notCluster: RedisProblem = {
  kind: 'not-cluster',
  fatal: true,
  text: 'REDIS_URL does not point to a cluster. Write redis:// (with TLS rediss://) and one host.',
};

/** No node of the cluster has Docket's keys now. */
export const noSlots: RedisProblem = {
  kind: 'unreachable',
  fatal: false,
  text:
    "The cluster cannot say which node has Docket's keys. Check CLUSTER INFO; Docket then resumes by itself " +
    'when all slots are served.',
};

const noReplica: RedisProblem = {
  kind: 'no-replica',
  fatal: false,
  text:
    'No replica keeps up with the primary of Redis: if it is lost now, nothing takes over, or a replica without the ' +
    'latest work does. Check INFO replication.',
};

/** Returns the problem of a sentinel that was found while the primary was asked for. */
export function problemOfSentinel(problem: RedisProblem): RedisProblem {
  if (problem.kind === 'password')
    return {
      kind: 'sentinel-password',
      fatal: true,
      text:
        'The sentinels reject Docket, or require a password. They have their own users: set REDIS_SENTINEL_PASSWORD, and ' +
        'REDIS_SENTINEL_USER if it is not "default".',
    };
  if (problem.kind === 'unreachable')
    return {
      ...problem,
      text: problem.text.replace('Redis cannot be reached', 'No sentinel can be reached'),
    };
  return problem;
}

function rightsProblems({ commands, keys }: LackingRights = { commands: [], keys: false }): RedisProblem[] {
  if (commands.length === 0 && !keys) return [];
  const lacks = [
    ...(commands.length > 0 ? [`the commands ${commands.toSorted().join(', ')}`] : []),
    ...(keys ? [`the keys ~${PREFIX}:*`] : []),
  ];
  const rules = [...(keys ? [`~${PREFIX}:*`] : []), ...commands.toSorted().map((command) => `+${command}`)];
  return [
    {
      kind: 'rights',
      fatal: true,
      text:
        `Docket's user of Redis lacks rights: ${lacks.join(' and ')}. Run "ACL SETUSER <name> ` +
        `${rules.join(' ')}", and "ACL SAVE" or the same in the file of users; docs/scaling.md has the whole line.`,
    },
  ];
}

const infoForbidden: RedisProblem = {
  kind: 'info-forbidden',
  fatal: false,
  text:
    'Redis does not let Docket use INFO, so delayed work begins at whole seconds only. Allow it with ' +
    '"ACL SETUSER <name> +info", and restart Docket.',
};

const readOnly: RedisProblem = {
  kind: 'read-only',
  fatal: false,
  text:
    'Redis is a read-only replica: nothing can be saved, and every request is refused. Point REDIS_URL to the primary; ' +
    'Docket then resumes by itself.',
};

function evictionProblems(policy: string | undefined, fatal: boolean): RedisProblem[] {
  if (policy === 'noeviction') return [];
  const allowance = 'eviction';
  if (policy === undefined || policy === '') {
    const text =
      'Redis does not let Docket see whether it drops keys when it is full. Check that its maxmemory-policy is noeviction.';
    return [{ kind: 'eviction-unknown', fatal: false, allowance, text }];
  }
  const text =
    `Redis drops keys when it is full (maxmemory-policy ${sanitize(policy)}): accepted work would be lost or ` +
    'done twice. Run "redis-cli CONFIG SET maxmemory-policy noeviction", and set it in redis.conf too. With ' +
    'REDIS_ALLOW=eviction Docket starts anyway.';
  return [{ kind: 'eviction', fatal, allowance, text }];
}

const appendFix =
  'Run "redis-cli CONFIG SET appendonly yes", and set it in redis.conf too. With REDIS_ALLOW=volatile Docket starts ' +
  'anyway.';

function diskProblems(config: RedisFacts['config'], appends: boolean): RedisProblem[] {
  if (appends || config?.appendonly === 'yes') return [];
  const allowance = 'volatile';
  if (config === undefined) {
    const text =
      'Redis does not let Docket see whether it keeps its data on disk. Check that appendonly is yes there.';
    return [{ kind: 'volatile-unknown', fatal: false, allowance, text }];
  }
  if (config.save.trim() === '') {
    const text = `Redis keeps nothing on disk: when it restarts, accepted work is lost or done twice. ${appendFix}`;
    return [{ kind: 'volatile', fatal: true, allowance, text }];
  }
  const text =
    'Redis keeps snapshots only: when it crashes, work accepted since the last one is lost or done twice. ' +
    'Run "redis-cli CONFIG SET appendonly yes", and set it in redis.conf too.';
  return [{ kind: 'snapshots', fatal: false, allowance, text }];
}

/** Returns the problem behind an error of a write, where Redis takes none; what a check finds by itself is left out. */
export function problemOfWrite(error: unknown): RedisProblem | undefined {
  const { message } = fieldsOf(error);
  const code = /^[A-Z]{2,20}\b/.exec(message)?.[0];
  if (code === undefined || /^(?:READONLY|NOPERM|NOAUTH|LOADING|MOVED|ASK|CLUSTERDOWN|TRYAGAIN)$/.test(code))
    return undefined;
  if (code === 'OOM')
    return {
      kind: 'full',
      fatal: false,
      text:
        'Redis is full: nothing can be saved, and every request is refused. Raise its maxmemory, or free memory; Docket then resumes ' +
        'by itself.',
    };
  return {
    kind: 'refuses-writes',
    fatal: false,
    text:
      `Redis refuses writes (${code}): nothing can be saved, and every request is refused. Its log says why, often a full ` +
      'disk; Docket then resumes by itself.',
  };
}

/** Returns a word of the server's that is safe in a sentence of ours. */
const sanitize = (word: string) => word.replace(/[^\w.-]/g, '').slice(0, 40);

/** Returns the problem behind an error of a new connection. `tls`: whether the address asks for TLS. */
export function problemOfError(error: unknown, tls: boolean): RedisProblem {
  const { code, message, command } = fieldsOf(error);
  if (command === 'select')
    return {
      kind: 'database',
      fatal: true,
      text:
        'Redis does not have the database at the end of REDIS_URL. Use one that exists (0 to 15, unless ' +
        'its setting "databases" says otherwise; in a cluster 0 only).',
    };
  if (/^(WRONGPASS|NOAUTH|DENIED|ERR invalid password|ERR AUTH)/.test(message))
    return {
      kind: 'password',
      fatal: true,
      text:
        'Redis rejects the name or the password in REDIS_URL, or requires one. Copy them again; in them, / # ? @ are ' +
        'written %2F %23 %3F %40.',
    };
  if (certificateCode.test(code)) return certificateProblem(code);
  if (noTlsCode.test(code)) return tls ? noTls : notRedis;
  // ioredis sets no code when an answer is not in the protocol of Redis.
  if (message.startsWith('Unknown RESP type')) return notRedis;
  const late = error instanceof TimeLimitError;
  const closed = (code === '' && !late) || code === 'ECONNRESET' || code === 'EPIPE';
  const hint = closed && !tls ? ' If it expects TLS, write rediss://.' : '';
  const why = closed ? 'it closes the connection' : late ? 'it does not answer' : sanitize(code);
  return {
    kind: 'unreachable',
    fatal: false,
    text: `Redis cannot be reached (${why}). Check that it runs and that REDIS_URL leads to it; Docket then resumes by itself.${hint}`,
  };
}

function certificateProblem(code: string): RedisProblem {
  const [what, fix] =
    certificateFixes.find(([codes]) => codes.test(code))?.slice(1) ?? certificateFixes[0].slice(1);
  return { kind: 'certificate', fatal: true, text: `${what} (${sanitize(code)}). ${fix}` };
}

const certificateFixes = [
  [
    /UNABLE_TO|SELF_SIGNED/,
    'The certificate of Redis is not trusted',
    'Set REDIS_CA to the PEM file of the authority that signed it, and no other.',
  ],
  [
    /CERT_HAS_EXPIRED/,
    'The certificate of Redis has expired',
    'Give Redis a new one, and check the clock of this machine.',
  ],
  [/CERT_NOT_YET_VALID/, 'The certificate of Redis is not valid yet', 'Check the clock of this machine.'],
  [
    /ALTNAME_INVALID/,
    'The certificate of Redis names other hosts',
    'In REDIS_URL, use a host name of the certificate. The names that sentinels and a cluster announce must be in it, too: ' +
      'see docs/scaling.md.',
  ],
] as const;

const certificateCode = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;
const noTlsCode = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/;

/** A plain Redis answered where the address asks for TLS. */
export const noTls: RedisProblem = {
  kind: 'no-tls',
  fatal: true,
  text:
    'The Redis at REDIS_URL does not use TLS. Switch TLS on there, or write redis:// instead of rediss://, with ' +
    'REDIS_ALLOW=plaintext if it is on another machine.',
};

/** Returns the problem of the embedded Redis behind an error of a new connection: only one that ended is started again. */
export function embeddedProblem(error: unknown): RedisProblem {
  const hasEnded = /^(?:ECONNREFUSED|ENOENT)$/.test(fieldsOf(error).code);
  return {
    kind: 'unreachable',
    fatal: false,
    text: hasEnded
      ? "Docket's own Redis has ended. Docket restarts it; the log says why it ended."
      : "Docket's own Redis is running but does not answer. Check for a hanging disk or too little memory. If it stays so, end the process (redis.pid in DATA_DIR names it): Docket restarts it, and confirmed writes are on disk.",
  };
}

const notRedis: RedisProblem = {
  kind: 'not-redis',
  fatal: true,
  text: 'REDIS_URL does not point to Redis. Check its host and port.',
};

function fieldsOf(error: unknown): { code: string; message: string; command: string } {
  const { code, message, command } = (error ?? {}) as {
    code?: unknown;
    message?: unknown;
    command?: { name?: unknown };
  };
  return { code: String(code ?? ''), message: String(message ?? ''), command: String(command?.name ?? '') };
}
