import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/leftovers.ts',
    // No test leaves anything behind in its process, so that files share what they import.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 30_000,
    // As long as `until` of the flow tests waits: a busy machine is no failure.
    expect: { poll: { timeout: 20_000 } },
    maxConcurrency: 4,
    // Most of the time is waiting for other processes, so two files at once are fine on two cores.
    maxWorkers: 2,
  },
});
