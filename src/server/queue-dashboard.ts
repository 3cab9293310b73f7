import { createQueues } from '../jobs/engine/queue.ts';
import type { RoleParts } from '../role.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { connectForRequests } from '../store/redis/connections.ts';
import { createBoundedServer, hasBody, isFromThisMachine, listen, refuse } from './http-server.ts';

const MISSING =
  'QUEUE_DASHBOARD_PORT needs a package that does not come with Docket. Run npm install --no-save @bull-board/express@9.10.1, or unset it.';

/** Most installations do not need them, and they are a seventh of all packages. */
async function loadBoard() {
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/express'),
  ]);
  return { createBullBoard, BullMQAdapter, ExpressAdapter };
}

/** Serves a read-only dashboard of the queues to this machine. Returns its port. Throws `OperatorError`. */
export async function startQueueDashboard(
  port: number,
  parts: Pick<RoleParts, 'address' | 'timing' | 'closers' | 'onRedisError'>,
  load = loadBoard,
): Promise<number> {
  const { address, timing, closers, onRedisError } = parts;
  const { createBullBoard, BullMQAdapter, ExpressAdapter } = await load().catch((error: unknown) => {
    throw new OperatorError(MISSING, { cause: error });
  });
  const redis = connectForRequests(address, timing, onRedisError);
  closers.add(() => redis.disconnect());
  const queues = createQueues(redis, onRedisError);
  closers.add(() => queues.close());

  const serverAdapter = new ExpressAdapter();
  createBullBoard({
    queues: queues.all().map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Docket', hideRedisDetails: true } },
  });
  const board = serverAdapter.getRouter();
  const server = createBoundedServer({}, (request, response) => {
    response.setHeader('x-frame-options', 'DENY');
    if (!isFromThisMachine(request)) return refuse(response, 403);
    // Even if the dashboard offers a change, it is refused.
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405);
    if (hasBody(request)) return refuse(response, 400);
    board(request, response);
  });
  const bound = await listen(server, 'QUEUE_DASHBOARD_PORT', port, '127.0.0.1');
  closers.add(() => {
    server.close();
    server.closeAllConnections();
  });
  return bound;
}
