/** Makes the spans of a trace. Without OpenTelemetry it does nothing. */
export interface Tracing {
  /** Has a span last as long as `work`, and all that work does hang below it. */
  span<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Makes a span of a call that ended just now. */
  called(name: string, durationMs: number, outcome: string): void;
}

export const noTracing: Tracing = { span: (_, work) => work(), called() {} };
