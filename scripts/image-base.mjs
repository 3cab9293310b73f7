// npm run image-base [-- --pin]: prints the digests of the images that Docket builds on and runs beside, as their registry
// names them now; with --pin writes them into FILES. Where no registry answers, it says so, ends with 3 and changes nothing.
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

/** Where images of others are named. */
export const FILES = ['Dockerfile', 'compose.yml', 'deploy/kubernetes/examples/redis.yaml'];

/** An image with its tag, and the digest that is pinned. */
const IMAGE = /(^ARG BASE=|^ +(?:- )?image: )([\w./-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?$/gm;

/** Returns the images that a file names, as `{ image: 'node:26-bookworm-slim', digest: '@sha256:…' }`. */
export const imagesIn = (text) => [...text.matchAll(IMAGE)].map(([, , image, digest]) => ({ image, digest }));

/** Returns the text of a file with these digests, by image. */
export const pinned = (text, digests) =>
  text.replace(IMAGE, (_, before, image) => `${before}${image}@${digests.get(image)}`);

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
  const files = FILES.map((name) => fileURLToPath(new URL(`../${name}`, import.meta.url)));
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  const digests = new Map();
  for (const { image } of texts.flatMap(imagesIn)) {
    if (digests.has(image)) continue;
    const { digest, problem } = await resolveDigest(image);
    if (digest === undefined) {
      process.stderr.write(`The digest of ${image} is not known here: ${problem}. Nothing is pinned.\n`);
      process.exitCode = 3;
      return;
    }
    process.stdout.write(`${image}@${digest}\n`);
    digests.set(image, digest);
  }
  if (!process.argv.includes('--pin')) return;
  for (const [index, file] of files.entries()) writeFileSync(file, pinned(texts[index], digests));
}

if (import.meta.filename === process.argv[1]) await main();
