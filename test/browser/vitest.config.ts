import { defineConfig } from 'vitest/config';

/** Apart from the other tests: it needs a browser, and the demo to itself. */
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    globalSetup: 'test/support/leftovers.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000, interval: 100 } },
  },
});
