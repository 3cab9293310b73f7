// Docket imports single files of these packages. Their indexes load much more: other backends, receivers and clusters.
declare module '@slack/bolt/dist/App.js' {
  import { App } from '@slack/bolt';

  const exported: { default: typeof App };
  export default exported;
}
declare module '@slack/bolt/dist/*' {
  export { AuthorizationError, isValidSlackRequest } from '@slack/bolt';
}
declare module 'bullmq/dist/cjs/classes/*' {
  export { DelayedError, Queue, Worker } from 'bullmq';
}
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client';
}
declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client';
}
declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client';
}
declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client';
}
