import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Wire } from '../wire.ts';
import type { Files } from './files.ts';

/** The addresses that bytes of files are sent to; each takes them once. */
export function createUploads(files: Files, wire: Wire) {
  return new Hono<{ Bindings: Partial<HttpBindings> }>().post('/upload/v1/:secret', async (c) => {
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    return wire.serve(c, 'files.upload', { bytes: bytes.byteLength }, () =>
      files.receive(c.req.param('secret'), bytes)
        ? new Response(`OK - ${bytes.byteLength}`)
        : new Response('Unknown address, or another length', { status: 400 }),
    );
  });
}
