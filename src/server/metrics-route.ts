import type { BlockList } from 'node:net';
import type { Metrics } from '../metrics/metrics.ts';
import { isFromThisMachine, isIndirect, isListed } from './direct-request.ts';
import { type HttpServer, refuse } from './http-server.ts';

const REFUSAL =
  'Only this machine may read the metrics, and whoever METRICS_ADDRESS names; not through a proxy.\n';

/** Serves `GET /metrics` to this machine and to these addresses, but never through a proxy. */
export function serveMetrics(
  server: Pick<HttpServer, 'route'>,
  metrics: Pick<Metrics, 'expose' | 'contentType'>,
  allowed: BlockList,
): void {
  server.route('GET /metrics', async (request, response) => {
    const isNamed = !isIndirect(request) && isListed(allowed, request.socket.remoteAddress);
    if (!isNamed && !isFromThisMachine(request)) return refuse(response, 403, REFUSAL);
    const text = await metrics.expose();
    response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text);
  });
}
