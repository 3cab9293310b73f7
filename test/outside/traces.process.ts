import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { noTracing } from '../../src/metrics/metrics.ts';
import { startOpenTelemetry } from '../../src/server/open-telemetry.ts';
import { until } from '../support/flows/reading.ts';
import { createWorld } from '../support/flows/world.ts';
import { keptLog } from '../support/runtime/log.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
}

/** Takes traces over HTTP, as a collector of OpenTelemetry does. */
async function collector() {
  const spans: Span[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { resourceSpans } = JSON.parse(text);
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { spans, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('one trace goes from the command to the last call, through two processes', async () => {
  const { spans, endpoint } = await collector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  const world = await createWorld({ processes: true });
  // What the sweeper wakes begins a trace of its own.
  const timing = { sweepMs: 60_000 };
  const web = await world.startBot({ timing, env: { ...env, DOCKET_ROLE: 'web' } });
  const worker = await world.startBot({ timing, env: { ...env, DOCKET_ROLE: 'worker', HEALTH_PORT: '0' } });
  await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  world.platform.finish('docs.acme.com');
  await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
  await world.slack.until(() => world.slack.messages.some(({ deleted }) => deleted));
  // What is left is sent when they end.
  await Promise.all([web.terminate(), worker.terminate()]);

  const command = spans.find(({ name }) => name === 'command /docs-export');
  const trace = spans.filter(({ traceId }) => traceId === command?.traceId);
  const names = trace.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['docs startExport', 'docs getExport', 'docs createBundle']));
  for (const method of ['chat.postMessage', 'chat.update', 'chat.delete']) {
    const calls = world.slack.wire.calls.filter(({ name }) => name === method).length;
    expect(calls).toBeGreaterThan(0);
    expect(names.filter((name) => name === `slack ${method}`)).toHaveLength(calls);
  }
  // Each hangs below another of the same trace, up to the command.
  const known = new Set(trace.map(({ spanId }) => spanId));
  const roots = trace.filter(({ parentSpanId }) => !parentSpanId || !known.has(parentSpanId));
  expect(roots.map(({ name }) => name)).toEqual(['command /docs-export']);
  await world.close();
});

test('without an address nothing is loaded; without the packages, the log says so and Docket goes on', async () => {
  const { log, text } = keptLog();
  const about = { role: 'all', version: '0.0.0', log };
  const never = () => Promise.reject(new Error('Cannot find package'));
  expect((await startOpenTelemetry(undefined, about, never)).tracing).toBe(noTracing);
  expect(text()).toBe('');
  expect((await startOpenTelemetry('http://127.0.0.1:4318', about, never)).tracing).toBe(noTracing);
  expect(text()).toContain('the packages of OpenTelemetry are not installed');
});
