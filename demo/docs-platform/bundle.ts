import { createHmac, timingSafeEqual } from 'node:crypto';
import { gzipSync } from 'node:zlib';

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

/** A small static site: one page per path, which has no slash before it, an index and a style sheet. */
export function siteFiles(domain: string, paths: readonly string[]): BundleFile[] {
  const links = paths
    .map((path) => `<li><a href="./${path}/index.html">${escaped(path)}</a></li>`)
    .join('\n');
  return [
    { name: 'index.html', content: page(domain, `<ul>\n${links}\n</ul>`, './') },
    {
      name: 'assets/style.css',
      content: 'body { font: 16px/1.5 system-ui; max-width: 40rem; margin: 2rem auto; }\n',
    },
    ...paths.map((path) => ({
      name: `${path}/index.html`,
      content: page(
        `${path} · ${domain}`,
        `<p>This is ${escaped(path)}.</p>`,
        '../'.repeat(path.split('/').length),
      ),
    })),
  ];
}

/** Paths of an exported site of so many pages. */
export function sitePaths(pages: number): string[] {
  return Array.from({ length: pages }, (_, index) => (index === 0 ? 'introduction' : `guides/page-${index}`));
}

function page(title: string, body: string, root: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${root}assets/style.css">
<h1>${escaped(title)}</h1>
${body}
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
