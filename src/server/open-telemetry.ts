import type { QueueTelemetry } from '../jobs/engine/queue.ts';
import { noTracing, type Tracing } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

export interface OpenTelemetry {
  tracing: Tracing;
  /** Lets BullMQ carry the trace from the process that adds a job to the one that runs it. */
  telemetry?: QueueTelemetry;
  close(): Promise<void>;
}

/** Maximum delay of the process' end by the last spans. */
const FLUSH_MS = 500;

const off: OpenTelemetry = { tracing: noTracing, close: async () => {} };

/** Not among Docket's packages: operators who want traces add them. */
async function loadPackages() {
  const [{ BullMQOtel }, api, { OTLPTraceExporter }, { resourceFromAttributes }, sdk] = await Promise.all([
    import('bullmq-otel'),
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-node'),
  ]);
  return { BullMQOtel, api, OTLPTraceExporter, resourceFromAttributes, ...sdk };
}

/** Sends traces to the collector at this address, if any. OpenTelemetry's registry is global: once per process. */
export async function startOpenTelemetry(
  endpoint: string | undefined,
  { role, version, log }: { role: string; version: string; log: Log },
  load = loadPackages,
): Promise<OpenTelemetry> {
  if (endpoint === undefined) return off;
  const packages = await load().catch((error: unknown) => {
    log.warn(
      { err: error },
      'no traces: the packages of OpenTelemetry are not installed. docs/metrics.md says which, or unset OTEL_EXPORTER_OTLP_ENDPOINT.',
    );
  });
  if (packages === undefined) return off;
  const { BullMQOtel, api, OTLPTraceExporter, NodeTracerProvider, BatchSpanProcessor } = packages;
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: packages.resourceFromAttributes({
      'service.name': 'docket',
      'service.version': version,
      'docket.role': role,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register();
  const tracer = api.trace.getTracer('docket', version);
  const fail = { code: api.SpanStatusCode.ERROR };
  return {
    telemetry: new BullMQOtel({ tracerName: 'docket', version }),
    tracing: {
      span: (name, work) =>
        tracer.startActiveSpan(name, async (span) => {
          try {
            return await work();
          } catch (error) {
            span.setStatus(fail);
            throw error;
          } finally {
            span.end();
          }
        }),
      called(name, durationMs, outcome) {
        const endTime = Date.now();
        const startTime = endTime - durationMs;
        const kind = api.SpanKind.CLIENT;
        const span = tracer.startSpan(name, { kind, startTime, attributes: { 'docket.outcome': outcome } });
        if (outcome !== 'ok') span.setStatus(fail);
        span.end(endTime);
      },
    },
    close: () => withTimeout(FLUSH_MS, provider.shutdown()).catch(() => {}),
  };
}
