// npm run image-base [-- --pin]: prints the digest of the image that the Dockerfile builds on, as its registry names it
// now; with --pin writes it there. Where no registry answers, it says so, ends with 3 and changes nothing.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TIME_LIMIT_MS = 15_000;
const HUB = 'https://registry-1.docker.io';

/** What a tag of several platforms leads to, and of one. */
const KINDS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const BASE = /^(ARG BASE=)(\S+)$/m;

/** Returns the base that a Dockerfile names, without its digest: `node:26-bookworm-slim`. */
export function baseOf(dockerfile) {
  const [, , base] = BASE.exec(dockerfile) ?? [];
  if (base === undefined) throw new Error('The Dockerfile has no line "ARG BASE=…".');
  return base.split('@')[0];
}

/** Returns the Dockerfile with the digest of its base. */
export const pinned = (dockerfile, digest) => dockerfile.replace(BASE, `$1${baseOf(dockerfile)}@${digest}`);

/**
 * Asks the registry for the digest of an image such as `node:26-bookworm-slim`. Returns `{ digest }`, or `{ problem }`
 * where it does not answer. A digest is what the content that was received adds up to, never a word of the registry alone.
 */
export async function resolveDigest(image, registry = HUB) {
  const [name, tag = 'latest'] = image.split(':');
  const repository = name.includes('/') ? name : `library/${name}`;
  const address = `${registry}/v2/${repository}/manifests/${tag}`;
  try {
    let answer = await get(address, { accept: KINDS });
    if (answer.status === 401) {
      const token = await askForToken(answer.headers.get('www-authenticate') ?? '');
      answer = await get(address, { accept: KINDS, authorization: `Bearer ${token}` });
    }
    if (!answer.ok) return { problem: `${registry} answers ${answer.status}` };
    const digest = `sha256:${createHash('sha256')
      .update(await answer.bytes())
      .digest('hex')}`;
    const named = answer.headers.get('docker-content-digest');
    if (named !== null && named !== digest)
      return { problem: `${registry} names the digest ${named}, and what it sent has ${digest}` };
    return { digest };
  } catch (error) {
    return { problem: `${registry} does not answer (${error.cause?.code ?? error.message})` };
  }
}

const get = (address, headers) => fetch(address, { headers, signal: AbortSignal.timeout(TIME_LIMIT_MS) });

/** Registries give everybody a token to read what is public. */
async function askForToken(challenge) {
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  const answer = await get(`${realm}?${new URLSearchParams(query)}`, {});
  const { token, access_token: other } = await answer.json();
  return token ?? other;
}

async function main() {
  const file = fileURLToPath(new URL('../Dockerfile', import.meta.url));
  const dockerfile = readFileSync(file, 'utf8');
  const base = baseOf(dockerfile);
  const { digest, problem } = await resolveDigest(base);
  if (digest === undefined) {
    process.stderr.write(`The digest of ${base} is not known here: ${problem}. Nothing is pinned.\n`);
    process.exitCode = 3;
    return;
  }
  process.stdout.write(`${base}@${digest}\n`);
  if (process.argv.includes('--pin')) writeFileSync(file, pinned(dockerfile, digest));
}

if (import.meta.filename === process.argv[1]) await main();
