import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { SITE_PATHS } from './sites.ts';

export interface BundleFile {
  /** At most 100 characters of ASCII. */
  name: string;
  content: string;
}

/** A gzipped tar of the files, the same bytes for the same files and moment. */
export function gzippedTar(files: readonly BundleFile[], atMs: number): Uint8Array<ArrayBuffer> {
  const end = Buffer.alloc(1024);
  const parts = files.flatMap(({ name, content }) => {
    const data = Buffer.from(content);
    return [tarHeader(name, data.length, atMs), data, Buffer.alloc(-data.length & 511)];
  });
  return Uint8Array.from(gzipSync(Buffer.concat([...parts, end])));
}

/** A POSIX ustar header: fixed fields in octal, and a checksum counted with its own field as spaces. */
function tarHeader(name: string, size: number, atMs: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for the stand-in's tar: ${name}`);
  const header = Buffer.alloc(512);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  header.write(name, 0);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(Math.floor(atMs / 1000), 11), 136);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

/**
 * A static docs site: a home page that says what changed, one page per path, which has no slash before it, and a style
 * sheet. `version` is a label, or the branch of a preview; `root` leads from the home page to the others.
 */
export function siteFiles(
  domain: string,
  paths: readonly string[],
  version?: string,
  root = './',
): BundleFile[] {
  const page = (title: string, body: string, root: string) =>
    pageOf({ domain, version, paths }, { title, body, root });
  return [
    { name: 'index.html', content: page(domain, homeOf(version, paths), root) },
    { name: 'assets/style.css', content: STYLE },
    ...paths.map((path) => ({
      name: `${path}/index.html`,
      content: page(
        `${titleOf(path)} · ${domain}`,
        `<h1>${escaped(titleOf(path))}</h1>\n<p>This is ${escaped(path)}.</p>`,
        '../'.repeat(path.split('/').length),
      ),
    })),
  ];
}

/** Paths of an exported site of so many pages: those of the site that has readers, then numbered ones. */
export function sitePaths(pages: number): string[] {
  return Array.from({ length: pages }, (_, index) => SITE_PATHS[index]?.slice(1) ?? `guides/page-${index}`);
}

const titleOf = (path: string): string => {
  const words = (path.split('/').at(-1) ?? path).replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

function homeOf(version: string | undefined, paths: readonly string[]): string {
  const [first = '', second = first, third = second] = paths.slice(1);
  const changes = [
    `${titleOf(first)}: a new example, and how to handle errors`,
    `${titleOf(second)}: how often a call is repeated`,
    `${titleOf(third)}: a table of all codes`,
  ];
  return `<h1>${version === undefined ? 'Documentation' : escaped(nameOf(version))}</h1>
<p>Everything you need to build with Acme.</p>
<h2>What changed</h2>
<ul>
${changes.map((change) => `<li>${escaped(change)}</li>`).join('\n')}
</ul>`;
}

/** A branch is no version. */
const nameOf = (version: string): string =>
  version.includes('/') ? `Preview of ${version}` : `Version ${version}`;

const STYLE = readFileSync(new URL('./docs-site.css', import.meta.url), 'utf8');
/** So many pages stand in the navigation. */
const LISTED = 10;

function pageOf(
  { domain, version, paths }: { domain: string; version: string | undefined; paths: readonly string[] },
  { title, body, root }: { title: string; body: string; root: string },
): string {
  const links = paths
    .slice(0, LISTED)
    .map((path) => `<a href="${root}${escaped(path)}/index.html">${escaped(titleOf(path))}</a>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${root}assets/style.css">
<header><b>${escaped(domain)}</b>${version === undefined ? '' : `<span>${escaped(version)}</span>`}</header>
<nav>
${links.join('\n')}
</nav>
<main>
${body}
</main>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** The path and query of a link that works until `expiresAtMs`. */
export function presignedPath(secret: string, jobId: string, expiresAtMs: number): string {
  return `/bundles/${jobId}.tar.gz?X-Expires=${expiresAtMs}&X-Signature=${signature(secret, jobId, String(expiresAtMs))}`;
}

/** Whether a link was signed by us and has not ended. */
export function linkWorks(
  secret: string,
  link: { jobId: string; expires: string; signature: string },
  nowMs: number,
): boolean {
  const wanted = Buffer.from(signature(secret, link.jobId, link.expires));
  const given = Buffer.from(link.signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given) && nowMs < Number(link.expires);
}

function signature(secret: string, jobId: string, expires: string): string {
  return createHmac('sha256', secret).update(`${jobId}\n${expires}`).digest('hex');
}
