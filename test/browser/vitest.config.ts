import { defineConfig } from 'vitest/config';

/** Apart from the other tests: each file needs a browser, and a demo to itself. */
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    globalSetup: ['test/support/leftovers.ts', 'test/browser/fetch.ts'],
    // They wait for most of the time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000, interval: 100 } },
  },
});
