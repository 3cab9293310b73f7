/** Makes the spans of a trace. Without OpenTelemetry it does nothing. */
export interface Tracing {
  /** Runs `work` in a span; spans of that work become its children. */
  span<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Adds the span of a call that has just ended. */
  called(name: string, durationMs: number, outcome: string): void;
}

export const noTracing: Tracing = { span: (_, work) => work(), called() {} };
