// The package's index loads half as much again: other Redis clients, sandboxes and flows.
declare module 'bullmq/dist/cjs/classes/queue.js' {
  export { Queue } from 'bullmq';
}
declare module 'bullmq/dist/cjs/classes/worker.js' {
  export { Worker } from 'bullmq';
}
declare module 'bullmq/dist/cjs/classes/errors/delayed-error.js' {
  export { DelayedError } from 'bullmq';
}
declare module 'bullmq/dist/cjs/enums/error-code.js' {
  export { ErrorCode } from 'bullmq';
}
